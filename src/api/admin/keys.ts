/** `/admin/companies/{companyId}/keys`: the named keys with which a company reads and steers its own chains. */

import { z } from 'zod';
import { createdKeyResponse, keysResponse } from '../../contract/credential.js';
import { label } from '../../contract/notify.js';
import { Problem } from '../../contract/problem.js';
import type { Store } from '../../store/store.js';
import { notFound } from '../problems.js';
import { type Route, route } from '../route.js';
import { noCompany } from './missing.js';

const newKeyRequest = z.strictObject({ name: label }).meta({ id: 'NewKey' });

export function keyRoutes({ keys }: Store): Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/admin/companies/:companyId/keys',
        id: 'listKeys',
        access: 'admin',
        summary: 'List the keys of a company',
        answers: { 200: { description: 'By name; never the keys themselves.', body: keysResponse } },
        problems: ['not-found'],
      },
      async (c) => {
        const listed = await keys.list(c.req.param('companyId'));
        if (!listed) throw noCompany(c.req.param('companyId'));
        return c.json({ keys: listed });
      },
    ),
    route(
      {
        method: 'post',
        path: '/admin/companies/:companyId/keys',
        id: 'createKey',
        access: 'admin',
        summary: 'Make a key',
        description: 'The answer is the only time that it is shown.',
        body: newKeyRequest,
        answers: { 201: { description: 'The key.', body: createdKeyResponse } },
        problems: ['not-found', 'key-name-taken'],
      },
      async (c, { actor, body: { name } }) => {
        const companyId = c.req.param('companyId');
        const made = await keys.create(companyId, name, actor);
        if (made === 'unknown company') throw noCompany(companyId);
        if (made === 'name taken') throw new Problem('key-name-taken', `Company ${companyId} already has a key "${name}".`);
        return c.json(made, 201, { 'Cache-Control': 'no-store' });
      },
    ),
    route(
      {
        method: 'delete',
        path: '/admin/companies/:companyId/keys/:keyId',
        id: 'deleteKey',
        access: 'admin',
        summary: 'Delete a key',
        answers: { 204: { description: 'It is gone.' } },
        problems: ['not-found'],
      },
      async (c, { actor }) => {
        const { companyId, keyId } = c.req.param();
        if (!(await keys.delete(companyId, keyId, actor))) throw notFound(`key ${keyId} of company ${companyId}`);
        return c.body(null, 204);
      },
    ),
  ];
}
