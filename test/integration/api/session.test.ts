import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { Hono } from 'hono';
import { adminRoutes } from '../../../src/api/app.js';
import { Callers, createGuard } from '../../../src/api/bearer-authentication.js';
import { Limits, limitFailures, wrongSignInsPerMinute } from '../../../src/api/limits.js';
import { answerProblems } from '../../../src/api/problems.js';
import { appOf, route } from '../../../src/api/route.js';
import { sayOnSignInPage, sessionRoutes } from '../../../src/api/session.js';
import { createLog } from '../../../src/service/telemetry.js';
import type { Database } from '../../../src/store/database.js';
import { mostSessions, sessionsIn } from '../../../src/store/sessions.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { type LocalApi, serve } from '../../cli/local-api.js';
import { forgetful } from '../../hostile/api.js';
import { openEmptied } from '../../store/emptied.js';

const adminToken = 'the-admin-token';
const by = { kind: 'admin' } as const;

describe('a session', () => {
  let database: Database;
  let store: Store;
  let api: LocalApi;
  const key = { key: '', keyId: '' };
  before(async () => {
    database = await openEmptied();
    store = createStore(database);
    for (const companyId of ['acme', 'other']) await store.companies.put(companyId, () => ({ companyId, name: companyId }), by);
  });
  after(() => store.close());
  beforeEach(async () => {
    api = await serving();
    Object.assign(key, await store.keys.create('acme', `key of ${performance.now()}`, by));
  });
  const opened: LocalApi[] = [];
  after(() => Promise.all(opened.map((api) => api.close())));

  async function serving(options: { adminToken?: string; secret?: string; url?: string } = {}): Promise<LocalApi> {
    const callers = new Callers({ adminToken, store, links: { api: options.url ?? 'http://127.0.0.1' }, ...options });
    const chains = route.company('GET /co/:companyId/chains', 'listChains', '', {
      answers: {},
      handle: (c, { actor }) => c.json(actor),
    });
    const limits = new Limits({ perMinute: 600, log: createLog('silent') });
    const routes = appOf(
      [...sessionRoutes(callers), ...adminRoutes({ store, client: forgetful, links: { api: '' }, taskQueue: 'q' }), chains],
      createGuard(callers),
    );
    const app = answerProblems(new Hono(), assert.ifError).use('/sign-in', sayOnSignInPage()).use(limitFailures(limits));
    const served = await serve(app.route('/', routes));
    opened.push(served);
    return served;
  }

  function ask(method: string, path: string, headers: Record<string, string> = {}, body?: string | URLSearchParams, at = api) {
    return fetch(at.url + path, { method, headers, redirect: 'manual', ...(body !== undefined && { body }) });
  }
  const signIn = (credential: string, at = api) =>
    ask('POST', '/session', { 'Content-Type': 'application/json' }, JSON.stringify({ credential }), at);
  const cookieOf = (response: Response) => response.headers.getSetCookie().at(-1)?.split(';')[0] ?? '';
  async function signedIn(credential = adminToken, at = api) {
    const response = await signIn(credential, at);
    assert.equal(response.status, 201, await response.text());
    return { cookie: cookieOf(response), ownPage: { Cookie: cookieOf(response), 'Sec-Fetch-Site': 'same-origin' } };
  }
  const statusBy = async (cookie: string, path = '/admin/companies', at = api) =>
    (await ask('GET', path, { Cookie: cookie }, undefined, at)).status;

  it('has the rights of its admin token or key, and no more', async () => {
    const admin = await signedIn();
    const { cookie } = await signedIn(key.key);
    assert.deepEqual(
      [
        await statusBy(admin.cookie),
        await statusBy(admin.cookie, '/co/acme/chains'),
        await statusBy(cookie),
        await statusBy(cookie, '/co/acme/chains'),
        await statusBy(cookie, '/co/other/chains'),
        await statusBy(''),
      ],
      [200, 200, 401, 200, 401, 401],
    );
  });

  it('is a cookie that scripts cannot read, that other sites cannot send, and that holds no credential', async () => {
    const plain = (await signIn(key.key)).headers.getSetCookie().at(-1) ?? '';
    assert.match(plain, /^relay-session=[^;]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/);
    assert.ok(!decodeURIComponent(plain).includes(key.key));
    const behindTls = (await signIn(key.key, await serving({ url: 'https://relay.example.com' }))).headers.getSetCookie().at(-1);
    assert.match(behindTls ?? '', /^__Host-relay-session=[^;]+; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  });

  it('is valid only with its signature, which needs the secret and the admin token of the service', async () => {
    const { cookie } = await signedIn();
    const forged = cookie.replace(/\.[^.]*$/, `.${encodeURIComponent(`${'A'.repeat(43)}=`)}`);
    assert.notEqual(forged, cookie);
    assert.equal(await statusBy(forged), 401);
    assert.equal(await statusBy(cookie.replace(/\.[^.]*$/, '')), 401);
    assert.equal(await statusBy(cookie, undefined, await serving()), 200); // another process
    assert.equal(await statusBy(cookie, undefined, await serving({ secret: 'x'.repeat(32) })), 401);
    const several = await serving({ secret: `${'x'.repeat(32)},${'y'.repeat(32)}` });
    const bySecret = (await signedIn(undefined, several)).cookie;
    assert.equal(await statusBy(bySecret, undefined, await serving({ secret: 'x'.repeat(32) })), 200);
    assert.equal(await statusBy(bySecret, undefined, await serving({ secret: 'y'.repeat(32) })), 401);
    assert.equal(await statusBy(cookie, undefined, await serving({ adminToken: 'another-admin-token' })), 401);
  });

  describe('ends', () => {
    const ends: [how: string, end: (cookie: string) => Promise<unknown>][] = [
      ['by signing out', (cookie) => ask('DELETE', '/session', { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' })],
      ['with its key', () => store.keys.delete('acme', key.keyId, by)],
      ['with the company of its key', () => store.companies.delete('acme', by)],
      ['an hour after its last use', () => database.query("UPDATE sessions SET seen_at = now() - interval '61 minutes'")],
      ['twelve hours after it began', () => database.query("UPDATE sessions SET created_at = now() - interval '721 minutes'")],
      ['when its key expires', () => database.query('UPDATE company_keys SET expires_at = now()')],
    ];
    for (const [how, end] of ends)
      it(how, async () => {
        const { cookie } = await signedIn(key.key);
        assert.equal(await statusBy(cookie, '/session'), 200);
        await end(cookie);
        assert.equal(await statusBy(cookie, '/session'), 401);
        await store.companies.put('acme', () => ({ companyId: 'acme', name: 'acme' }), by);
      });
  });

  it('ends when its key has fifty newer sessions', async () => {
    const first = await signedIn(key.key);
    const other = await signedIn(((await store.keys.create('other', `key of ${performance.now()}`, by)) as { key: string }).key);
    const caller = { kind: 'key', ...key, name: 'k', companyId: 'acme', role: 'steer' } as const;
    for (let n = 1; n < mostSessions; n += 1) await store.sessions.begin(caller);
    assert.equal(await statusBy(first.cookie, '/session'), 200);
    await store.sessions.begin(caller);
    assert.deepEqual([await statusBy(first.cookie, '/session'), await statusBy(other.cookie, '/session')], [401, 200]);
  });

  it('that has ended is deleted at a cleanup once a minute, not at every sign-in', async () => {
    const asked: string[] = [];
    const query: Database['query'] = (text, parameters) => {
      asked.push(text);
      return database.query(text, parameters);
    };
    const sessions = sessionsIn({ ...database, query });
    for (let n = 0; n < 3; n += 1) await sessions.begin(by);
    assert.equal(asked.filter((text) => /^DELETE FROM sessions WHERE NOT/.test(text)).length, 1);
  });

  it('is extended by use', async () => {
    const { cookie } = await signedIn();
    await database.query("UPDATE sessions SET seen_at = now() - interval '59 minutes'");
    assert.equal(await statusBy(cookie), 200);
    const fresh = "SELECT 1 FROM sessions WHERE seen_at > now() - interval '1 minute'";
    while ((await database.query(fresh)).length === 0);
  });

  it('can change something only from a page of the relay itself', async () => {
    const { cookie } = await signedIn();
    const here = new URL(api.url).host;
    for (const [headers, status] of [
      [{}, 403],
      [{ Origin: 'https://evil.example' }, 403],
      [{ Origin: 'null' }, 403],
      [{ Origin: `http://${here}`, 'Sec-Fetch-Site': 'cross-site' }, 403],
      [{ 'Sec-Fetch-Site': 'same-site' }, 403],
      [{ 'Sec-Fetch-Site': 'none' }, 403],
      [{ 'Sec-Fetch-Site': 'same-origin' }, 200],
      [{ Origin: `http://${here}` }, 200],
      [{ Origin: `https://${here}` }, 200], // behind a TLS proxy
    ] as [Record<string, string>, number][]) {
      const asked = { Cookie: cookie, 'Content-Type': 'application/json', ...headers };
      const response = await ask(
        'PATCH',
        '/admin/companies/other',
        asked,
        '{"name":"Other","notify":{"emails":["a@b.example"]}}',
      );
      assert.equal(response.status, status, `${JSON.stringify(headers)}: ${await response.text()}`);
    }
    const bearer = { Authorization: `Bearer ${adminToken}`, Origin: 'https://evil.example', 'Content-Type': 'application/json' };
    assert.equal((await ask('PATCH', '/admin/companies/other', bearer, '{"name":"Other"}')).status, 200);
  });

  it('starts with valid credentials, even if a stranger behind the same proxy has failed; a stranger has five tries a minute', async () => {
    assert.equal(wrongSignInsPerMinute, 5);
    for (let n = 0; n < wrongSignInsPerMinute; n += 1) assert.equal((await signIn('rlk_wrong')).status, 401);
    const byForm = () =>
      ask('POST', '/sign-in', { 'Sec-Fetch-Site': 'same-origin' }, new URLSearchParams({ credential: 'rlk_wrong' }));
    for (const refused of [await signIn('rlk_wrong'), await byForm()]) {
      assert.equal(refused.status, 429);
      assert.match(refused.headers.get('Retry-After') ?? '', /^[1-9]\d*$/);
      assert.match(await refused.text(), /more than 5 a minute/);
    }
    assert.equal((await signIn(key.key)).status, 201);
    const bearer = { Authorization: 'Bearer rlk_wrong' };
    assert.equal((await ask('GET', '/co/acme/chains', bearer)).status, 401, 'as for what is no attempt to sign in');
  });

  describe('through the page /sign-in', () => {
    const form = (path: string, headers: Record<string, string>, fields: Record<string, string> = {}) =>
      ask('POST', path, headers, new URLSearchParams(fields));
    const ownPage = { 'Sec-Fetch-Site': 'same-origin' };

    it('starts and ends without a script', async () => {
      const page = await ask('GET', '/sign-in');
      assert.match(page.headers.get('Content-Security-Policy') ?? '', /^default-src 'none'; .*form-action 'self'/);
      const html = await page.text();
      assert.match(html, /<form method="post" action="\/sign-in">/);
      // A password field hides the text, and works with password managers and pasting.
      assert.match(html, /<input name="credential" type="password" autocomplete="current-password"/);
      const begun = await form('/sign-in', ownPage, { credential: key.key });
      assert.deepEqual([begun.status, begun.headers.get('Location')], [303, '/']);
      const cookie = { Cookie: cookieOf(begun) };
      const text = await (await ask('GET', '/sign-in', cookie)).text();
      assert.match(text, /The company is acme\..*action="\/sign-out"/s);
      assert.equal((await form('/sign-out', { ...ownPage, ...cookie })).status, 303);
      assert.doesNotMatch(await (await ask('GET', '/sign-in', cookie)).text(), /acme/);
    });

    it('leads to the requested page of the console, and never to another site', async () => {
      const cases: [to: string, location: string][] = [
        ['/companies/acme/chains?status=failed&relayId=1', '/companies/acme/chains?status=failed&relayId=1'],
        ['/companies', '/companies'],
        ['/web-ui/workflows?query=a%3D1', '/web-ui/workflows?query=a%3D1'],
        ['//evil.example/companies', '/'],
        ['/\\evil.example/companies', '/'],
        ['/\t/evil.example/companies', '/'],
        ['https://evil.example/companies', '/'],
        ['/companies/..//evil.example', '/'],
        ['javascript:alert(1)', '/'],
        ['/companiesx', '/'],
        ['/web-uix', '/'],
        ['/admin/companies', '/'],
        ['', '/'],
      ];
      for (const [to, location] of cases) {
        const begun = await form('/sign-in', ownPage, { credential: key.key, to });
        assert.deepEqual([begun.status, begun.headers.get('Location')], [303, location], to);
        const again = await ask('GET', `/sign-in?to=${encodeURIComponent(to)}`, { Cookie: cookieOf(begun) });
        assert.deepEqual([again.status, again.headers.get('Location')], [302, location], to);
      }
      const page = await (await ask('GET', '/sign-in?to=%2Fcompanies%2Facme%3Fa%3D%22%3E')).text();
      assert.match(page, /<input name="to" type="hidden" value="\/companies\/acme\?a=%22%3E">/);
      const wrong = await form('/sign-in', ownPage, { credential: 'rlk_mistyped', to: '/companies/acme' });
      assert.match(await wrong.text(), /value="\/companies\/acme"/);
    });

    it('says that a key is wrong, without showing it', async () => {
      const refused = await form('/sign-in', ownPage, { credential: 'rlk_mistyped' });
      assert.deepEqual([refused.status, refused.headers.getSetCookie()], [401, []]);
      const text = await refused.text();
      assert.match(text, /role="alert"/);
      assert.ok(!text.includes('rlk_mistyped'));
    });

    it('says that there were too many tries, and when to try again', async () => {
      for (let n = 0; n < wrongSignInsPerMinute; n += 1) await form('/sign-in', ownPage, { credential: 'rlk_mistyped' });
      const refused = await form('/sign-in', ownPage, { credential: 'rlk_mistyped', to: '/companies/acme' });
      assert.deepEqual([refused.status, refused.headers.get('Content-Type')], [429, 'text/html; charset=UTF-8']);
      const text = await refused.text();
      assert.ok(text.includes(`Try again in ${refused.headers.get('Retry-After')} seconds`), text);
      assert.match(text, /role="alert".*more than 5 a minute.*value="\/companies\/acme".*name="credential"/s);
      const large = await form('/sign-in', ownPage, { credential: 'x'.repeat(300_000) });
      assert.equal(large.status, 413);
      assert.match(await large.text(), /role="alert".*at most 256 KiB/s);
    });

    it('cannot be started by another site', async () => {
      const refused = await form('/sign-in', { 'Sec-Fetch-Site': 'cross-site' }, { credential: key.key });
      assert.deepEqual([refused.status, refused.headers.getSetCookie()], [403, []]);
    });
  });
});
