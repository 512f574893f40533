/** A company's own key sets an address in the operator's network. Only an admin token may set the one allowed host. */

import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { after, describe, it } from 'node:test';
import { createConnectors } from '../../../../src/connectors/connectors.js';
import { isPublicAddress } from '../../../../src/connectors/network.js';
import type { Company } from '../../../../src/contract/company.js';
import { channelsOf } from '../../../../src/notices/channels.js';
import { adminToken, wholeApi } from '../../../api/whole-api.js';
import { failing } from '../../../connectors/failing.js';

const api = await wholeApi();
after(() => api.close());
const company = '/admin/companies/acme';
const external = 'https://hooks.example.com/first';
await api.ask('PUT', company, adminToken, { name: 'Acme', notify: { emails: ['ada@acme.example'] } });
const { json: key } = await api.ask('POST', `${company}/keys`, adminToken, { name: 'tenant', role: 'manage' });
const { json: rule } = await api.ask('POST', `${company}/rules`, key.key, { name: 'Rule' });
const ofRule = `${company}/rules/${rule.relayId}`;
const hook = (webhookUrl: string) => ({ notify: { emails: ['ada@acme.example'], webhookUrl } });
const settings = async () => (await api.store.settings.of('acme')) ?? assert.fail();

describe("a webhook that a company's own key sets", () => {
  for (const address of [
    'http://localhost:7233/',
    'https://localhost/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://10.0.0.1/',
    'https://[::ffff:10.0.0.1]/',
    'https://0x7f.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[fd00:ec2::254]/latest/meta-data/',
    'https://metadata.google.internal/computeMetadata/v1/',
    'https://100.100.100.200/latest/meta-data/',
  ])
    it(`is refused for ${address}, in the company and in a rule`, async () => {
      for (const [method, path, body] of [
        ['PATCH', company, hook(address)],
        ['PATCH', ofRule, hook(address)],
        ['POST', `${company}/rules`, { name: 'Another', ...hook(address) }],
      ] as const) {
        const { status, json } = await api.ask(method, path, key.key, body);
        assert.equal(status, 400, `${method} ${path}`);
        assert.deepEqual(json.errors[0].pointer, '/notify/webhookUrl');
        assert.match(json.errors[0].detail, /must be a public address: only the operator can set an internal address/);
      }
      assert.equal((await settings()).company.notify?.webhookUrl, undefined);
    });

  it('counts as the company’s until an admin token sends the full address', async () => {
    const by = async () => [(await settings()).company.setByCompany, (await settings()).rules.get(rule.relayId)?.setByCompany];
    const change = async (token: string, body: object) => {
      for (const path of [company, ofRule]) assert.equal((await api.ask('PATCH', path, token, body)).status, 200);
      return by();
    };
    const mine = [['notify'], ['notify']];
    const theirs = [undefined, undefined];
    assert.deepEqual(await change(key.key, hook(external)), mine);
    assert.deepEqual((await api.ask('GET', company, adminToken)).json.setByCompany, ['notify']);
    assert.deepEqual(await change(adminToken, { name: 'Renamed' }), mine);
    assert.deepEqual(await change(adminToken, hook('https://hooks.example.com/***')), mine, 'sent as it was shown');
    assert.deepEqual(await change(adminToken, hook(external)), theirs);
    assert.deepEqual(await change(key.key, { ...hook(external), name: 'Renamed again' }), theirs, 'not changed by the key');
    assert.deepEqual(await change(key.key, hook('https://hooks.example.com/second')), mine);
    assert.deepEqual(await change(adminToken, hook('http://127.0.0.1:1/')), theirs);
    assert.deepEqual(await change(key.key, { notify: { emails: ['ada@acme.example'], webhookUrl: null } }), theirs);
  });

  it('cannot be marked as somebody else’s by the request', async () => {
    for (const path of [company, ofRule]) {
      const { status } = await api.ask('PATCH', path, key.key, { ...hook(external), setByCompany: [] });
      assert(status === 400 || status === 403, String(status));
    }
  });
});

describe("a connection that a company's own key sets", () => {
  const by = async () => (await settings()).company.setByCompany;
  const patch = (token: string, body: object) => api.ask('PATCH', company, token, body);
  const workmarket = { kind: 'workmarket', token: 't', secret: 's' };
  const internal = 'http://10.0.0.1/api';

  it('counts as the company’s without an address, too', async () => {
    await patch(adminToken, { platform: workmarket });
    assert.equal(await by(), undefined);
    assert.equal((await patch(key.key, { platform: { token: '***' } })).status, 200);
    assert.equal(await by(), undefined, 'not changed by the key');
    assert.equal((await patch(key.key, { platform: { token: 'other' } })).status, 200);
    assert.deepEqual(await by(), ['platform']);
    await patch(adminToken, { name: 'Renamed' });
    assert.deepEqual(await by(), ['platform']);
    await patch(adminToken, { platform: workmarket });
    assert.equal(await by(), undefined);
    await patch(key.key, { platform: null });
    assert.equal(await by(), undefined);
  });

  it('never calls an internal address of the operator after a change of its kind', async () => {
    await patch(adminToken, { platform: { kind: 'http', baseUrl: internal } });
    assert.equal((await patch(key.key, { platform: workmarket })).status, 200);
    const { platform, setByCompany } = (await settings()).company;
    assert.deepEqual([platform, setByCompany], [workmarket, ['platform']]);
    await patch(adminToken, { platform: { ...workmarket, baseUrl: internal.replace('http', 'https') } });
    const refused = await patch(key.key, { platform: { kind: 'http', baseUrl: internal.replace('http', 'https') } });
    assert.deepEqual([refused.status, refused.json.errors[0].pointer], [400, '/platform/baseUrl']);
    const kept = await patch(key.key, { platform: { token: 'new' } });
    assert.deepEqual([kept.status, kept.json.setByCompany], [200, undefined], "the operator's address stays the operator's");
  });
});

