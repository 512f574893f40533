/** A company's own key changes the address of a system, and omits the stored secret. The new address must not get this secret. */

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createConnectors } from '../../../../src/connectors/connectors.js';
import type { Company } from '../../../../src/contract/company.js';
import { adminToken, wholeApi } from '../../../api/whole-api.js';
import { answering, startHttp } from '../../../connectors/local-http.js';

const api = await wholeApi();
after(() => api.close());
const company = '/admin/companies/acme';
await api.ask('PUT', company, adminToken, { name: 'Acme', notify: { emails: ['ada@acme.example'] } });
const { json: key } = await api.ask('POST', `${company}/keys`, adminToken, { name: 'tenant', role: 'manage' });

const baseUrl = 'https://system.example.com/api';
const http = (auth: object) => ({ kind: 'http', baseUrl, auth });
const bearer = { type: 'bearer', token: 's3cret' };
const signIn = { type: 'oauth2', tokenUrl: 'https://login.example.com/token', clientId: 'c', clientSecret: 's3cret' };
const vendor = { email: 'ada@acme.example', token: 's3cret' };
const connectwise = { site: 'na.myconnectwise.net', company: 'acme', publicKey: 'p', privateKey: 's3cret', clientId: 's3cret' };

interface Move {
  name: string;
  section: 'platform' | 'ticketing' | 'mail';
  stored: object;
  change: object;
  pointer: string;
}

const moves: Move[] = [
  ...Object.entries({
    'another host': 'https://evil.example.com/api',
    'another port': 'https://system.example.com:8443/api',
    'plain text': 'http://system.example.com/api',
  }).flatMap(([name, moved]) =>
    (['platform', 'ticketing'] as const).map((section) => ({
      ...{ name: `${section} at ${name}`, section, stored: http(bearer), pointer: 'auth' },
      change: { baseUrl: moved, allowPlainText: true },
    })),
  ),
  {
    ...{ name: 'a password', section: 'platform', stored: http({ type: 'basic', username: 'u', password: 's3cret' }) },
    ...{ change: { baseUrl: 'https://evil.example.com' }, pointer: 'auth' },
  },
  {
    ...{ name: 'a header', section: 'platform', stored: http({ type: 'headers', headers: { 'X-Key': 's3cret' } }) },
    ...{ change: { baseUrl: 'https://evil.example.com' }, pointer: 'auth' },
  },
  {
    ...{ name: 'the client secret behind another base address', section: 'ticketing', stored: http(signIn) },
    ...{ change: { baseUrl: 'https://evil.example.com' }, pointer: 'auth' },
  },
  {
    ...{ name: 'the client secret at another token address', section: 'ticketing', stored: http(signIn) },
    ...{ change: { auth: { tokenUrl: 'https://evil.example.com/token' } }, pointer: 'auth/clientSecret' },
  },
  {
    ...{ name: 'another site', section: 'ticketing', stored: { kind: 'connectwise', ...connectwise } },
    ...{ change: { site: 'eu.myconnectwise.net' }, pointer: 'clientId' },
  },
  {
    ...{ name: 'another instance', section: 'ticketing', pointer: 'password', change: { instance: 'evil' } },
    stored: { kind: 'servicenow', instance: 'acme', userName: 'u', password: 's3cret' },
  },
  {
    ...{ name: 'another subdomain', section: 'ticketing', pointer: 'token', change: { subdomain: 'evil' } },
    stored: { kind: 'zendesk', subdomain: 'acme', ...vendor },
  },
  {
    ...{ name: 'another site of Jira', section: 'ticketing', pointer: 'token', change: { site: 'evil' } },
    stored: { kind: 'jira', site: 'acme', ...vendor },
  },
  {
    ...{ name: 'another mail server', section: 'mail', pointer: 'oauth2', change: { smtpUrl: 'smtp://evil.example.com' } },
    stored: { smtpUrl: 'smtp://smtp.example.com', oauth2: { user: 'u', ...signIn, type: undefined } },
  },
  {
    ...{ name: 'another token address of mail', section: 'mail', pointer: 'oauth2/clientSecret' },
    stored: { smtpUrl: 'smtp://smtp.example.com', oauth2: { user: 'u', ...signIn, type: undefined } },
    change: { oauth2: { tokenUrl: 'https://evil.example.com/token' } },
  },
];

describe('a stored secret', () => {
  const settings = async () => (await api.store.settings.of('acme'))?.company;
  for (const { name, section, stored, change, pointer } of moves)
    it(`does not go to ${name}, whether it is left out or sent as it was shown`, async () => {
      assert.equal((await api.ask('PATCH', company, adminToken, { [section]: null })).status, 200);
      assert.equal((await api.ask('PATCH', company, adminToken, { [section]: stored })).status, 200);
      const shown = (await api.ask('GET', company, adminToken)).json[section];
      const inner = Object.entries(change).map(([name, value]) => [
        name,
        typeof value === 'object' ? { ...shown[name], ...value } : value,
      ]);
      const masked = { ...shown, ...Object.fromEntries(inner) };
      assert.match(JSON.stringify(masked), /\*\*\*/);
      for (const token of section === 'mail' ? [adminToken] : [key.key, adminToken])
        for (const body of [change, masked]) {
          const { status, json, text } = await api.ask('PATCH', company, token, { [section]: body });
          assert.equal(status, 400, text);
          const errors: { pointer: string; detail: string }[] = json.errors;
          assert.ok(
            errors.some(
              ({ pointer: at, detail }) =>
                at === `/${section}/${pointer}` && /stored secret belongs to another address/.test(detail),
            ),
            text,
          );
        }
      const now = (await settings())?.[section];
      assert.deepEqual(JSON.parse(JSON.stringify(now)), JSON.parse(JSON.stringify(stored)), 'nothing has changed');
    });

  it('does not go to a host in the path of the address', async () => {
    const [own, other] = [await startHttp(), await startHttp()];
    own.answer = answering(200, { status: 'draft' });
    const connectors = createConnectors({ allowPrivateNetworks: true, mailFrom: 'relay@relay.example' });
    after(() => connectors.close());
    const platform = { kind: 'http', baseUrl: `${own.url}//${new URL(other.url).host}/`, auth: bearer } as const;
    const acme = { companyId: 'acme', name: 'Acme', timeZone: 'UTC', platform } as Company;
    await connectors.platformOf(acme).getAssignment('A1', { timeoutMs: 5000 });
    assert.equal(other.received.length, 0);
    assert.equal(own.last().path, `//${new URL(other.url).host}/assignments/A1`);
  });
});
