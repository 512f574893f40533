import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Hono } from 'hono';
import type { Authenticated } from '../../../src/api/bearer-authentication.js';
import { companyRoutes } from '../../../src/api/companies.js';
import { encryptionRoutes } from '../../../src/api/operating.js';
import { answerProblems } from '../../../src/api/problems.js';
import { encryptionProgressSchema, encryptionStatusSchema, Keyring } from '../../../src/contract/encryption.js';
import { createStore } from '../../../src/store/store.js';
import { forgetful } from '../../hostile/api.js';
import { openEmptied } from '../../store/emptied.js';

const key = (id: string) => `${id}:${Buffer.alloc(32, id).toString('base64')}`;

it('key ids of the store are listed and keys are rotated; an undecryptable value is a 503 that names the key', async () => {
  const database = await openEmptied();
  const opened = [key('old'), `${key('new')},${key('old')}`, key('new')].map((text) =>
    createStore(database, { keyring: new Keyring(text) }),
  );
  const [before, during, after] = opened.map((store) => {
    const app = answerProblems(new Hono<Authenticated>(), () => {});
    app.use((c, next) => {
      c.set('actor', { kind: 'admin' });
      return next();
    });
    for (const { method, path, handle } of [
      ...encryptionRoutes(store),
      ...companyRoutes({ store, client: forgetful, links: { api: '' }, taskQueue: 'q' }),
    ])
      app.on(method.toUpperCase(), path, (c) => handle(c));
    return app;
  });
  assert(before && during && after);
  const body = JSON.stringify({ name: 'Acme', notify: { emails: ['ada@example.com'] } });
  const put = { method: 'PUT', body, headers: { 'Content-Type': 'application/json' } };
  assert.equal((await before.request('/admin/companies/acme', put)).status, 201);

  const refused = await after.request('/admin/companies/acme');
  assert.equal(refused.status, 503);
  assert.match(
    await refused.text(),
    /\/problems\/unreadable.*no encryption key old; the operator must append the key to RELAY_ENCRYPTION_KEYS/,
  );

  const rows = (keyId: string) => [{ table: 'companies', keyId, rows: 1 }];
  const status = encryptionStatusSchema.parse(await (await during.request('/admin/encryption')).json());
  assert.deepEqual(status, { keys: ['new', 'old'], rows: rows('old'), left: 1 });
  const rotated = await during.request('/admin/encryption/rotate', { method: 'POST' });
  assert.deepEqual(encryptionProgressSchema.parse(await rotated.json()), {
    keys: ['new', 'old'],
    rows: rows('new'),
    left: 0,
    rotated: 1,
    unreadable: [],
  });
  const read = await after.request('/admin/companies/acme');
  assert.match(await read.text(), /ada@example\.com/);
  for (const store of opened) store.settings.close();
  await database.close();
});
