/** `/admin/companies/{companyId}/rules`: the rules of a company and their tokens. The API shows each token only once. */

import { mostRules, rotatedTokenResponse, rotationRequest, tokensResponse } from '../contract/credential.js';
import { Problem } from '../contract/problem.js';
import { createdRuleResponse, newRuleRequest, ruleChange, ruleSchema, rulesResponse, type StoredRule } from '../contract/rule.js';
import { mergePatch, redact, replaceKeepingSecrets } from '../contract/secrets.js';
import type { Store } from '../store/store.js';
import { addressesSetBy } from './addresses.js';
import { readSettings } from './companies.js';
import { isMergePatch, numberCursor, pageQuery, readObject } from './input.js';
import { found, foundRule, limitReached, notFound } from './problems.js';
import { type Route, route } from './route.js';

export function ruleRoutes({ companies, rules, tokens }: Store): Route[] {
  return [
    route.author('POST /admin/companies/:companyId/rules', 'createRule', 'Create a rule', {
      description:
        'Only this answer shows the token. To keep a `relayId` and a `relayAccessToken` that webhooks already use, send both in this request.',
      rawBody: newRuleRequest,
      answers: { 201: ['The rule with its first token.', createdRuleResponse, { Location: 'The path of the new rule.' }] },
      problems: ['invalid-body', 'relay-id-taken', 'limit-reached'],
      async handle(c, { companyId, actor }) {
        const settings = (await readSettings(c, newRuleRequest))();
        const rule = { ...settings, setByCompany: addressesSetBy(actor, await readObject(c), settings) };
        const made = await rules.create(companyId, rule, actor);
        if (made === 'unknown company') throw notFound(`company ${companyId}`);
        if (made === 'too many') throw limitReached(companyId, `${mostRules} rules`);
        if (made === 'relayId taken')
          throw new Problem('relay-id-taken', `Company ${companyId} already has a rule with relayId ${rule.relayId}.`);
        const { relayAccessToken, tokenId } = made;
        return c.json({ ...shown(made.rule), relayAccessToken, tokenId }, 201, {
          Location: `/admin/companies/${companyId}/rules/${made.rule.relayId}`,
          'Cache-Control': 'no-store',
        });
      },
    }),
    route.author('GET /admin/companies/:companyId/rules', 'listRules', 'List the rules of a company', {
      query: pageQuery(numberCursor),
      answers: { 200: ['The rules, the oldest first.', rulesResponse] },
      async handle(c, { companyId, query }) {
        found(await companies.get(companyId), `company ${companyId}`);
        const { items, nextCursor } = await rules.list(companyId, query);
        return c.json({ rules: items.map(shown), nextCursor });
      },
    }),
    route.author('GET /admin/companies/:companyId/rules/:relayId', 'getRule', 'Read a rule', {
      answers: { 200: ['The rule.', ruleSchema] },
      handle: async (c, { companyId, relayId: id }) => c.json(shown(foundRule(await rules.get(companyId, id), companyId, id))),
    }),
    route.manager('PATCH /admin/companies/:companyId/rules/:relayId', 'changeRule', 'Change, enable or disable a rule', {
      description:
        'Missing settings stay the same. `notify` replaces the stored `notify`; a merge patch merges it field by field. The relay ' +
        'refuses requests of a disabled rule. The waiting actions of the rule become `skipped` when they are due.',
      rawBody: ruleChange,
      answers: { 200: ['The changed rule.', ruleSchema] },
      problems: ['invalid-body', 'limit-reached'],
      async handle(c, { companyId, relayId, actor }) {
        const read = await readSettings(c, ruleChange, isMergePatch(c) ? mergePatch : replaceKeepingSecrets);
        const given = await readObject(c);
        const change = (stored: StoredRule) => {
          const removed = {
            notify: undefined,
            ...(given.expectEvery === null && { expectEvery: undefined }),
            ...(given.expectWithin === null && { expectWithin: undefined }),
          };
          const changed = { ...stored, ...removed, ...read(stored) };
          return { ...changed, setByCompany: addressesSetBy(actor, given, changed, stored) };
        };
        const rule = await rules.update(companyId, relayId, change, actor);
        return c.json(shown(foundRule(rule, companyId, relayId)));
      },
    }),
    route.manager('DELETE /admin/companies/:companyId/rules/:relayId', 'deleteRule', 'Delete a rule with its tokens', {
      answers: { 204: ['The rule is deleted.'] },
      async handle(c, { companyId, relayId, actor }) {
        foundRule(await rules.delete(companyId, relayId, actor), companyId, relayId);
        return c.body(null, 204);
      },
    }),
    route.author('GET /admin/companies/:companyId/rules/:relayId/tokens', 'listTokens', 'List the tokens of a rule', {
      answers: { 200: ['The tokens without their secrets, the newest first.', tokensResponse] },
      handle: async (c, { companyId, relayId: id }) =>
        c.json({ tokens: foundRule(await tokens.list(companyId, id), companyId, id) }),
    }),
    route.author('POST /admin/companies/:companyId/rules/:relayId/tokens', 'rotateToken', 'Rotate the token', {
      description:
        'Creates a new token, which only this answer shows. The older tokens expire after `graceSeconds`, by default immediately. If ' +
        '`graceSeconds` is `null`, their expiry does not change.',
      body: rotationRequest,
      answers: { 201: ['The new token.', rotatedTokenResponse] },
      async handle(c, { companyId, relayId, actor, body: { graceSeconds } }) {
        const token = await tokens.rotate(companyId, relayId, graceSeconds, actor);
        return c.json(foundRule(token, companyId, relayId), 201, { 'Cache-Control': 'no-store' });
      },
    }),
    route.manager('DELETE /admin/companies/:companyId/rules/:relayId/tokens/:tokenId', 'revokeToken', 'Revoke a token', {
      answers: { 204: ['The token is revoked.'] },
      async handle(c, { companyId, relayId, tokenId, actor }) {
        const known = await tokens.revoke(companyId, relayId, tokenId, actor);
        found(known, `token ${tokenId} of rule ${relayId} of company ${companyId}`);
        return c.body(null, 204);
      },
    }),
  ];
}

const shown = (rule: StoredRule) => ruleSchema.parse(redact(ruleSchema, rule));
