/** `/admin/companies/{companyId}/rules`: the rules of a company, made with a first token. */

import { Problem } from '../../contract/problem.js';
import {
  createdRuleResponse,
  newRuleRequest,
  ruleChange,
  ruleSchema,
  rulesResponse,
  type StoredRule,
} from '../../contract/rule.js';
import { mergePatch, redact, replaceKeepingSecrets } from '../../contract/secrets.js';
import type { Store } from '../../store/store.js';
import { numberCursor, pageOf, pageQuery } from '../body.js';
import { type Route, route } from '../route.js';
import { isMergePatch, mediaTypes, readSettings } from './merge.js';
import { noCompany, noRule } from './missing.js';

export function ruleRoutes({ companies, rules }: Store): Route[] {
  return [
    route(
      {
        method: 'post',
        path: '/admin/companies/:companyId/rules',
        id: 'createRule',
        access: 'admin',
        summary: 'Make a rule',
        description:
          'The answer is the only time that the token is shown.' +
          ' A `relayId` and `relayAccessToken` that existing webhooks use can be taken over.',
        rawBody: newRuleRequest,
        answers: {
          201: {
            description: 'The rule with its first token.',
            body: createdRuleResponse,
            headers: { Location: 'The path of what was made.' },
          },
        },
        problems: ['invalid-body', 'not-found', 'relay-id-taken'],
      },
      async (c, { actor }) => {
        const companyId = c.req.param('companyId');
        const rule = (await readSettings(c, newRuleRequest))();
        const made = await rules.create(companyId, rule, actor);
        if (made === 'unknown company') throw noCompany(companyId);
        if (made === 'relayId taken') {
          throw new Problem('relay-id-taken', `Company ${companyId} already has a rule with relayId ${rule.relayId}.`);
        }
        const { relayAccessToken, tokenId } = made;
        return c.json({ ...shown(made.rule), relayAccessToken, tokenId }, 201, {
          Location: `/admin/companies/${companyId}/rules/${made.rule.relayId}`,
          'Cache-Control': 'no-store',
        });
      },
    ),
    route(
      {
        method: 'get',
        path: '/admin/companies/:companyId/rules',
        id: 'listRules',
        access: 'admin',
        summary: 'List the rules of a company',
        query: pageQuery(numberCursor),
        answers: { 200: { description: 'The oldest first.', body: rulesResponse } },
        problems: ['not-found'],
      },
      async (c, { query }) => {
        const companyId = c.req.param('companyId');
        if (!(await companies.get(companyId))) throw noCompany(companyId);
        const { items, next } = await rules.list(companyId, pageOf(query));
        return c.json({ rules: items.map(shown), nextCursor: next });
      },
    ),
    route(
      {
        method: 'get',
        path: '/admin/companies/:companyId/rules/:relayId',
        id: 'getRule',
        access: 'admin',
        summary: 'Read a rule',
        answers: { 200: { description: 'The rule.', body: ruleSchema } },
        problems: ['not-found'],
      },
      async (c) => {
        const { companyId, relayId } = c.req.param();
        const rule = await rules.get(companyId, relayId);
        if (!rule) throw noRule(companyId, relayId);
        return c.json(shown(rule));
      },
    ),
    route(
      {
        method: 'patch',
        path: '/admin/companies/:companyId/rules/:relayId',
        id: 'changeRule',
        access: 'admin',
        summary: 'Change, enable or disable a rule',
        description:
          'What is left out stays as it is; `notify` is replaced as a section of a company is, or merged where the body is a' +
          ' merge patch. Requests of a disabled rule are refused, and its actions that are still to run become `skipped`.',
        rawBody: ruleChange,
        mediaTypes,
        answers: { 200: { description: 'The rule as it is now.', body: ruleSchema } },
        problems: ['invalid-body', 'not-found'],
      },
      async (c, { actor }) => {
        const { companyId, relayId } = c.req.param();
        const read = await readSettings(c, ruleChange, isMergePatch(c) ? mergePatch : replaceKeepingSecrets);
        const change = (stored: StoredRule) => ({ ...stored, notify: undefined, ...read(stored) });
        const rule = await rules.update(companyId, relayId, change, actor);
        if (!rule) throw noRule(companyId, relayId);
        return c.json(shown(rule));
      },
    ),
    route(
      {
        method: 'delete',
        path: '/admin/companies/:companyId/rules/:relayId',
        id: 'deleteRule',
        access: 'admin',
        summary: 'Delete a rule with its tokens',
        answers: { 204: { description: 'It is gone.' } },
        problems: ['not-found'],
      },
      async (c, { actor }) => {
        const { companyId, relayId } = c.req.param();
        if (!(await rules.delete(companyId, relayId, actor))) throw noRule(companyId, relayId);
        return c.body(null, 204);
      },
    ),
  ];
}

function shown(rule: StoredRule) {
  return ruleSchema.parse(redact(ruleSchema, rule));
}
