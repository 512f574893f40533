/**
 * The owner of a company key has a signed cookie. The cookie reveals nothing about the admin token. The admin token alone is not
 * enough to forge a cookie.
 */

import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { generateSignedCookie } from 'hono/cookie';
import { sessionCookie } from '../../../../src/api/bearer-authentication.js';
import { deriveKey } from '../../../../src/contract/encryption.js';
import { adminToken, wholeApi } from '../../../api/whole-api.js';

const api = await wholeApi();
after(() => api.close());

it('the environment alone cannot sign a cookie: the signature needs the key in the store', async () => {
  await api.ask('PUT', '/admin/companies/acme', adminToken, { name: 'Acme', notify: { emails: ['ada@acme.example'] } });
  const { json } = await api.ask('POST', '/admin/companies/acme/keys', adminToken, { name: 'tenant' });
  const statusBy = async (cookie: string) => (await fetch(`${api.url}/session`, { headers: { cookie } })).status;
  const begun = await fetch(`${api.url}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ credential: json.key }),
  });
  const [cookie = ''] = begun.headers.getSetCookie().at(-1)?.split(';') ?? [];
  assert.equal(await statusBy(cookie), 200);
  const [, sessionId = ''] = /=([^.]+)\./.exec(cookie) ?? [];
  const forged = await Promise.all(
    [adminToken, deriveKey(`\n${adminToken}`, 'session'), deriveKey(adminToken, 'session')].map((key) =>
      generateSignedCookie(sessionCookie, sessionId, typeof key === 'string' ? key : new Uint8Array(key)),
    ),
  );
  const known = await api.store.sessions.signingKey();
  for (const one of forged) {
    assert.notEqual(one.split(';')[0], cookie);
    assert.equal(await statusBy(one.split(';')[0] ?? ''), 401);
  }
  // With the store's key, the same input gives the relay's own cookie.
  const key = new Uint8Array(deriveKey(`${known}\n\n${adminToken}`, 'session'));
  assert.equal((await generateSignedCookie(sessionCookie, sessionId, key)).split(';')[0], cookie);
});
