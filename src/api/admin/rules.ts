/** `/admin/companies/{companyId}/rules`: the rules of a company, made with a first token. */

import { Hono } from 'hono';
import { z } from 'zod';
import type { Issue } from '../../chain/request.js';
import { notifySchema } from '../../connectors/settings.js';
import { Problem } from '../../contract/problem.js';
import { isMistyped } from '../../store/credential.js';
import type { StoredRule } from '../../store/rules.js';
import type { Rule } from '../../store/store.js';
import type { AdminOptions } from '../admin.js';
import type { Authenticated } from '../authentication.js';
import { type JsonObject, label, numberCursor, parseAs, readObject, readPage } from '../body.js';
import { notFound } from '../problem.js';
import { noCompany, notifyRequest } from './companies.js';
import { keepNotify, redactNotify } from './secrets.js';

const onFailure = z
  .enum(['hold', 'continue'])
  .describe('Whether what stands behind an action that cannot be done waits until somebody decides, or runs.');
const onUnknown = z
  .enum(['resend', 'hold'])
  .describe('Whether an effect of which nobody knows whether it took place is done again under the same key, or held.');

/** A rule as POST takes it. An id and token that are in use elsewhere can be taken over, so that existing webhooks keep working. */
export const newRuleRequest = z.strictObject({
  name: label,
  notify: notifyRequest.nullish().describe("Who is told when something of this rule fails, beside the company's contacts."),
  onFailure: onFailure.default('hold'),
  onUnknown: onUnknown.default('resend'),
  relayId: z
    .string()
    .regex(/^\d{1,32}$/, 'must be 1 to 32 digits')
    .optional()
    .describe('To take over an id that webhooks use already. Absent: the relay makes one.'),
  relayAccessToken: z
    .string()
    .min(1, 'must not be empty')
    .max(512)
    .refine((token) => token === token.trim(), 'must not begin or end with white space')
    .refine((token) => !isMistyped(token), 'looks like a token of a relay, but has a typing error or is cut short')
    .optional()
    .describe('To take over a token that webhooks use already. Absent: the relay makes one.'),
});

/** What PATCH changes; what is left out stays as it is. `notify` as in a company's PUT. */
export const ruleChange = z.strictObject({
  name: label.optional(),
  notify: notifyRequest.nullish().describe("Who is told when something of this rule fails, beside the company's contacts."),
  onFailure: onFailure.optional(),
  onUnknown: onUnknown.optional(),
  enabled: z.boolean().optional(),
});

export const ruleResponse = z.object({
  relayId: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  onFailure,
  onUnknown,
  notify: notifySchema.optional(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export const rulesResponse = z.object({ rules: z.array(ruleResponse), nextCursor: z.string().optional() });
export const createdRuleResponse = ruleResponse.extend({
  relayAccessToken: z.string().describe('The only time that it is shown.'),
  tokenId: z.string(),
});

export function ruleRoutes({ store }: AdminOptions): Hono<Authenticated> {
  return new Hono<Authenticated>()
    .post('/admin/companies/:companyId/rules', async (c) => {
      const companyId = c.req.param('companyId');
      const { relayId, relayAccessToken, notify, ...rule } = readNewRule(await readObject(c));
      const taken = {
        ...(notify && { notify }),
        ...(relayId !== undefined && { relayId }),
        ...(relayAccessToken !== undefined && { relayAccessToken }),
      };
      const made = await store.rules.create(companyId, { ...rule, ...taken }, c.get('actor'));
      if (made === 'unknown company') throw noCompany(companyId);
      if (made === 'relayId taken') {
        throw new Problem('relay-id-taken', `Company ${companyId} already has a rule with relayId ${relayId}.`);
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
      return c.json(ruleResponse.parse(shown(rule)));
    })
    .patch('/admin/companies/:companyId/rules/:relayId', async (c) => {
      const { companyId, relayId } = c.req.param();
      const body = await readObject(c);
      const rule = await store.rules.update(companyId, relayId, (stored) => changed(stored, body), c.get('actor'));
      if (!rule) throw noRule(companyId, relayId);
      return c.json(ruleResponse.parse(shown(rule)));
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
    ...(notify && { notify }),
  };
}

function shown({ notify, ...rule }: StoredRule): z.input<typeof ruleResponse> {
  return {
    ...rule,
    ...(notify && { notify: redactNotify(notify) }),
    createdAt: rule.createdAt.toISOString(),
    updatedAt: rule.updatedAt.toISOString(),
  };
}
