import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Client, ServiceError } from '@temporalio/client';
import { Hono } from 'hono';
import { holdRoutes, sayOnPage } from '../../../src/api/hold.js';
import { failuresPerMinute, Limits, limitFailures } from '../../../src/api/limits.js';
import { answerProblems } from '../../../src/api/problems.js';
import { logRequests } from '../../../src/api/request-log.js';
import { appOf } from '../../../src/api/route.js';
import { contactMark, HoldLinks } from '../../../src/contract/hold-link.js';
import { createLog } from '../../../src/service/telemetry.js';
import { HeldActions } from '../../../src/temporal/causes.js';
import { wholeApi } from '../../api/whole-api.js';
import { forgetful } from '../../hostile/api.js';

const secret = 's'.repeat(32);
const held = {
  companyId: 'acme',
  chainId: 'c1',
  index: 0,
  at: new Date().toISOString(),
  until: Math.ceil(Date.now() / 1000) + 600,
  contact: contactMark('ada@people.example'),
};
const link = new HoldLinks(secret).sign(held) ?? assert.fail();

describe('the hold page', () => {
  let whole: Awaited<ReturnType<typeof wholeApi>>;
  before(async () => {
    whole = await wholeApi();
    const company = { companyId: 'acme', name: 'Acme', timeZone: 'UTC', notify: { emails: ['ada@people.example'] } };
    await whole.store.companies.put('acme', () => company, { kind: 'admin' });
  });
  after(() => whole.close());

  /** A separate API, with its log. */
  function serving(more: { secret?: string; url?: string; reads?: number; client?: Client } = {}) {
    const lines: string[] = [];
    const log = createLog('debug', { write: (line) => lines.push(line) });
    const uses = { lists: 1, reads: more.reads ?? 100, steering: 100 };
    const limits = new Limits({ perMinute: 600, uses, log });
    const options = { ...whole, limits, log, client: forgetful, secret, links: { api: more.url ?? 'http://127.0.0.1' }, ...more };
    const routes = appOf(holdRoutes(options, new HeldActions(options)), () => (_c, next) => next(), limits);
    const app = answerProblems(new Hono(), (err) => log.error({ err }, 'unexpected'))
      .use(logRequests(log))
      .use('/hold/*', sayOnPage)
      .use(limitFailures(limits))
      .route('/', routes);
    const env = { incoming: { socket: { remoteAddress: '192.0.2.7' } } };
    const ask = (path: string, cookie = '') => app.request(path, { headers: { Cookie: cookie } }, env);
    return { ask, lines };
  }

  it('opens by a link, which then appears in no address and no log line', async () => {
    const { ask, lines } = serving();
    const exchanged = await ask(`/hold/${link}`);
    assert.deepEqual([exchanged.status, exchanged.headers.get('Location')], [303, '/hold/acme/c1/0']);
    assert.equal(exchanged.headers.get('Cache-Control'), 'no-store');
    assert.match(lines.join(''), /"route":"\/hold\/:link"/);
    assert.ok(!lines.join('').includes(link.slice(0, 40)) && !lines.join('').includes(link.slice(-43)));
  });

  it('sets a cookie for this page only; if the relay is behind TLS, the cookie needs TLS, too', async () => {
    const cookieAt = async (url?: string) => (await serving({ url }).ask(`/hold/${link}`)).headers.getSetCookie()[0] ?? '';
    const attributes = 'Max-Age=3600; Path=/hold/acme/c1/0; HttpOnly; SameSite=Lax';
    assert.equal(await cookieAt(), `relay-hold=${link}; ${attributes}`);
    assert.equal(
      await cookieAt('https://relay.example'),
      `__Secure-relay-hold=${link}; ${attributes.replace('; Same', '; Secure; Same')}`,
    );
  });

  it('says that the chain does not exist any more, the cookie is missing, or the link is invalid', async () => {
    const { ask } = serving();
    for (const [path, cookie, status, said] of [
      ['/hold/acme/c1/0', `relay-hold=${link}`, 410, /does not exist any more/],
      ['/hold/acme/c1/0', '', 401, /for one hour after you open the link from a notice/],
      ['/hold/acme/c1/1', `relay-hold=${link}`, 401, /for one hour after you open the link from a notice/],
      ['/hold/acme/c1/0', `relay-hold=${link}x`, 401, /for one hour after you open the link from a notice/],
      ['/hold/nonsense', '', 401, /not a link from a notice/],
    ] as const) {
      const page = await ask(path, cookie);
      assert.equal(page.status, status, path);
      const text = await page.text();
      assert.match(text, said);
      assert.doesNotMatch(text, /undefined|false|<form/);
    }
  });

  it("is still a page when Temporal cannot be reached, and the operator's log says why", async () => {
    const describe = () => Promise.reject(new ServiceError('14 UNAVAILABLE'));
    const client = { ...forgetful, workflow: { ...forgetful.workflow, getHandle: () => ({ describe }) } };
    const { ask, lines } = serving({ client: client as unknown as Client });
    const page = await ask('/hold/acme/c1/0', `relay-hold=${link}`);
    assert.equal(page.status, 503);
    assert.match(page.headers.get('Content-Type') ?? '', /^text\/html/);
    assert.match(await page.text(), /Temporal does not answer/);
    assert.match(lines.join(''), /"level":"error".*UNAVAILABLE/);
  });

  it('does not exist without a secret', async () => {
    assert.equal((await serving({ secret: undefined }).ask(`/hold/${link}`)).status, 401);
  });

  it('is limited in views a minute; an invalid link counts as a failed authentication', async () => {
    const { ask } = serving({ reads: 3 });
    const statuses = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await ask('/hold/acme/c1/0', `relay-hold=${link}`)).status);
    assert.deepEqual(statuses, [410, 410, 410, 429]);
    for (let n = 0; n < failuresPerMinute; n += 1) assert.equal((await ask('/hold/acme/c1/0')).status, 401);
    const refused = await ask(`/hold/${link}x`);
    assert.deepEqual([refused.status, refused.headers.get('Content-Type')], [429, 'text/html; charset=UTF-8']);
    assert(Number(refused.headers.get('Retry-After')) > 0);
    assert.equal((await ask(`/hold/${link}`)).status, 303, 'who has one is let in');
  });
});
