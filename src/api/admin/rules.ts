/** `/admin/companies/{companyId}/rules`: the rules of a company, made with a first token. */

import { Hono } from 'hono';
import type { z } from 'zod';
import type { Issue } from '../../chain/request.js';
import { Problem } from '../../contract/problem.js';
import {
  createdRuleResponse,
  newRuleRequest,
  type Rule,
  ruleChange,
  ruleSchema,
  rulesResponse,
  type StoredRule,
} from '../../contract/rule.js';
import type { AdminOptions } from '../admin.js';
import type { Authenticated } from '../authentication.js';
import { type JsonObject, numberCursor, parseAs, readObject, readPage } from '../body.js';
import { notFound } from '../problem.js';
import { noCompany } from './companies.js';
import { keepNotify, redactNotify } from './secrets.js';

export function ruleRoutes({ store }: AdminOptions): Hono<Authenticated> {
  return new Hono<Authenticated>()
    .post('/admin/companies/:companyId/rules', async (c) => {
      const companyId = c.req.param('companyId');
      const rule = readNewRule(await readObject(c));
      const made = await store.rules.create(companyId, rule, c.get('actor'));
      if (made === 'unknown company') throw noCompany(companyId);
      if (made === 'relayId taken') {
        throw new Problem('relay-id-taken', `Company ${companyId} already has a rule with relayId ${rule.relayId}.`);
      }
      const answer = { ...shown(made.rule), relayAccessToken: made.relayAccessToken, tokenId: made.tokenId };
      return c.json(createdRuleResponse.parse(answer), 201, {
        Location: `/admin/companies/${companyId}/rules/${made.rule.relayId}`,
        'Cache-Control': 'no-store',
      });
    })
    .get('/admin/companies/:companyId/rules', async (c) => {
      const companyId = c.req.param('companyId');
      const request = readPage(c, numberCursor);
      if (!(await store.companies.get(companyId))) throw noCompany(companyId);
      const { items, next } = await store.rules.list(companyId, request);
      return c.json(rulesResponse.parse({ rules: items.map(shown), nextCursor: next }));
    })
    .get('/admin/companies/:companyId/rules/:relayId', async (c) => {
      const { companyId, relayId } = c.req.param();
      const rule = await store.rules.get(companyId, relayId);
      if (!rule) throw noRule(companyId, relayId);
      return c.json(ruleSchema.parse(shown(rule)));
    })
    .patch('/admin/companies/:companyId/rules/:relayId', async (c) => {
      const { companyId, relayId } = c.req.param();
      const body = await readObject(c);
      const rule = await store.rules.update(companyId, relayId, (stored) => changed(stored, body), c.get('actor'));
      if (!rule) throw noRule(companyId, relayId);
      return c.json(ruleSchema.parse(shown(rule)));
    })
    .delete('/admin/companies/:companyId/rules/:relayId', async (c) => {
      const { companyId, relayId } = c.req.param();
      if (!(await store.rules.delete(companyId, relayId, c.get('actor')))) throw noRule(companyId, relayId);
      return c.body(null, 204);
    });
}

export function noRule(companyId: string, relayId: string): Problem {
  return notFound(`rule ${relayId} of company ${companyId}`);
}

function readNewRule(body: JsonObject): z.infer<typeof newRuleRequest> {
  const problems: Issue[] = [];
  return parseAs(newRuleRequest, { ...body, notify: keepNotify(body.notify, undefined, '/notify', problems) }, problems);
}

function changed(stored: StoredRule, body: JsonObject): Omit<Rule, 'companyId' | 'relayId'> {
  const problems: Issue[] = [];
  const given = { ...body, notify: keepNotify(body.notify, stored.notify, '/notify', problems) };
  const { name, notify, onFailure, onUnknown, enabled } = parseAs(ruleChange, given, problems);
  return {
    name: name ?? stored.name,
    onFailure: onFailure ?? stored.onFailure,
    onUnknown: onUnknown ?? stored.onUnknown,
    enabled: enabled ?? stored.enabled,
    notify: notify ?? undefined,
  };
}

function shown({ notify, ...rule }: StoredRule): StoredRule {
  return {
    ...rule,
    ...(notify && { notify: redactNotify(notify) }),
  };
}
