/** `/admin/companies/{companyId}/keys`: the named keys with which a company reads and steers its own chains. */

import { Hono } from 'hono';
import { createdKeyResponse, keysResponse, newKeyRequest } from '../../contract/key.js';
import { Problem } from '../../contract/problem.js';
import type { AdminOptions } from '../admin.js';
import type { Authenticated } from '../authentication.js';
import { parseAs, readObject } from '../body.js';
import { notFound } from '../problem.js';
import { noCompany } from './companies.js';

export function keyRoutes({ store }: AdminOptions): Hono<Authenticated> {
  return new Hono<Authenticated>()
    .get('/admin/companies/:companyId/keys', async (c) => {
      const keys = await store.keys.list(c.req.param('companyId'));
      if (!keys) throw noCompany(c.req.param('companyId'));
      return c.json(keysResponse.parse({ keys }));
    })
    .post('/admin/companies/:companyId/keys', async (c) => {
      const companyId = c.req.param('companyId');
      const { name } = parseAs(newKeyRequest, await readObject(c));
      const made = await store.keys.create(companyId, name, c.get('actor'));
      if (made === 'unknown company') throw noCompany(companyId);
      if (made === 'name taken') throw new Problem('key-name-taken', `Company ${companyId} already has a key "${name}".`);
      return c.json(createdKeyResponse.parse(made), 201, {
        'Cache-Control': 'no-store',
      });
    })
    .delete('/admin/companies/:companyId/keys/:keyId', async (c) => {
      const { companyId, keyId } = c.req.param();
      if (!(await store.keys.delete(companyId, keyId, c.get('actor')))) throw notFound(`key ${keyId} of company ${companyId}`);
      return c.body(null, 204);
    });
}
