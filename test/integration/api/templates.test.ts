/** Templates and OAuth2 through the API and the store. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, it } from 'node:test';
import { adminToken, wholeApi } from '../../api/whole-api.js';

const api = await wholeApi();
after(() => api.close());
const ask = (method: string, body: unknown) => api.ask(method, '/admin/companies/acme', adminToken, body);
const page = readFileSync(new URL('../../../../docs/systems/http.md', import.meta.url), 'utf8');
const documented = Array.from(page.matchAll(/^```json\n(.*?)^```$/gms), ([, json = '']) => JSON.parse(json));

it('the settings from docs/systems/http.md are stored, shown without secrets, and changed in part', async () => {
  assert.equal(documented.length, 4);
  await ask('PUT', { name: 'Acme', notify: { emails: ['ops@acme.example'] } });
  for (const settings of documented) {
    const text = JSON.stringify(settings).replaceAll('…', 's3cret');
    const { status, json } = await ask('PATCH', JSON.parse(text));
    assert.equal(status, 200, JSON.stringify(json));
    const masked = JSON.parse(text.replaceAll(/"[^"]*s3cret"/g, '"***"'));
    const { clientId, ...shown } = json.ticketing?.auth ?? {};
    if (clientId) assert.deepEqual({ ...shown, clientId: '***' }, masked.ticketing.auth);
    else assert.deepEqual({ ...json, ...masked }, json);
    const stored = await api.store.companies.get('acme');
    assert.match(JSON.stringify(stored), /s3cret/);
  }
  const ticketIdPattern = '\\d+';
  const patched = await ask('PATCH', { ticketing: { templates: { ticketIdPattern, read: { headers: { 'X-Mode': 'now' } } } } });
  const { read, update } = patched.json.ticketing.templates;
  assert.deepEqual(read.headers, { 'X-Mode': 'now' });
  assert.deepEqual([update.method, update.body[0].id], ['POST', '{ticketId:number}']);
  const removed = await ask('PATCH', { ticketing: { templates: { read: { headers: { 'X-Mode': null } } } } });
  assert.deepEqual(removed.json.ticketing.templates.read.headers, {});
});

it('mistakes are named by their places', async () => {
  const problems = async (body: object) => {
    const { status, json } = await ask('PATCH', body);
    assert.equal(status, 400);
    return json.errors.map(({ pointer, detail }: { pointer: string; detail: string }) => `${pointer} ${detail}`);
  };
  const oauth2 = { user: 'a@acme.example', clientId: 'c', clientSecret: 's3cret' };
  const update = { body: { t: '{tiketId}' }, path: '/a b' };
  assert.deepEqual(
    await problems({ ticketing: { templates: { update } }, mail: { smtpUrl: 'smtp://smtp.office365.com:587', oauth2 } }),
    [
      '/ticketing/templates/update/path must begin with one /, and have no spaces',
      '/ticketing/templates/update/body can have {ticketId}, {field}, {value}, but not {tiketId}',
      '/ticketing/templates/update/path must have {ticketId}, {field}, {value} here or in the body',
      '/mail/oauth2/tokenUrl is required, except for Google; for Microsoft: https://login.microsoftonline.com/<tenant>/oauth2/v2.0/token',
    ],
  );
  assert.deepEqual(await problems({ ticketing: { templates: { read: null } } }), [
    '/ticketing/templates/read is required for an update with POST: such a request can create a ticket if there is none',
  ]);
});
