/** `/admin/tokens`: named tokens of operators, each of which opens everything, so that the audit log tells them apart. */

import { adminTokensResponse, createdAdminTokenResponse, newAdminTokenRequest } from '../contract/credential.js';
import { Problem } from '../contract/problem.js';
import type { Store } from '../store/store.js';
import { found } from './problems.js';
import { type Route, route } from './route.js';

export function adminTokenRoutes({ adminTokens }: Pick<Store, 'adminTokens'>): Route[] {
  return [
    route('GET /admin/tokens', 'listAdminTokens', 'List the tokens of operators', {
      answers: { 200: ['By name; never the tokens themselves.', adminTokensResponse] },
      handle: async (c) => c.json({ adminTokens: await adminTokens.list() }),
    }),
    route('POST /admin/tokens', 'createAdminToken', 'Make a token for an operator', {
      description: 'It does what `RELAY_ADMIN_TOKEN` does, under its name. The answer is the only time that it is shown.',
      body: newAdminTokenRequest,
      answers: { 201: ['The token.', createdAdminTokenResponse] },
      problems: ['key-name-taken'],
      async handle(c, { actor, body }) {
        const made = await adminTokens.create(body, actor);
        if (!made) throw new Problem('key-name-taken', `There is already an admin token "${body.name}".`);
        return c.json(made, 201, { 'Cache-Control': 'no-store' });
      },
    }),
    route('DELETE /admin/tokens/:adminTokenId', 'deleteAdminToken', 'Delete the token of an operator', {
      description: 'It ends at once, and with it the sessions that it began.',
      answers: { 204: ['It is gone.'] },
      async handle(c, { adminTokenId, actor }) {
        found(await adminTokens.delete(adminTokenId, actor), `admin token ${adminTokenId}`);
        return c.body(null, 204);
      },
    }),
  ];
}
