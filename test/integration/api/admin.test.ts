import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Hono } from 'hono';
import { adminRoutes } from '../../../src/api/app.js';
import { type Authenticated, Callers, createGuard } from '../../../src/api/bearer-authentication.js';
import { answerProblems } from '../../../src/api/problems.js';
import { appOf } from '../../../src/api/route.js';
import type { Company } from '../../../src/contract/company.js';
import { createStore, type Store } from '../../../src/store/store.js';
import { forgetful } from '../../hostile/api.js';
import { testDatabases } from '../../store/databases.js';

const adminToken = 'the-admin-token';
const notify = { emails: ['ops@example.com'] };

for (const { name, open, skip } of testDatabases) {
  describe(`admin API on ${name}`, { skip }, () => {
    let store: Store;
    let app: Hono;
    const unexpected: Error[] = [];
    before(async () => {
      store = createStore(await open());
      app = appWith();
    });
    after(async () => {
      await store.close();
      assert.deepEqual(unexpected, []);
    });

    const callers = (token: string) => new Callers({ adminToken: token, store, links: { api: '' } });
    function appWith(operatorEmail?: string, token = adminToken): Hono {
      const routes = appOf(
        adminRoutes({ store, operatorEmail, client: forgetful, links: { api: '' }, taskQueue: 'q' }),
        createGuard(callers(token)),
      );
      return answerProblems(new Hono(), (error) => unexpected.push(error)).route('/', routes);
    }

    async function ask(method: string, path: string, body?: unknown, on = app, token = adminToken, type = 'application/json') {
      const response = await on.request(path, {
        method,
        headers: { Authorization: `Bearer ${token}`, ...(body !== undefined && { 'Content-Type': type }) },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields of the answers.
      const json: any = text === '' ? undefined : JSON.parse(text);
      if (response.status >= 400) {
        assert.equal(response.headers.get('Content-Type'), 'application/problem+json', text);
        assert.equal(json.status, response.status);
        assert.match(json.type, /^\/problems\/[a-z-]+$/);
      }
      return { status: response.status, headers: response.headers, json, text };
    }
    const put = (id: string, body: unknown) => ask('PUT', `/admin/companies/${id}`, body);
    async function company(id: string, settings: object = {}) {
      const { status, text } = await put(id, { name: id, notify, ...settings });
      assert.equal(status, 201, text);
    }
    async function rule(id: string, settings: object = {}) {
      const { status, json, text } = await ask('POST', `/admin/companies/${id}/rules`, { name: 'Alert', ...settings });
      assert.equal(status, 201, text);
      return json;
    }
    async function stored(id: string): Promise<Company> {
      return (await store.companies.get(id)) ?? assert.fail();
    }
    const pointers = ({ json }: { json: { errors?: { pointer: string }[] } }) => json.errors?.map(({ pointer }) => pointer);

    describe('authentication', () => {
      it('is checked on every path, before 404, 405, 413 and 415', async () => {
        for (const [method, path] of [
          ['GET', '/admin/companies'],
          ['GET', '/admin/companies/nobody'],
          ['POST', '/admin/companies'],
          ['GET', '/admin/no/such/path'],
          ['PUT', '/admin/companies/x'],
        ] as const) {
          for (const token of ['wrong', `${adminToken}x`, adminToken.slice(1)]) {
            const { status, headers } = await ask(method, path, method === 'PUT' ? 'x'.repeat(300_000) : undefined, app, token);
            assert.equal(status, 401);
            assert.match(headers.get('WWW-Authenticate') ?? '', /^Bearer/);
          }
        }
        assert.equal((await app.request('/admin/companies')).status, 401);
        assert.equal((await app.request('/admin/companies', { headers: { Authorization: `Basic ${adminToken}` } })).status, 401);
      });

      it('does not start with an empty admin token', () => {
        assert.throws(() => appWith(undefined, ''), /RELAY_ADMIN_TOKEN/);
      });

      it('accepts a key only for its own company, on the routes that accept keys', async () => {
        await company('own');
        await company('foreign');
        const { key, keyId } = (await ask('POST', '/admin/companies/own/keys', { name: 'console' })).json;
        const chains = answerProblems(new Hono<Authenticated>(), (error) => unexpected.push(error))
          .use('/co/:companyId/chains', createGuard(callers(adminToken))('admin or company key'))
          .get('/co/:companyId/chains', (c) => c.json(c.get('actor')));
        const as = async (path: string, token: string) => {
          const response = await chains.request(path, { headers: { Authorization: `Bearer ${token}` } });
          return [response.status, response.status === 200 ? await response.json() : undefined];
        };
        assert.deepEqual(await as('/co/own/chains', key), [
          200,
          { kind: 'key', keyId, name: 'console', companyId: 'own', role: 'steer' },
        ]);
        assert.deepEqual(await as('/co/foreign/chains', key), [401, undefined]);
        assert.deepEqual(await as('/co/nobody/chains', key), [401, undefined]);
        assert.deepEqual(await as('/co/own/chains', `${key}x`), [401, undefined]);
        assert.deepEqual(await as('/co/foreign/chains', adminToken), [200, { kind: 'admin' }]);
        assert.equal((await ask('GET', '/admin/companies/own', undefined, app, key)).status, 403);
      });
    });

    describe('requests', () => {
      it('with a wrong form are refused, each with its own problem type', async () => {
        await company('form');
        for (const [method, path, body, status] of [
          ['PUT', '/admin/companies/form', '{"name":', 400],
          ['PUT', '/admin/companies/form', '[]', 400],
          ['PUT', '/admin/companies/form', 'null', 400],
          ['PUT', '/admin/companies/form', '{"name":"a","name":"b"}', 400],
          ['PUT', '/admin/companies/form', '{"name":"a\\u0000b"}', 400],
          ['PUT', '/admin/companies/form', '{"name":"a\\ud800"}', 400],
          ['PUT', '/admin/companies/form', '['.repeat(100_000), 400],
          ['PUT', '/admin/companies/form', `{"notify":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, 400],
          ['PUT', '/admin/companies/form', JSON.stringify({ name: 'x'.repeat(256 * 1024) }), 413],
          ['DELETE', '/admin/companies', undefined, 405],
          ['POST', '/admin/companies/form', '{}', 405],
          ['GET', '/admin/nothing', undefined, 404],
          ['GET', '/admin/companies/%00', undefined, 400],
          ['GET', '/admin/audit?companyId=%00', undefined, 400],
          ['PUT', '/admin/companies/a.b', '{}', 400],
          ['PUT', `/admin/companies/${'a'.repeat(65)}`, '{}', 400],
          ['GET', '/admin/companies?limit=0', undefined, 400],
          ['GET', '/admin/companies?limit=201', undefined, 400],
          ['GET', '/admin/companies/form/rules?cursor=x', undefined, 400],
        ] as const) {
          assert.equal((await ask(method, path, body)).status, status, `${method} ${path} ${body?.slice(0, 20)}`);
        }
        const headers = { Authorization: `Bearer ${adminToken}` };
        const send = (body: RequestInit['body'], type: string) =>
          app.request('/admin/companies/form', {
            method: 'PUT',
            headers: { ...headers, 'Content-Type': type },
            body: body ?? null,
          });
        const good = JSON.stringify({ name: 'Form', notify });
        assert.equal((await send(good, 'text/plain')).status, 415);
        assert.equal((await send(good, 'application/jsonp')).status, 415);
        assert.equal((await send(good, 'application/json; charset=utf-8')).status, 200);
        assert.equal((await send(Buffer.from('{"name":"\xff"}', 'latin1'), 'application/json')).status, 400);
        const wrong = await ask('DELETE', '/admin/companies');
        assert.equal(wrong.headers.get('Allow'), 'GET, HEAD');
      });

      it('get all their mistakes in one answer, each with its place, and without their secrets', async () => {
        const refused = await put('mistakes', {
          Name: 'x',
          timeZone: 'Mars/Olympus',
          notify: { emails: ['ada@example.com', 'nonsense'], email: 'x' },
          platform: { kind: 'http', baseUrl: 'https://user:s3cret@p.example.com?x=1', auth: { type: 'bearer' } },
          ticketing: {
            kind: 'http',
            baseUrl: 'ftp://t.example.com',
            auth: { type: 'headers', headers: { 'a/b~': 's3cret', c: 1 } },
          },
          mail: { from: 'nobody', smtpUrl: 'http://user:s3cret@mail.example.com' },
        });
        assert.equal(refused.status, 400);
        assert.deepEqual(
          new Set(pointers(refused)),
          new Set([
            '/Name',
            '/name',
            '/timeZone',
            '/notify/email',
            '/notify/emails/1',
            '/platform/auth/token',
            '/ticketing/baseUrl',
            '/ticketing/auth/headers/a~1b~0',
            '/ticketing/auth/headers/c',
            '/mail/from',
            '/mail/smtpUrl',
          ]),
        );
        assert.ok(!refused.text.includes('s3cret'));
        const more = await put('mistakes', {
          name: 'x',
          notify: { emails: ['ada@example.com', 'nonsense'] },
          platform: { kind: 'http', baseUrl: 'https://user:s3cret@p.example.com?x=1' },
        });
        assert.deepEqual(pointers(more), ['/notify/emails/1', '/platform/baseUrl', '/platform/baseUrl']);
        const platform = { kind: 'http', baseUrl: 'http://no host/' };
        assert.deepEqual(pointers(await put('mistakes', { name: 'x', notify, platform })), ['/platform/baseUrl']);
        assert.equal((await ask('GET', '/admin/companies/mistakes')).status, 404);
      });

      it('with control characters are refused', async () => {
        for (const [body, pointer] of [
          [{ name: 'a\tb', notify }, '/name'],
          [{ name: 'x', notify, mail: { from: 'Ada\r\nBcc: x@y.z <ada@example.com>' } }, '/mail/from'],
          [
            {
              name: 'x',
              notify,
              platform: { kind: 'http', baseUrl: 'http://p', auth: { type: 'headers', headers: { A: 'x\r\nB: y' } } },
            },
            '/platform/auth/headers/A',
          ],
        ] as const) {
          const refused = await put('control', body);
          assert.deepEqual([refused.status, pointers(refused)], [400, [pointer]]);
        }
      });
    });

    it("that set a system's credentials need an https address, an address of this machine, or allowPlainText", async () => {
      const auth = { type: 'bearer', token: 's3cret' };
      const at = (baseUrl: string, more = {}) => ({ kind: 'http', baseUrl, ...more });
      for (const [platform, status] of [
        [at('http://p.example.com', { auth }), 400],
        [at('http://10.0.0.5:8080', { auth }), 400],
        [at('http://localhost.example.com', { auth }), 400],
        [at('http://p.example.com', { auth, allowPlainText: true }), 200],
        [at('http://p.example.com'), 200],
        [at('https://p.example.com', { auth }), 200],
        [at('http://127.0.0.1:8090', { auth }), 200],
        [at('http://localhost:8090', { auth }), 200],
      ] as const) {
        const id = `plain-${status}-${Math.random().toString(36).slice(2)}`;
        await company(id);
        const answer = await put(id, { name: id, ticketing: platform });
        assert.equal(answer.status, status, JSON.stringify(platform));
        if (status === 400) assert.deepEqual(pointers(answer), ['/ticketing/baseUrl']);
      }
      // An address stored before this rule keeps working, and the other settings can still be changed.
      const old = {
        companyId: 'plain-old',
        name: 'Old',
        notify,
        platform: at('http://p.example.com', { auth }) as Company['platform'],
      };
      await store.companies.put('plain-old', () => old, { kind: 'admin' });
      assert.equal((await put('plain-old', { name: 'New' })).status, 200);
      const moved = await ask('PATCH', '/admin/companies/plain-old', { platform: { baseUrl: 'http://p.example.com/v2' } });
      assert.deepEqual([moved.status, pointers(moved)], [400, ['/platform/baseUrl']]);
      assert.equal((await ask('PATCH', '/admin/companies/plain-old', { platform: { allowPlainText: true } })).status, 200);
    });

    it('that set a notice webhook need an https address, or an address of this machine', async () => {
      await company('hooks');
      for (const [webhookUrl, status] of [
        ['http://hooks.example.com/s3cret', 400],
        ['http://10.0.0.5/s3cret', 400],
        ['no URL', 400],
        ['https://hooks.example.com/s3cret', 200],
        ['http://127.0.0.1:8090/s3cret', 200],
      ] as const) {
        const answers = [
          await put('hooks', { name: 'Hooks', notify: { webhookUrl } }),
          await ask('PATCH', '/admin/companies/hooks', { notify: { webhookUrl } }),
        ];
        for (const answer of answers) {
          assert.equal(answer.status, status, webhookUrl);
          if (status === 400) assert.deepEqual(pointers(answer), ['/notify/webhookUrl']);
        }
        if (webhookUrl === 'no URL') {
          const rule = await ask('POST', '/admin/companies/hooks/rules', { name: 'Rule', notify: { webhookUrl } });
          assert.deepEqual([rule.status, pointers(rule)], [400, ['/notify/webhookUrl']]);
        }
      }
    });

    describe('companies', () => {
      it('are created, read, changed, listed and deleted', async () => {
        const made = await put('acme', { name: ' Acme ', timeZone: 'Europe/Berlin', notify });
        assert.equal(made.status, 201);
        assert.equal(made.headers.get('Location'), '/admin/companies/acme');
        const { createdAt, updatedAt, ...shown } = made.json;
        assert.deepEqual(shown, { companyId: 'acme', name: 'Acme', timeZone: 'Europe/Berlin', notify });
        assert.ok(!Number.isNaN(Date.parse(createdAt)) && !Number.isNaN(Date.parse(updatedAt)));
        assert.deepEqual((await ask('GET', '/admin/companies/acme')).json, made.json);
        const changed = await put('acme', { name: 'Acme Ltd' });
        assert.deepEqual([changed.status, changed.json.name, changed.json.timeZone], [200, 'Acme Ltd', 'Europe/Berlin']);
        assert.equal((await put('acme', { name: 'Acme', timeZone: null })).json.timeZone, 'UTC');
        const list = await ask('GET', '/admin/companies?limit=200');
        assert.ok(list.json.companies.some((listed: { companyId: string }) => listed.companyId === 'acme'));
        const deleted = await ask('DELETE', '/admin/companies/acme');
        assert.deepEqual([deleted.status, deleted.text], [204, '']);
        assert.equal((await ask('DELETE', '/admin/companies/acme')).status, 404);
        assert.equal((await ask('GET', '/admin/companies/acme')).status, 404);
      });

      it('cannot have the id of another company, in any letter case; the id of a deleted company needs reuseId=true', async () => {
        await company('Tomb');
        for (const path of ['/admin/companies/tomb', '/admin/companies/TOMB?reuseId=true']) {
          const { status, json } = await ask('PUT', path, { name: 'x', notify });
          assert.deepEqual([status, json.type], [409, '/problems/company-id-used'], path);
          assert.match(json.detail, /company Tomb/);
        }
        assert.equal((await put('Tomb', { name: 'Changed' })).status, 200);
        assert.equal((await ask('DELETE', '/admin/companies/Tomb')).status, 204);
        for (const id of ['Tomb', 'tomb']) {
          const { status, json } = await put(id, { name: 'New tenant', notify });
          assert.deepEqual([status, json.type], [409, '/problems/company-id-used'], id);
          assert.match(json.detail, /was deleted at .*reuseId=true/);
        }
        assert.equal(await store.companies.get('Tomb'), undefined);
        assert.equal((await ask('PUT', '/admin/companies/Tomb?reuseId=true', { name: 'Again', notify })).status, 201);
        const both = await Promise.all(['race', 'RACE'].map((id) => put(id, { name: id, notify })));
        assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
      });

      it('are listed with a cursor', async () => {
        for (const id of ['page-1', 'page-2', 'page-3']) await company(id);
        const ids: string[] = [];
        let path: string | undefined = '/admin/companies?limit=2';
        while (path !== undefined) {
          const { json } = await ask('GET', path);
          ids.push(...json.companies.map(({ companyId }: { companyId: string }) => companyId));
          path = json.nextCursor === undefined ? undefined : `/admin/companies?limit=2&cursor=${json.nextCursor}`;
        }
        assert.ok(['page-1', 'page-2', 'page-3'].every((id) => ids.filter((listed) => listed === id).length === 1));
      });

      it('need a contact for notices, unless there is an operator address', async () => {
        for (const body of [
          { name: 'x' },
          { name: 'x', notify: {} },
          { name: 'x', notify: { emails: [] } },
          { name: 'x', notify: null },
        ]) {
          const refused = await put('alone', body);
          assert.deepEqual([refused.status, pointers(refused)], [400, ['/notify']]);
          assert.match(refused.json.detail, /RELAY_OPERATOR_EMAIL/);
        }
        assert.equal((await put('alone', { name: 'x', notify: { webhookUrl: 'https://hooks.example.com/1' } })).status, 201);
        assert.equal((await put('alone', { name: 'x', notify: null })).status, 400);
        const withOperator = appWith('operator@example.com');
        assert.equal((await ask('PUT', '/admin/companies/alone2', { name: 'x' }, withOperator)).status, 201);
      });
    });

    describe('secrets', () => {
      const bearer = { kind: 'http', baseUrl: 'https://p.example.com/v1', auth: { type: 'bearer', token: 's3cret-1' } };
      const basic = {
        kind: 'http',
        baseUrl: 'https://t.example.com',
        auth: { type: 'basic', username: 'ada', password: 's3cret-2' },
      };
      const secrets = {
        notify: { emails: ['ops@example.com'], webhookUrl: 'https://hooks.example.com/services/s3cret-3' },
        platform: bearer,
        ticketing: basic,
        mail: { from: 'Ada <ada@example.com>', smtpUrl: 'smtps://s3cret-4:s3cret-5@mail.example.com:465' },
      };

      it('are never shown', async () => {
        const made = await put('hidden', { name: 'Hidden', ...secrets });
        const read = await ask('GET', '/admin/companies/hidden');
        assert.deepEqual(read.json.platform, { ...bearer, auth: { type: 'bearer', token: '***' } });
        assert.deepEqual(read.json.ticketing, { ...basic, auth: { type: 'basic', username: 'ada', password: '***' } });
        assert.deepEqual(read.json.notify, { emails: ['ops@example.com'], webhookUrl: 'https://hooks.example.com/***' });
        assert.deepEqual(read.json.mail, { from: 'Ada <ada@example.com>', smtpUrl: 'smtps://***@mail.example.com:465' });
        const audit = await ask('GET', '/admin/audit?limit=200');
        const list = await ask('GET', '/admin/companies?limit=200');
        for (const { text } of [made, read, audit, list]) assert.ok(!text.includes('s3cret'));
      });

      it('stay stored when an answer is sent back unchanged', async () => {
        await company('echo', secrets);
        const before = await stored('echo');
        const { createdAt, updatedAt, companyId, ...shown } = (await ask('GET', '/admin/companies/echo')).json;
        assert.equal((await put('echo', shown)).status, 200);
        const { updatedAt: now, ...echoed } = await store.companies.get('echo').then((found) => found ?? assert.fail());
        assert.deepEqual({ ...echoed, updatedAt: undefined }, { ...before, updatedAt: undefined });
      });

      const cases: { title: string; change: object; expected: Partial<Record<keyof typeof secrets, unknown>> }[] = [
        { title: 'omitted sections stay', change: {}, expected: secrets },
        {
          title: 'null removes a section',
          change: { platform: null, mail: null },
          expected: { platform: undefined, mail: undefined },
        },
        {
          title: 'omitted auth stays with the same host',
          change: { platform: { kind: 'http', baseUrl: 'https://p.example.com/v2' } },
          expected: { platform: { ...bearer, baseUrl: 'https://p.example.com/v2' } },
        },
        {
          title: 'auth: null removes it, for any host',
          change: { platform: { kind: 'http', baseUrl: 'https://q.example.com', auth: null } },
          expected: { platform: { kind: 'http', baseUrl: 'https://q.example.com' } },
        },
        {
          title: 'auth sent in full may go to another host',
          change: { platform: { ...bearer, baseUrl: 'https://q.example.com', auth: { type: 'bearer', token: 'new' } } },
          expected: { platform: { ...bearer, baseUrl: 'https://q.example.com', auth: { type: 'bearer', token: 'new' } } },
        },
        {
          title: 'an omitted password stays with a new user name',
          change: { ticketing: { ...basic, auth: { type: 'basic', username: 'bob' } } },
          expected: { ticketing: { ...basic, auth: { type: 'basic', username: 'bob', password: 's3cret-2' } } },
        },
        {
          title: 'an omitted webhook stays, other fields are replaced',
          change: { notify: { emails: [] } },
          expected: { notify: { emails: [], webhookUrl: secrets.notify.webhookUrl } },
        },
        { title: 'a webhook is removed by null', change: { notify: { ...notify, webhookUrl: null } }, expected: { notify } },
        {
          title: 'an omitted mail server stays, a sender is removed',
          change: { mail: {} },
          expected: { mail: { smtpUrl: secrets.mail.smtpUrl } },
        },
        {
          title: 'a mail server is removed by null',
          change: { mail: { from: 'b@example.com', smtpUrl: null } },
          expected: { mail: { from: 'b@example.com' } },
        },
      ];
      for (const [index, { title, change, expected }] of cases.entries()) {
        it(title, async () => {
          const id = `kept-${index}`;
          await company(id, secrets);
          const { status, text } = await put(id, { name: 'Kept', ...change });
          assert.equal(status, 200, text);
          const now: Company = await stored(id);
          const { notify, platform, ticketing, mail } = now;
          const sections = { notify, platform, ticketing, mail };
          assert.deepEqual(sections, { ...sections, ...secrets, ...expected });
        });
      }

      const refusals: { title: string; change: object; pointer: string }[] = [
        {
          title: 'to another host, auth left out',
          change: { platform: { kind: 'http', baseUrl: 'https://evil.example.com' } },
          pointer: '/platform/auth',
        },
        {
          title: 'to another port, token left out',
          change: { platform: { kind: 'http', baseUrl: 'https://p.example.com:444', auth: { type: 'bearer' } } },
          pointer: '/platform/auth',
        },
        {
          title: 'without encryption',
          change: { platform: { kind: 'http', baseUrl: 'http://p.example.com', auth: { type: 'bearer', token: '***' } } },
          pointer: '/platform/auth',
        },
        {
          title: 'as another type',
          change: { platform: { ...bearer, auth: { type: 'basic', username: 'x' } } },
          pointer: '/platform/auth/password',
        },
        {
          title: 'to another mail server',
          change: { mail: { smtpUrl: 'smtps://***@evil.example.com:465' } },
          pointer: '/mail/smtpUrl',
        },
        {
          title: 'to another webhook host',
          change: { notify: { webhookUrl: 'https://evil.example.com/***' } },
          pointer: '/notify/webhookUrl',
        },
      ];
      for (const [index, { title, change, pointer }] of refusals.entries()) {
        it(`are not kept in a change ${title}`, async () => {
          const id = `refused-${index}`;
          await company(id, secrets);
          const refused = await put(id, { name: 'Refused', ...change });
          assert.deepEqual([refused.status, pointers(refused)], [400, [pointer]]);
          assert.equal((await stored(id)).name, id);
        });
      }

      it('in headers are kept, changed and removed one by one, in any letter case', async () => {
        const headers = { 'X-Keep': 's3cret-1', 'X-Masked': 's3cret-2', 'X-Change': 's3cret-3', 'X-Drop': 's3cret-4' };
        const platform = { kind: 'http', baseUrl: 'https://p.example.com' };
        await company('headers', { platform: { ...platform, auth: { type: 'headers', headers } } });
        const change = { 'x-masked': '***', 'x-change': 'new', 'x-drop': null, 'X-Add': 'added' };
        const { json } = await put('headers', {
          name: 'H',
          platform: { ...platform, auth: { type: 'headers', headers: change } },
        });
        const shown = { 'X-Keep': '***', 'x-masked': '***', 'x-change': '***', 'X-Add': '***' };
        assert.deepEqual(json.platform.auth, { type: 'headers', headers: shown });
        const kept = { 'X-Keep': 's3cret-1', 'x-masked': 's3cret-2', 'x-change': 'new', 'X-Add': 'added' };
        assert.deepEqual((await stored('headers')).platform, { ...platform, auth: { type: 'headers', headers: kept } });
        const unknown = { type: 'headers', headers: { 'X-New': '***' } };
        const refused = await put('headers', { name: 'H', platform: { ...platform, auth: unknown } });
        assert.deepEqual(pointers(refused), ['/platform/auth/headers/X-New']);
      });

      it('stay stored after a merge patch, which changes single fields within sections', async () => {
        await company('patched', secrets);
        const path = '/admin/companies/patched';
        const changed = await ask('PATCH', path, {
          timeZone: 'Europe/Berlin',
          notify: { webhookFormat: 'slack' },
          platform: { baseUrl: 'https://p.example.com/v2' },
          ticketing: { auth: { username: 'bob' } },
          mail: null,
        });
        assert.deepEqual([changed.status, changed.json], [200, (await ask('GET', path)).json]);
        const { name, timeZone, notify, platform, ticketing, mail } = await stored('patched');
        assert.deepEqual(
          { name, timeZone, notify, platform, ticketing, mail },
          {
            name: 'patched',
            timeZone: 'Europe/Berlin',
            notify: { ...secrets.notify, webhookFormat: 'slack' },
            platform: { ...bearer, baseUrl: 'https://p.example.com/v2' },
            ticketing: { ...basic, auth: { ...basic.auth, username: 'bob' } },
            mail: undefined,
          },
        );
        for (const [body, pointer] of [
          [{ platform: { baseUrl: 'https://evil.example.com' } }, '/platform/auth'],
          [{ platform: { auth: { type: 'basic', username: 'x' } } }, '/platform/auth/password'],
          [{ name: null }, '/name'],
          [{ notify: null }, '/notify'],
          [{ companyId: 'x' }, '/companyId'],
        ] as const) {
          const refused = await ask('PATCH', path, body);
          assert.deepEqual([refused.status, pointers(refused)], [400, [pointer]]);
        }
        assert.equal((await ask('PATCH', path, { timeZone: null })).json.timeZone, 'UTC');
        assert.equal((await ask('PATCH', '/admin/companies/patched-nobody', { name: 'x' })).status, 404);
        assert.equal((await ask('GET', '/admin/companies/patched-nobody')).status, 404);
      });

      it('that are sent as masks are refused if no secret is stored', async () => {
        const refused = await put('masks', {
          name: 'Masks',
          notify: { webhookUrl: 'https://hooks.example.com/***' },
          platform: { ...bearer, auth: { type: 'bearer', token: '***' } },
          mail: { smtpUrl: 'smtp://***@mail.example.com' },
        });
        assert.deepEqual(new Set(pointers(refused)), new Set(['/notify/webhookUrl', '/platform/auth/token', '/mail/smtpUrl']));
      });
    });

    describe('rules', () => {
      it('are created, read, changed, listed and deleted; the token is shown once', async () => {
        await company('ruled');
        const made = await ask('POST', '/admin/companies/ruled/rules', { name: 'Alert' });
        assert.equal(made.status, 201);
        const { relayId, relayAccessToken, tokenId, ...rest } = made.json;
        assert.match(relayId, /^\d+$/);
        assert.match(tokenId, /^\w+$/);
        assert.equal(made.headers.get('Location'), `/admin/companies/ruled/rules/${relayId}`);
        assert.equal(made.headers.get('Cache-Control'), 'no-store');
        assert.ok((await store.tokens.authenticate('ruled', [{ relayId, relayAccessToken }])).ok);
        const path = `/admin/companies/ruled/rules/${relayId}`;
        const read = await ask('GET', path);
        assert.deepEqual(read.json, { relayId, ...rest });
        const list = await ask('GET', '/admin/companies/ruled/rules');
        assert.deepEqual(list.json, { rules: [read.json] });
        const change = {
          name: 'Alarm',
          enabled: false,
          onFailure: 'continue',
          onUnknown: 'hold',
          notify: { emails: ['a@example.com'] },
        };
        const changed = await ask('PATCH', path, change);
        assert.deepEqual([changed.status, changed.json], [200, { ...read.json, ...change, updatedAt: changed.json.updatedAt }]);
        assert.deepEqual((await ask('PATCH', path, {})).json.notify, change.notify);
        assert.equal((await ask('PATCH', path, { notify: null })).json.notify, undefined);
        assert.equal((await ask('DELETE', path)).status, 204);
        for (const method of ['GET', 'DELETE']) assert.equal((await ask(method, path)).status, 404);
        assert.equal((await ask('PATCH', path, { name: 'x' })).status, 404);
        for (const { text } of [read, list, changed]) assert.ok(!text.includes(relayAccessToken));
      });

      it('keep the webhook secret of their notify section, as companies do', async () => {
        await company('hooked');
        const { relayId } = await rule('hooked', { notify: { webhookUrl: 'https://hooks.example.com/s3cret' } });
        const path = `/admin/companies/hooked/rules/${relayId}`;
        const changed = await ask('PATCH', path, { notify: { emails: ['a@example.com'] } });
        assert.deepEqual(changed.json.notify, { emails: ['a@example.com'], webhookUrl: 'https://hooks.example.com/***' });
        assert.equal((await store.rules.get('hooked', relayId))?.notify?.webhookUrl, 'https://hooks.example.com/s3cret');
        const type = 'application/merge-patch+json';
        const merged = await ask('PATCH', path, { notify: { webhookFormat: 'slack' } }, app, adminToken, type);
        assert.deepEqual(merged.json.notify, { ...changed.json.notify, webhookFormat: 'slack' });
        assert.deepEqual((await ask('PATCH', path, { notify: {} })).json.notify, { webhookUrl: 'https://hooks.example.com/***' });
      });

      it('accept an existing id and token of any form', async () => {
        await company('taken');
        const given = { relayId: '00042', relayAccessToken: 'any "printable" text: ü 𝄞' };
        const made = await rule('taken', given);
        assert.deepEqual([made.relayId, made.relayAccessToken], [given.relayId, given.relayAccessToken]);
        assert.ok((await store.tokens.authenticate('taken', [given])).ok);
        const again = await ask('POST', '/admin/companies/taken/rules', { name: 'Again', relayId: '00042' });
        assert.equal(again.status, 409);
      });

      it('with mistakes are refused', async () => {
        await company('strict');
        const { relayAccessToken } = await rule('strict');
        for (const [body, expected] of [
          [{}, ['/name']],
          [{ name: ' ' }, ['/name']],
          [{ name: 'x', relayId: 'x1' }, ['/relayId']],
          [{ name: 'x', relayId: '1'.repeat(33) }, ['/relayId']],
          [{ name: 'x', relayAccessToken: '' }, ['/relayAccessToken']],
          [{ name: 'x', relayAccessToken: 'fifteen-letters' }, ['/relayAccessToken']],
          [{ name: 'x', relayAccessToken: ' sixteen-letters' }, ['/relayAccessToken']],
          [{ name: 'x', relayAccessToken: 'sixteen\tletters' }, ['/relayAccessToken']],
          [{ name: 'x', relayAccessToken: 'x'.repeat(513) }, ['/relayAccessToken']],
          [{ name: 'x', relayAccessToken: relayAccessToken.slice(0, -1) }, ['/relayAccessToken']],
          [{ name: 'x', onFailure: 'stop', onUnknown: 1, enabled: true }, ['/onFailure', '/onUnknown', '/enabled']],
          [{ name: 'x', notify: { emails: ['x'] } }, ['/notify/emails/0']],
        ] as const) {
          const refused = await ask('POST', '/admin/companies/strict/rules', body);
          assert.deepEqual([refused.status, pointers(refused)], [400, expected]);
          assert.ok(!refused.text.includes(relayAccessToken.slice(0, -1)));
        }
        await rule('strict', { relayAccessToken: 'sixteen--letters' });
        for (const path of ['/admin/companies/nobody/rules', '/admin/companies/nobody/keys']) {
          assert.equal((await ask('POST', path, { name: 'x' })).status, 404);
          assert.equal((await ask('GET', path)).status, 404);
        }
      });
    });

    describe('tokens', () => {
      it('are rotated with a grace period, listed and revoked', async () => {
        await company('rotating');
        const { relayId, relayAccessToken: first } = await rule('rotating');
        const path = `/admin/companies/rotating/rules/${relayId}/tokens`;
        const right = async (relayAccessToken: string) =>
          (await store.tokens.authenticate('rotating', [{ relayId, relayAccessToken }])).ok;

        const second = await ask('POST', path, { graceSeconds: 3600 });
        assert.equal(second.status, 201);
        assert.deepEqual(Object.keys(second.json).sort(), ['relayAccessToken', 'tokenId']);
        assert.deepEqual([await right(first), await right(second.json.relayAccessToken)], [true, true]);
        const listed = (await ask('GET', path)).json.tokens;
        assert.deepEqual(
          listed.map(({ tokenId, state, expiresAt }: Record<string, unknown>) => [
            tokenId === second.json.tokenId,
            state,
            typeof expiresAt,
          ]),
          [
            [true, 'active', 'undefined'],
            [false, 'active', 'string'],
          ],
        );

        const beside = (await ask('POST', path, { graceSeconds: null })).json;
        const ends = (await ask('GET', path)).json.tokens.map(({ expiresAt }: Record<string, unknown>) => typeof expiresAt);
        assert.deepEqual(ends, ['undefined', 'undefined', 'string']);
        await ask('DELETE', `${path}/${beside.tokenId}`);

        const third = (await ask('POST', path)).json;
        assert.deepEqual(
          [await right(first), await right(second.json.relayAccessToken), await right(third.relayAccessToken)],
          [false, false, true],
        );
        assert.equal((await ask('DELETE', `${path}/${third.tokenId}`)).status, 204);
        assert.equal((await ask('DELETE', `${path}/${third.tokenId}`)).status, 204);
        assert.equal(await right(third.relayAccessToken), false);
        assert.equal((await ask('DELETE', `${path}/nothing`)).status, 404);
        for (const method of ['GET', 'POST']) {
          assert.equal((await ask(method, '/admin/companies/rotating/rules/404/tokens')).status, 404);
        }
        for (const graceSeconds of [-1, 1.5, '60', 1e12]) {
          assert.deepEqual(pointers(await ask('POST', path, { graceSeconds })), ['/graceSeconds']);
        }
      });
    });

    describe('keys', () => {
      it('are created, listed without the key, and deleted', async () => {
        await company('keyed');
        const made = await ask('POST', '/admin/companies/keyed/keys', { name: 'console' });
        assert.equal(made.status, 201);
        assert.match(made.json.key, /^rlk_/);
        assert.equal((await ask('POST', '/admin/companies/keyed/keys', { name: 'console' })).status, 409);
        const list = await ask('GET', '/admin/companies/keyed/keys');
        const { key, ...listed } = made.json;
        assert.deepEqual(list.json, { keys: [listed] });
        assert.equal((await ask('DELETE', `/admin/companies/keyed/keys/${made.json.keyId}`)).status, 204);
        assert.equal((await ask('DELETE', `/admin/companies/keyed/keys/${made.json.keyId}`)).status, 404);
      });
    });

    describe('audit', () => {
      it('is listed for one company and for all, and stays after the company is deleted', async () => {
        await company('audited');
        const { relayId } = await rule('audited');
        await ask('PATCH', `/admin/companies/audited/rules/${relayId}`, { enabled: false });
        const own = await ask('GET', '/admin/companies/audited/audit');
        assert.deepEqual(
          own.json.entries.map(({ action, actor, companyId }: Record<string, unknown>) => [action, actor, companyId]),
          ['rule.update', 'rule.create', 'company.create'].map((action) => [action, { kind: 'admin' }, 'audited']),
        );
        const first = await ask('GET', '/admin/audit?companyId=audited&limit=2');
        const second = await ask('GET', `/admin/audit?companyId=audited&limit=2&cursor=${first.json.nextCursor}`);
        assert.deepEqual([...first.json.entries, ...second.json.entries], own.json.entries);
        assert.equal(second.json.nextCursor, undefined);
        await ask('DELETE', '/admin/companies/audited');
        assert.equal((await ask('GET', '/admin/companies/audited/audit')).status, 404);
        assert.equal((await ask('GET', '/admin/audit?companyId=audited')).json.entries[0].action, 'company.delete');
      });
    });
  });
}
