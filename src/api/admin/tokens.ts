/** `/admin/companies/{companyId}/rules/{relayId}/tokens`: which tokens a rule has, rotating and revoking them. */

import { rotatedTokenResponse, rotationRequest, tokensResponse } from '../../contract/credential.js';
import type { Store } from '../../store/store.js';
import { notFound } from '../problems.js';
import { type Route, route } from '../route.js';
import { noRule } from './missing.js';

export function tokenRoutes({ tokens }: Store): Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/admin/companies/:companyId/rules/:relayId/tokens',
        id: 'listTokens',
        access: 'admin',
        summary: 'List the tokens of a rule',
        answers: { 200: { description: 'The newest first; never the tokens themselves.', body: tokensResponse } },
        problems: ['not-found'],
      },
      async (c) => {
        const { companyId, relayId } = c.req.param();
        const listed = await tokens.list(companyId, relayId);
        if (!listed) throw noRule(companyId, relayId);
        return c.json({ tokens: listed });
      },
    ),
    route(
      {
        method: 'post',
        path: '/admin/companies/:companyId/rules/:relayId/tokens',
        id: 'rotateToken',
        access: 'admin',
        summary: 'Make a new token',
        description:
          'Those before it end, at once or after `graceSeconds`. The answer is the only time that the new one is shown.',
        body: rotationRequest,
        bodyOptional: true,
        answers: { 201: { description: 'The new token.', body: rotatedTokenResponse } },
        problems: ['not-found'],
      },
      async (c, { actor, body: { graceSeconds } }) => {
        const { companyId, relayId } = c.req.param();
        const token = await tokens.rotate(companyId, relayId, graceSeconds, actor);
        if (!token) throw noRule(companyId, relayId);
        return c.json(token, 201, { 'Cache-Control': 'no-store' });
      },
    ),
    route(
      {
        method: 'delete',
        path: '/admin/companies/:companyId/rules/:relayId/tokens/:tokenId',
        id: 'revokeToken',
        access: 'admin',
        summary: 'Revoke a token at once',
        answers: { 204: { description: 'It is revoked.' } },
        problems: ['not-found'],
      },
      async (c, { actor }) => {
        const { companyId, relayId, tokenId } = c.req.param();
        const known = await tokens.revoke(companyId, relayId, tokenId, actor);
        if (!known) throw notFound(`token ${tokenId} of rule ${relayId} of company ${companyId}`);
        return c.body(null, 204);
      },
    ),
  ];
}
