/** `/admin/tokens`: one named admin token for each operator, so that the audit log can name the operator. */

import { adminTokensResponse, createdAdminTokenResponse, newAdminTokenRequest } from '../contract/credential.js';
import { Problem } from '../contract/problem.js';
import type { Store } from '../store/store.js';
import { found } from './problems.js';
import { type Route, route } from './route.js';

export function adminTokenRoutes({ adminTokens }: Pick<Store, 'adminTokens'>): Route[] {
  return [
    route.admin('GET /admin/tokens', 'listAdminTokens', 'List the tokens of operators', {
      answers: { 200: ['The tokens without their secrets, sorted by name.', adminTokensResponse] },
      handle: async (c) => c.json({ adminTokens: await adminTokens.list() }),
    }),
    route.admin('POST /admin/tokens', 'createAdminToken', 'Create a token for an operator', {
      description: 'The token has a name, and the same permissions as `RELAY_ADMIN_TOKEN`. Only this answer shows the token.',
      body: newAdminTokenRequest,
      answers: { 201: ['The token.', createdAdminTokenResponse] },
      problems: ['key-name-taken'],
      async handle(c, { actor, body }) {
        const made = await adminTokens.create(body, actor);
        if (!made) throw new Problem('key-name-taken', `There is already an admin token "${body.name}".`);
        return c.json(made, 201, { 'Cache-Control': 'no-store' });
      },
    }),
    route.admin('DELETE /admin/tokens/:adminTokenId', 'deleteAdminToken', 'Delete the token of an operator', {
      description: 'The token and its sessions become invalid immediately.',
      answers: { 204: ['The token is deleted.'] },
      async handle(c, { adminTokenId, actor }) {
        found(await adminTokens.delete(adminTokenId, actor), `admin token ${adminTokenId}`);
        return c.body(null, 204);
      },
    }),
  ];
}
