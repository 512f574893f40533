/**
 * The tokens of a rule, which start its chains, and the named keys with which a company reads and steers its own. Each is shown
 * once, when it is made.
 */

import { z } from 'zod';
import {
  createdKeyResponse,
  keysResponse,
  rotatedTokenResponse,
  rotationRequest,
  tokensResponse,
} from '../contract/credential.js';
import { label } from '../contract/notify.js';
import { Problem } from '../contract/problem.js';
import type { Store } from '../store/store.js';
import { found, notFound } from './problems.js';
import { type Route, route } from './route.js';

const newKeyRequest = z.strictObject({ name: label }).meta({ id: 'NewKey' });

export function tokenRoutes({ tokens }: Store): Route[] {
  return [
    route('GET /admin/companies/:companyId/rules/:relayId/tokens', 'listTokens', 'List the tokens of a rule', {
      answers: { 200: ['The newest first; never the tokens themselves.', tokensResponse] },
      async handle(c, { companyId, relayId }) {
        const listed = await tokens.list(companyId, relayId);
        return c.json({ tokens: found(listed, `rule ${relayId} of company ${companyId}`) });
      },
    }),
    route('POST /admin/companies/:companyId/rules/:relayId/tokens', 'rotateToken', 'Make a new token', {
      description: 'Those before it end, at once or after `graceSeconds`. The answer is the only time that the new one is shown.',
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

export function keyRoutes({ keys }: Store): Route[] {
  return [
    route('GET /admin/companies/:companyId/keys', 'listKeys', 'List the keys of a company', {
      answers: { 200: ['By name; never the keys themselves.', keysResponse] },
      handle: async (c, { companyId }) => c.json({ keys: found(await keys.list(companyId), `company ${companyId}`) }),
    }),
    route('POST /admin/companies/:companyId/keys', 'createKey', 'Make a key', {
      description: 'The answer is the only time that it is shown.',
      body: newKeyRequest,
      answers: { 201: ['The key.', createdKeyResponse] },
      problems: ['key-name-taken'],
      async handle(c, { companyId, actor, body: { name } }) {
        const made = await keys.create(companyId, name, actor);
        if (made === 'unknown company') throw notFound(`company ${companyId}`);
        if (made === 'name taken') throw new Problem('key-name-taken', `Company ${companyId} already has a key "${name}".`);
        return c.json(made, 201, { 'Cache-Control': 'no-store' });
      },
    }),
    route('DELETE /admin/companies/:companyId/keys/:keyId', 'deleteKey', 'Delete a key', {
      answers: { 204: ['It is gone.'] },
      async handle(c, { companyId, keyId, actor }) {
        found(await keys.delete(companyId, keyId, actor), `key ${keyId} of company ${companyId}`);
        return c.body(null, 204);
      },
    }),
  ];
}
