import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { apiRoutes } from '../../../src/api/app.js';
import { failuresPerMinute } from '../../../src/api/limits.js';
import { type Role, roles } from '../../../src/contract/credential.js';
import { adminToken, wholeApi } from '../../api/whole-api.js';

const admin = { kind: 'admin' } as const;

describe('permissions', () => {
  let api: Awaited<ReturnType<typeof wholeApi>>;
  const keys = {} as Record<Role, string>;
  before(async () => {
    api = await wholeApi();
    const company = { name: 'Acme', notify: { emails: ['ops@example.com'] } };
    for (const id of ['acme', 'other'])
      assert.equal((await api.ask('PUT', `/admin/companies/${id}`, adminToken, company)).status, 201);
    for (const role of roles)
      keys[role] = (await api.ask('POST', '/admin/companies/acme/keys', adminToken, { name: role, role })).json.key;
  });
  after(() => api.close());

  it('depend on the role of a key; a key without a role may steer', async () => {
    const old = (await api.ask('POST', '/admin/companies/acme/keys', adminToken, { name: 'old' })).json;
    assert.equal(old.role, 'steer');
    for (const [method, path, ...expected] of [
      ['GET', '/co/acme/rejected', 200, 200, 200, 200],
      ['POST', '/co/acme/chains/none/cancel', 403, 503, 503, 503], // There is no Temporal server.
      ['GET', '/admin/companies/acme', 403, 403, 403, 200],
      ['GET', '/admin/companies/acme/rules', 403, 403, 200, 200],
      ['POST', '/admin/companies/acme/rules', 403, 403, 201, 201],
      ['PATCH', '/admin/companies/acme', 403, 403, 403, 200],
      ['PUT', '/admin/companies/acme', 403, 403, 403, 403],
      ['DELETE', '/admin/companies/acme', 403, 403, 403, 403],
      ['GET', '/admin/companies/other', 401, 401, 401, 401],
      ['GET', '/admin/companies', 401, 401, 401, 401],
      ['GET', '/admin/tokens', 401, 401, 401, 401],
      ['GET', '/chains', 401, 401, 401, 401],
    ] as const) {
      const body = method === 'GET' ? undefined : { name: 'Acme' };
      const statuses = [];
      for (const role of roles) statuses.push((await api.ask(method, path, keys[role], body)).status);
      assert.deepEqual(statuses, expected, `${method} ${path}`);
    }
    const { json } = await api.ask('GET', '/admin/companies/acme', keys.read);
    assert.match(json.detail, /role read.*role manage/);
  });

  it('let a manage key manage its own company, an author key write its rules, and nothing else', () => {
    const open = apiRoutes(api).filter(({ access }) => access === 'admin or manage key');
    assert.deepEqual(open.map(({ id }) => id).sort(), [
      'changeCompany',
      'changeRule',
      'checkCompany',
      'createKey',
      'deleteKey',
      'deleteRule',
      'endPause',
      'exportAudit',
      'getCompany',
      'getPauses',
      'listCompanyAudit',
      'listContacts',
      'listKeys',
      'listPeople',
      'pauseCompany',
      'putPerson',
      'removePerson',
      'revokeToken',
      'testNotices',
    ]);
    const written = apiRoutes(api).filter(({ access }) => access === 'admin or author key');
    assert.deepEqual(written.map(({ id }) => id).sort(), [
      'createRule',
      'getRule',
      'goBack',
      'listRules',
      'listTokens',
      'makeContents',
      'publishRule',
      'rotateEventToken',
      'rotateToken',
      'saveDraft',
      'sendTestEvent',
      'setDoor',
      'setShadow',
      'tryRule',
    ]);
  });

  it('leave the mail server, the limits and the webhook secret of a company to the operator', async () => {
    for (const [section, value] of Object.entries({ mail: {}, limits: {}, webhookSecret: null })) {
      const refused = await api.ask('PATCH', '/admin/companies/acme', keys.manage, { [section]: value });
      assert.deepEqual([refused.status, refused.json.type], [403, '/problems/forbidden']);
      assert.match(refused.json.detail, new RegExp(`${section} needs an admin token`));
    }
  });

  it('of a manage key include systems at public addresses only', async () => {
    const patch = (body: object) => api.ask('PATCH', '/admin/companies/acme', keys.manage, body);
    const auth = { type: 'bearer', token: 's3cret' };
    for (const [platform, pointer, detail] of [
      [{ kind: 'http', baseUrl: 'http://10.0.0.1' }, '/platform/baseUrl', /must be a public address/],
      [{ kind: 'http', baseUrl: 'https://localhost' }, '/platform/baseUrl', /must be a public address/],
      [{ kind: 'http', baseUrl: 'http://platform.example', auth }, '/platform/baseUrl', /must be https/],
      [{ kind: 'workmarket', token: 't', secret: 's', baseUrl: 'https://x.example' }, '/platform/baseUrl', /only the operator/],
      [{ kind: 'workmarket', token: 't' }, '/platform/secret', /is required/],
      [{ kind: 'other' }, '/platform/kind', /./],
    ] as const) {
      const refused = await patch({ platform });
      assert.deepEqual([refused.status, refused.json.errors?.[0]?.pointer], [400, pointer], refused.text);
      assert.match(refused.json.errors[0].detail, detail);
    }
    const platform = { kind: 'http', baseUrl: 'https://platform.example', auth };
    const ticketing = { kind: 'zendesk', subdomain: 'acme', email: 'ada@acme.example', token: 's3cret' };
    const { status, json, text } = await patch({ platform, ticketing });
    assert.deepEqual([status, json.setByCompany], [200, ['platform', 'ticketing']], text);
    assert.ok(!text.includes('s3cret'));
    assert.deepEqual([json.ticketing.token, json.ticketing.subdomain], ['***', 'acme']);
  });

  it('end when the key expires', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const made = (await api.ask('POST', '/admin/companies/other/keys', adminToken, { name: 'soon', expiresAt })).json;
    assert.equal(made.expiresAt, expiresAt);
    assert.equal((await api.ask('GET', '/co/other/rejected', made.key)).status, 200);
    const past = await api.ask('POST', '/admin/companies/other/keys', adminToken, {
      name: 'past',
      expiresAt: '2020-01-01T00:00:00Z',
    });
    assert.equal(past.status, 400);
    for (const [expiresAt, status, kept] of [
      ['2099-01-01T00:00:00+17:50', 201, '2098-12-31T06:10:00.000Z'],
      ['2099-01-01T00:00:00-23:59', 201, '2099-01-01T23:59:00.000Z'],
      ['9999-12-31T23:00:00-05:00', 400, undefined],
    ] as const) {
      const far = await api.ask('POST', '/admin/companies/other/keys', adminToken, { name: expiresAt, expiresAt });
      assert.deepEqual([far.status, far.json.expiresAt], [status, kept], expiresAt);
    }
    const gone = await api.store.keys.create('other', 'gone', admin, { expiresAt: new Date(Date.now() - 1).toISOString() });
    assert.ok(typeof gone === 'object');
    assert.equal((await api.ask('GET', '/co/other/rejected', gone.key)).status, 401);
  });

  it('of a key cannot outlive the key that created it', async () => {
    const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    const end = inHours(2);
    const make = async (by: string, body: object) => (await api.ask('POST', '/admin/companies/acme/keys', by, body)).json;
    const { key } = await make(adminToken, { name: 'two hours', role: 'manage', expiresAt: end });
    const earlier = inHours(1);
    const ends = [undefined, inHours(3), earlier].map(async (expiresAt, n) => {
      const made = await make(key, { name: `made ${n}`, role: 'manage', expiresAt });
      return made.expiresAt;
    });
    assert.deepEqual(await Promise.all(ends), [end, end, earlier]);
    assert.equal((await make(keys.manage, { name: 'of one that does not end' })).expiresAt, undefined);
  });

  it('are in the audit log, which names the operator whose token was used', async () => {
    const made = (await api.ask('POST', '/admin/tokens', adminToken, { name: 'dana' })).json;
    assert.match(made.token, /^rla_/);
    assert.equal((await api.ask('POST', '/admin/tokens', adminToken, { name: 'dana' })).status, 409);
    assert.equal((await api.ask('PATCH', '/admin/companies/other', made.token, { name: 'By Dana' })).status, 200);
    const listed = (await api.ask('GET', '/admin/tokens', made.token)).text;
    assert.ok(listed.includes('dana') && !listed.includes(made.token));
    const [entry] = (await api.ask('GET', '/admin/audit?companyId=other', adminToken)).json.entries;
    assert.deepEqual(entry.actor, { kind: 'admin', adminTokenId: made.adminTokenId, name: 'dana' });
    assert.equal((await api.ask('DELETE', `/admin/tokens/${made.adminTokenId}`, adminToken)).status, 204);
    assert.equal((await api.ask('GET', '/admin/companies', made.token)).status, 401);
    assert.equal((await api.ask('GET', '/admin/companies', adminToken)).status, 200);
  });

  it('are in the audit log for a test notice, too', async () => {
    await api.ask('POST', '/admin/companies/acme/notices/test', keys.manage, {}); // Without Temporal, no notice is sent.
    const [{ action, actor }] = (await api.ask('GET', '/admin/audit?companyId=acme', adminToken)).json.entries;
    assert.deepEqual([action, actor.name], ['notices.test', 'manage']);
  });

  it('that are refused are logged and counted by reason, with few lines for each address, and never with a credential', async () => {
    const fresh = await wholeApi();
    await fresh.store.companies.put('acme', () => ({ companyId: 'acme', name: 'Acme' }), admin);
    const rule = await fresh.store.rules.create('acme', { name: 'Rule', onFailure: 'hold', onUnknown: 'resend' }, admin);
    assert.ok(typeof rule === 'object');
    const { relayId } = rule.rule;
    const chain = (id: string, relayAccessToken: string) => [{ action: 'sendEmails', relayId: id, relayAccessToken }];
    const sent = ['wrong-token-of-somebody', rule.relayAccessToken, 'rlk_guess'] as const;
    await fresh.ask('POST', '/co/acme/relay', undefined, chain(relayId, sent[0]));
    await fresh.ask('POST', '/co/acme/relay', undefined, chain('123', sent[1]));
    await fresh.ask('GET', '/admin/companies/acme');
    for (let n = 0; n < 20; n += 1) assert.equal((await fresh.ask('GET', '/chains', sent[2])).status, 401);

    const failures = fresh.logged().filter(({ msg }) => msg === 'an authentication failed');
    assert.deepEqual(
      failures.slice(0, 3).map(({ address, reason, companyId, relayId }) => [address, reason, companyId, relayId]),
      [
        ['127.0.0.1', 'wrong token', 'acme', relayId],
        ['127.0.0.1', 'unknown rule', 'acme', '123'],
        ['127.0.0.1', 'no credential', 'acme', undefined],
      ],
    );
    assert.ok(failures.length <= 10, 'five a minute, and two minutes at most');
    for (const secret of sent) assert.ok(!JSON.stringify(fresh.logged()).includes(secret), secret);
    const counted = (await fresh.ask('GET', '/metrics', adminToken)).text;
    assert.match(counted, /relay_failed_authentications_total\{reason="wrong credential"\} 20\n/);
    await fresh.close();
  });

  it('that are refused are logged without a credential that a caller put into the path', async (t) => {
    const fresh = await wholeApi();
    t.after(() => fresh.close());
    await fresh.store.companies.put('acme', () => ({ companyId: 'acme', name: 'Acme' }), admin);
    const reader = await fresh.store.keys.create('acme', 'reader', admin, { role: 'read' });
    assert.ok(typeof reader === 'object');
    for (const prefix of ['rlk_', 'rla_', 'rlt_']) {
      const misplaced = `${prefix}${'x'.repeat(36)}`;
      await fresh.ask('POST', `/co/${misplaced}/relay`, undefined, []);
      await fresh.ask('GET', `/admin/companies/${misplaced}`);
      await fresh.ask('PUT', `/admin/companies/${misplaced}`, adminToken, { name: 'x', notify: { emails: ['a@example.com'] } });
      await fresh.ask('POST', `/co/acme/chains/${misplaced}/cancel`, reader.key);
    }
    for (let n = 0; n <= failuresPerMinute; n += 1) await fresh.ask('GET', '/co/rlk_misplaced/chains');
    const messages = new Set(fresh.logged().map(({ msg }) => msg));
    for (const message of ['an authentication failed', 'request answered', 'a limit is reached: requests are refused'])
      assert.ok(messages.has(message), message);
    assert.doesNotMatch(JSON.stringify(fresh.logged()), /rl[kat]_/);
  });
});