describe("a token address that a company's own key sets", () => {
  const by = async () => (await settings()).company.setByCompany;
  const signIn = (tokenUrl: string) => ({ type: 'oauth2', tokenUrl, clientId: 'c', clientSecret: 's' });
  const patch = (token: string, section: string, body: object) => api.ask('PATCH', company, token, { [section]: body });
  const external = 'https://login.example.com/token';

  for (const section of ['platform', 'ticketing'])
    it(`must be public in ${section}, whether the operator or the company set the base address`, async () => {
      for (const base of ['https://system.example.com', 'https://10.0.0.1/api'])
        for (const tokenUrl of ['https://10.0.0.1/token', 'http://127.0.0.1:1/token', 'https://metadata.google.internal/token']) {
          await patch(adminToken, section, { kind: 'http', baseUrl: base, auth: null });
          const { status, json } = await patch(key.key, section, { auth: signIn(tokenUrl) });
          assert.equal(status, 400, `${base} ${tokenUrl}`);
          const wrong = base.includes('10.0.0.1') ? 'baseUrl' : 'auth/tokenUrl';
          assert.equal(json.errors[0].pointer, `/${section}/${wrong}`);
          assert.equal((await patch(key.key, section, { kind: 'http', baseUrl: base, auth: signIn(tokenUrl) })).status, 400);
        }
      await patch(adminToken, section, { kind: 'http', baseUrl: 'https://system.example.com', auth: null });
      const hidden = await patch(key.key, section, { auth: signIn('https://login.example.com @10.0.0.1/token') });
      assert.equal(hidden.status, 400);
      assert.equal(await by(), undefined);
    });

  it('counts as the company’s until an admin token sends all addresses', async () => {
    const baseUrl = 'https://system.example.com';
    await patch(adminToken, 'ticketing', { kind: 'http', baseUrl, auth: signIn('https://10.0.0.1/token') });
    assert.equal(await by(), undefined);
    assert.equal((await patch(key.key, 'ticketing', { auth: { clientId: 'other' } })).status, 200);
    assert.equal(await by(), undefined, 'not changed by the key');
    assert.equal((await patch(key.key, 'ticketing', { auth: signIn(external) })).status, 200);
    assert.deepEqual(await by(), ['ticketing']);
    for (const part of [{ baseUrl }, { auth: { tokenUrl: external } }, { auth: { clientId: 'c2' } }]) {
      assert.equal((await patch(adminToken, 'ticketing', part)).status, 200);
      assert.deepEqual(await by(), ['ticketing'], JSON.stringify(part));
    }
    await patch(adminToken, 'ticketing', { baseUrl, auth: { tokenUrl: external } });
    assert.equal(await by(), undefined);
    await patch(adminToken, 'ticketing', { ...{ kind: 'http', baseUrl }, auth: { type: 'bearer', token: 't' } });
  });
});

const inside = await lookup(hostname()).catch(() => undefined);
const isInside = inside !== undefined && !isPublicAddress(inside.address);

describe('a name that resolves to an internal address', {
  skip: !isInside && 'the name of this machine leads to no internal address',
}, () => {
  it('is called for the operator, who allowed this host, and not for a company', async () => {
    const server = createServer((_request, response) => response.end()).listen(0, inside?.address);
    await once(server, 'listening');
    const connectors = createConnectors({ allowPrivateNetworks: [hostname().toLowerCase()], mailFrom: 'relay@relay.example' });
    after(async () => {
      await connectors.close();
      server.close();
    });
    const acme: Company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC' };
    const notify = { webhookUrl: `http://${hostname()}:${(server.address() as AddressInfo).port}/` };
    const notice = { subject: 's', text: 't', html: 'h', json: {} };
    const deliver = (whose: Company) =>
      channelsOf(connectors, whose, notify)[0]?.deliver(notice, { idempotencyKey: 'n', timeoutMs: 5000 }) ?? assert.fail();
    await deliver(acme);
    const refused = await failing(deliver({ ...acme, setByCompany: ['notify'] }));
    assert.match(refused.message, /leads to a private, loopback or other internal address/);
  });
});
