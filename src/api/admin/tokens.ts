/** `/admin/companies/{companyId}/rules/{relayId}/tokens`: which tokens a rule has, rotating and revoking them. */

import { Hono } from 'hono';
import { rotatedTokenResponse, rotationRequest, tokensResponse } from '../../contract/token.js';
import type { AdminOptions } from '../admin.js';
import type { Authenticated } from '../authentication.js';
import { parseAs, readObject } from '../body.js';
import { notFound } from '../problem.js';
import { noRule } from './rules.js';

export function tokenRoutes({ store }: AdminOptions): Hono<Authenticated> {
  return new Hono<Authenticated>()
    .get('/admin/companies/:companyId/rules/:relayId/tokens', async (c) => {
      const { companyId, relayId } = c.req.param();
      const tokens = await store.tokens.list(companyId, relayId);
      if (!tokens) throw noRule(companyId, relayId);
      return c.json(tokensResponse.parse({ tokens }));
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
