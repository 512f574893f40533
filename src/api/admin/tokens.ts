/** `/admin/companies/{companyId}/rules/{relayId}/tokens`: which tokens a rule has, rotating and revoking them. */

import { Hono } from 'hono';
import { z } from 'zod';
import type { AdminOptions } from '../admin.js';
import type { Authenticated } from '../authentication.js';
import { parseAs, readObject } from '../body.js';
import { notFound } from '../problem.js';
import { noRule } from './rules.js';

export const rotationRequest = z.strictObject({
  graceSeconds: z.int().min(0).max(31_622_400).default(0).describe('For how long the tokens before the new one go on.'),
});

/** A token, without the token: that is shown once, when it is made. */
export const tokenResponse = z.object({
  tokenId: z.string(),
  state: z.enum(['active', 'expired', 'revoked']),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().optional(),
  revokedAt: z.iso.datetime().optional(),
  lastUsedAt: z.iso.datetime().optional().describe('To the minute.'),
});
/** The newest first. */
export const tokensResponse = z.object({ tokens: z.array(tokenResponse) });
export const rotatedTokenResponse = z.object({
  tokenId: z.string(),
  relayAccessToken: z.string().describe('The only time that it is shown.'),
});

export function tokenRoutes({ store }: AdminOptions): Hono<Authenticated> {
  return new Hono<Authenticated>()
    .get('/admin/companies/:companyId/rules/:relayId/tokens', async (c) => {
      const { companyId, relayId } = c.req.param();
      const tokens = await store.tokens.list(companyId, relayId);
      if (!tokens) throw noRule(companyId, relayId);
      const shown = tokens.map(({ createdAt, expiresAt, revokedAt, lastUsedAt, ...token }) => ({
        ...token,
        createdAt: createdAt.toISOString(),
        expiresAt: expiresAt?.toISOString(),
        revokedAt: revokedAt?.toISOString(),
        lastUsedAt: lastUsedAt?.toISOString(),
      }));
      return c.json(tokensResponse.parse({ tokens: shown }));
    })
    .post('/admin/companies/:companyId/rules/:relayId/tokens', async (c) => {
      const { companyId, relayId } = c.req.param();
      const { graceSeconds } = parseAs(rotationRequest, await readObject(c));
      const token = await store.tokens.rotate(companyId, relayId, graceSeconds, c.get('actor'));
      if (!token) throw noRule(companyId, relayId);
      return c.json(rotatedTokenResponse.parse(token), 201, { 'Cache-Control': 'no-store' });
    })
    .delete('/admin/companies/:companyId/rules/:relayId/tokens/:tokenId', async (c) => {
      const { companyId, relayId, tokenId } = c.req.param();
      const known = await store.tokens.revoke(companyId, relayId, tokenId, c.get('actor'));
      if (!known) throw notFound(`token ${tokenId} of rule ${relayId} of company ${companyId}`);
      return c.body(null, 204);
    });
}
