/** `/admin/companies/{companyId}/rules`: the rules of a company, and their tokens, each shown once, when it is made. */

import { mostRules, rotatedTokenResponse, rotationRequest, tokensResponse } from '../contract/credential.js';
import { Problem } from '../contract/problem.js';
import { createdRuleResponse, newRuleRequest, ruleChange, ruleSchema, rulesResponse, type StoredRule } from '../contract/rule.js';
import { mergePatch, redact, replaceKeepingSecrets } from '../contract/secrets.js';
import type { Store } from '../store/store.js';
import { readSettings } from './companies.js';
import { isMergePatch, numberCursor, pageQuery } from './input.js';
import { found, limitReached, notFound } from './problems.js';
import { type Route, route } from './route.js';

export function ruleRoutes({ companies, rules, tokens }: Store): Route[] {
  return [
    route('POST /admin/companies/:companyId/rules', 'createRule', 'Make a rule', {
      description:
        'The answer is the only time that the token is shown.' +
        ' A `relayId` and `relayAccessToken` that existing webhooks use can be taken over.',
      rawBody: newRuleRequest,
      answers: { 201: ['The rule with its first token.', createdRuleResponse, { Location: 'The path of what was made.' }] },
      problems: ['invalid-body', 'relay-id-taken', 'limit-reached'],
      async handle(c, { companyId, actor }) {
        const rule = (await readSettings(c, newRuleRequest))();
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
    route('GET /admin/companies/:companyId/rules', 'listRules', 'List the rules of a company', {
      query: pageQuery(numberCursor),
      answers: { 200: ['The oldest first.', rulesResponse] },
      async handle(c, { companyId, query }) {
        found(await companies.get(companyId), `company ${companyId}`);
        const { items, nextCursor } = await rules.list(companyId, query);
        return c.json({ rules: items.map(shown), nextCursor });
      },
    }),
    route('GET /admin/companies/:companyId/rules/:relayId', 'getRule', 'Read a rule', {
      answers: { 200: ['The rule.', ruleSchema] },
      async handle(c, { companyId, relayId }) {
        const rule = await rules.get(companyId, relayId);
        return c.json(shown(found(rule, `rule ${relayId} of company ${companyId}`)));
      },
    }),
    route('PATCH /admin/companies/:companyId/rules/:relayId', 'changeRule', 'Change, enable or disable a rule', {
      description:
        'What is left out stays as it is; `notify` is replaced as a section of a company is, or merged where the body is a' +
        ' merge patch. Requests of a disabled rule are refused, and its actions that are still to run become `skipped`.',
      rawBody: ruleChange,
      answers: { 200: ['The rule as it is now.', ruleSchema] },
      problems: ['invalid-body'],
      async handle(c, { companyId, relayId, actor }) {
        const read = await readSettings(c, ruleChange, isMergePatch(c) ? mergePatch : replaceKeepingSecrets);
        const change = (stored: StoredRule) => ({ ...stored, notify: undefined, ...read(stored) });
        const rule = await rules.update(companyId, relayId, change, actor);
        return c.json(shown(found(rule, `rule ${relayId} of company ${companyId}`)));
      },
    }),
    route('DELETE /admin/companies/:companyId/rules/:relayId', 'deleteRule', 'Delete a rule with its tokens', {
      answers: { 204: ['It is gone.'] },
      async handle(c, { companyId, relayId, actor }) {
        found(await rules.delete(companyId, relayId, actor), `rule ${relayId} of company ${companyId}`);
        return c.body(null, 204);
      },
    }),
    route('GET /admin/companies/:companyId/rules/:relayId/tokens', 'listTokens', 'List the tokens of a rule', {
      answers: { 200: ['The newest first; never the tokens themselves.', tokensResponse] },
      async handle(c, { companyId, relayId }) {
        const listed = await tokens.list(companyId, relayId);
        return c.json({ tokens: found(listed, `rule ${relayId} of company ${companyId}`) });
      },
    }),
    route('POST /admin/companies/:companyId/rules/:relayId/tokens', 'rotateToken', 'Make a new token', {
      description:
        'Those before it end, at once or after `graceSeconds`, or go on where that is `null`. The answer is the only time that the new one is shown.',
      body: rotationRequest,
      answers: { 201: ['The new token.', rotatedTokenResponse] },
      async handle(c, { companyId, relayId, actor, body: { graceSeconds } }) {
        const token = await tokens.rotate(companyId, relayId, graceSeconds, actor);
        return c.json(found(token, `rule ${relayId} of company ${companyId}`), 201, { 'Cache-Control': 'no-store' });
      },
    }),
    route('DELETE /admin/companies/:companyId/rules/:relayId/tokens/:tokenId', 'revokeToken', 'Revoke a token at once', {
      answers: { 204: ['It is revoked.'] },
      async handle(c, { companyId, relayId, tokenId, actor }) {
        const known = await tokens.revoke(companyId, relayId, tokenId, actor);
        found(known, `token ${tokenId} of rule ${relayId} of company ${companyId}`);
        return c.body(null, 204);
      },
    }),
  ];
}

function shown(rule: StoredRule) {
  return ruleSchema.parse(redact(ruleSchema, rule));
}
