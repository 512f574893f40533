import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createConnectors } from '../../../../src/connectors/connectors.js';
import { startPlatform } from '../../../../src/sandbox/platform/platform.js';
import { freePort } from '../../../../src/service/server.js';
import { call as callAt } from '../../../sandbox/http.js';

let url = '';

const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  callAt(url, method, path, body, headers);
const send = (id: string, body: unknown, key?: string) =>
  call('POST', `/assignments/${id}/send`, body, key === undefined ? {} : { 'Idempotency-Key': key });
const statusOf = async (id: string) => (await call('GET', `/assignments/${id}`)).at('status');
const sendsOf = async (id: string) => (await call('GET', `/assignments/${id}`)).table('sends', 'at').length;

describe('the demo platform', () => {
  let platform: Awaited<ReturnType<typeof startPlatform>>;
  before(async () => {
    platform = await startPlatform({ host: '127.0.0.1', port: 0 });
    url = platform.url;
  });
  after(() => platform.close());
  beforeEach(() => call('POST', '/control/reset'));

  it('shows an assignment as a connector needs it', async () => {
    const answer = await call('GET', '/assignments/1001');
    assert.equal(answer.status, 200);
    assert.equal(answer.at('status'), 'draft');
    assert.equal(answer.at('location.zip'), '55401');
    assert.equal(answer.at('ownerEmail'), 'dispatch@example.com');
    assert.equal(answer.at('customFields.preferred_groups'), '501,502');
    assert.equal((await call('GET', '/assignments/9999')).status, 404);
    assert.equal((await send('9999', { groupIds: [] })).status, 404);
  });

  it('lists its groups, as the relay reads them', async () => {
    const connectors = createConnectors({ allowPrivateNetworks: true, mailFrom: 'relay@relay.example' });
    const of = connectors.platformOf({
      companyId: 'acme',
      name: 'Acme',
      timeZone: 'UTC',
      platform: { kind: 'http', baseUrl: url },
    });
    assert.deepEqual(await of.ids?.({ timeoutMs: 5000 }), ['501', '502', '503', '504']);
    await connectors.close();
  });

  it('widens: nobody within 5 miles, somebody within 25', async () => {
    const near = await send('1001', { groupIds: ['501'], radiusMiles: 5 });
    assert.equal(near.status, 200);
    assert.deepEqual(near.at(''), { id: '1001', status: 'draft', recipients: 0, workers: [] });
    assert.equal(await statusOf('1001'), 'draft');
    const wide = await send('1001', { groupIds: ['502'], radiusMiles: 25 });
    assert.equal(wide.at('recipients'), 2);
    assert.equal(await statusOf('1001'), 'sent');
  });

  it('never finds anybody for 1002, so that an alert runs', async () => {
    for (const radiusMiles of [5, 25, 100]) await send('1002', { groupIds: ['501', '502', '503'], radiusMiles });
    assert.equal(await statusOf('1002'), 'draft');
  });

  it('reaches all members of a group without a radius, and all groups without a group', async () => {
    assert.equal((await send('1001', { groupIds: ['503'] })).at('recipients'), 3);
    assert.equal((await send('1001', { groupIds: [] })).at('recipients'), 7);
    assert.equal((await send('1003', {})).at('recipients'), 7);
  });

  it('does not change an assignment that can no longer be sent', async () => {
    const answer = await send('1004', { groupIds: ['501'] });
    assert.deepEqual([answer.status, answer.at('status'), answer.at('recipients')], [200, 'accepted', 0]);
  });

  it('refuses invalid requests', async () => {
    for (const body of ['{', '[]', { groupIds: '501' }, { groupIds: [501] }, { groupIds: [], radiusMiles: '5' }]) {
      assert.equal((await send('1001', body)).status, 400, JSON.stringify(body));
    }
    assert.equal((await call('PATCH', '/tickets/1', { userDefinedFields: [] })).status, 400);
  });

  it('creates a ticket on the first update, and sets its fields by name', async () => {
    assert.equal((await call('GET', '/tickets/T-9')).status, 404);
    await call('PATCH', '/tickets/T-9', { userDefinedFields: [{ name: 'Checked in', value: '09:00' }] });
    await call('PATCH', '/tickets/T-9', {
      userDefinedFields: [
        { name: 'Region', value: 'MN' },
        { name: 'Checked in', value: '10:30' },
      ],
    });
    assert.deepEqual((await call('GET', '/tickets/T-9')).at('userDefinedFields'), [
      { name: 'Checked in', value: '10:30' },
      { name: 'Region', value: 'MN' },
    ]);
  });

  it('acts once for an idempotency key; a repeated request gets the same answer and is recorded', async () => {
    const first = await send('1001', { groupIds: ['501'], radiusMiles: 5 }, 'relay:acme:c1/0');
    await call('POST', '/control/assignments', { id: '1001', location: { latitude: 44.8408, longitude: -93.2983 } });
    const second = await send('1001', { groupIds: ['501'], radiusMiles: 5 }, 'relay:acme:c1/0');
    assert.equal(second.text, first.text);
    assert.equal((await send('1001', { groupIds: ['501'], radiusMiles: 5 }, 'relay:acme:c1/1')).at('recipients'), 1);
    assert.equal(await sendsOf('1001'), 2);
    const journal = await call('GET', '/journal');
    assert.deepEqual(journal.table('', 'method', 'path', 'idempotencyKey', 'status', 'repeat'), [
      ['POST', '/assignments/1001/send', 'relay:acme:c1/0', 200, false],
      ['POST', '/assignments/1001/send', 'relay:acme:c1/0', 200, true],
      ['POST', '/assignments/1001/send', 'relay:acme:c1/1', 200, false],
      ['GET', '/assignments/1001', undefined, 200, false],
    ]);
    assert.deepEqual(journal.at('0.body'), { groupIds: ['501'], radiusMiles: 5 });
    assert.ok(Date.parse(String(journal.at('0.at'))) > 0);
    await call('POST', '/control/reset');
    assert.deepEqual((await call('GET', '/journal')).at(''), []);
  });

  it('does not store a failed request under its key', async () => {
    assert.equal((await send('9999', {}, 'k')).status, 404);
    await call('POST', '/control/assignments', { id: '9999' });
    assert.equal((await send('9999', {}, 'k')).at('status'), 'sent');
  });

  it('fails as configured: only for the given path, and only the given number of times', async () => {
    const told = await call('PUT', '/control/fail', { status: 429, times: 2, path: 'send', retryAfterSeconds: 7 });
    assert.deepEqual(told.at('fail'), { status: 429, times: 2, path: 'send', retryAfterSeconds: 7 });
    const failed = await send('1001', { groupIds: ['503'] }, 'k');
    assert.deepEqual([failed.status, failed.headers.get('retry-after')], [429, '7']);
    assert.equal(await statusOf('1001'), 'draft');
    assert.equal((await send('1001', { groupIds: ['503'] }, 'k')).status, 429);
    assert.equal((await call('GET', '/control')).at('fail'), null);
    assert.equal((await send('1001', { groupIds: ['503'] }, 'k')).at('recipients'), 3);
  });

  it('answers 503 by default, until a test heals it', async () => {
    await call('PUT', '/control/fail');
    assert.equal((await call('GET', '/assignments/1001')).status, 503);
    assert.equal((await call('PATCH', '/tickets/1', {})).status, 503);
    await call('DELETE', '/control/fail');
    assert.equal((await call('GET', '/assignments/1001')).status, 200);
    assert.equal((await call('PUT', '/control/fail', { code: 503 })).status, 400);
  });

  it('can be slow without failing', async () => {
    await call('PUT', '/control/fail', { delayMs: 50 });
    const started = performance.now();
    assert.equal((await call('GET', '/assignments/1001')).status, 200);
    assert.ok(performance.now() - started >= 49);
  });

  it('can break a connection before or after its effect', async () => {
    await call('PUT', '/control/fail', { dropConnection: true });
    await assert.rejects(send('1001', { groupIds: ['503'] }, 'k'), TypeError);
    await call('PUT', '/control/fail', { dropConnection: true, afterActing: true });
    await assert.rejects(send('1001', { groupIds: ['503'] }, 'k'), TypeError);
    await call('DELETE', '/control/fail');
    assert.equal((await send('1001', { groupIds: ['503'] }, 'k')).at('recipients'), 3);
    const journal = await call('GET', '/journal');
    assert.deepEqual(journal.table('', 'status', 'repeat'), [
      ['dropped', false],
      ['dropped', false],
      [200, true],
    ]);
    assert.equal(await sendsOf('1001'), 1);
  });

  it('lists its controls at /control, as requests that work', async () => {
    const requests = (await call('GET', '/control')).at('requests');
    assert(typeof requests === 'object' && requests !== null);
    for (const [request, body] of Object.entries(requests)) {
      const [method = '', path = ''] = request.split(' ');
      const { status } = await call(method, path.replace(':id', '2001'), body ?? undefined);
      assert.ok(status < 300, request);
    }
  });

  it('accepts assignments and statuses from a test', async () => {
    const made = await call('POST', '/control/assignments', { id: '1006', title: 'Mine', location: { zip: '10001' } });
    assert.deepEqual([made.status, made.at('id'), made.at('status'), made.at('location.zip')], [201, '1006', 'draft', '10001']);
    assert.equal((await call('POST', '/control/assignments', { id: '1006', title: 'Yours' })).status, 200);
    await call('POST', '/control/assignments/1006/status', { status: 'accepted' });
    assert.equal(await statusOf('1006'), 'accepted');
    assert.equal((await call('POST', '/control/assignments/1007/status', { status: 'x' })).status, 404);
    assert.equal((await call('POST', '/control/assignments', { id: '../x' })).status, 400);
    assert.equal((await call('POST', '/control/assignments', { title: 'Whose' })).status, 400);
  });

  it('shows everything on a page, escaped, and its buttons work', async () => {
    const nasty = '<script>alert(1)</script>';
    await call('POST', '/control/assignments', {
      id: '1001',
      title: nasty,
      status: nasty,
      ownerEmail: nasty,
      customFields: { [nasty]: nasty },
    });
    await call('PATCH', `/tickets/${encodeURIComponent(nasty)}`, { userDefinedFields: [{ name: nasty, value: nasty }] });
    await send('1003', { groupIds: [nasty, '502'], radiusMiles: 5 }, 'a<b');
    const page = await call('GET', '/');
    assert.doesNotMatch(page.text, /<script>/);
    assert.match(page.text, /Chen Wei \(0\.7 mi\)/);
    assert.match(page.headers.get('content-security-policy') ?? '', /script-src 'self'/);
    assert.equal((await call('GET', '/page.js')).status, 200);
    assert.equal((await call('GET', '/page.css')).status, 200);

    const press = (path: string, form: Record<string, string>, headers = {}) =>
      fetch(url + path, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual', headers });
    assert.equal((await press('/page/fail', { failure: '{"status":503}', path: 'send' })).status, 303);
    assert.match(
      (await call('GET', '/')).text,
      /Failing:<\/strong> <code>{&quot;status&quot;:503,&quot;path&quot;:&quot;send&quot;}/,
    );
    assert.equal((await send('1003', {})).status, 503);
    await press('/page/heal', {});
    await press('/page/assignments/1003', { event: 'accept' });
    assert.equal(await statusOf('1003'), 'accepted');
    for (const [site, status] of Object.entries({ 'cross-site': 403, 'same-site': 403, 'same-origin': 303, none: 303 }))
      assert.equal((await press('/page/heal', {}, { 'sec-fetch-site': site })).status, status, site);
    await press('/page/assignments', { id: ' 404404 ' });
    await press('/page/assignments', { id: '1003' });
    await press('/page/assignments', { id: '../x' });
    assert.deepEqual([await statusOf('404404'), await statusOf('1003')], ['draft', 'draft']);
    assert.equal((await send('404404', { groupIds: ['503'] })).at('recipients'), 3);
    assert.ok(!(await call('GET', '/')).text.includes('../x'));
    await press('/page/reset', {});
    assert.equal((await call('GET', '/assignments/404404')).status, 404);
  });
});

describe('a restarted demo platform', () => {
  const directory = mkdtempSync(join(tmpdir(), 'relay-platform-'));
  after(() => rmSync(directory, { recursive: true }));

  it('remembers its records', async () => {
    const options = { host: '127.0.0.1', port: 0, stateFile: join(directory, 'platform.jsonl') };
    const first = await startPlatform(options);
    url = first.url;
    await send('1001', { groupIds: ['502'], radiusMiles: 25 }, 'k');
    await first.close();
    const second = await startPlatform(options);
    url = second.url;
    assert.equal(await statusOf('1001'), 'sent');
    await send('1001', { groupIds: ['502'], radiusMiles: 25 }, 'k');
    const journal = await call('GET', '/journal');
    assert.deepEqual(journal.table('', 'number', 'repeat'), [
      [1, false],
      [2, false],
      [3, true],
    ]);
    await second.close();
  });

  it('closes even while a slow answer is due', async () => {
    const slow = await startPlatform({ host: '127.0.0.1', port: 0 });
    url = slow.url;
    await call('PUT', '/control/fail', { delayMs: 600_000 });
    const waiting = assert.rejects(call('GET', '/assignments/1001'), TypeError);
    while ((await call('GET', '/journal')).at('0.status') !== 'waiting');
    await slow.close();
    await waiting;
  });

  it('names the variable if its port is in use', async () => {
    const port = await freePort('127.0.0.1');
    const taken = createServer().listen(port, '127.0.0.1');
    await assert.rejects(startPlatform({ host: '127.0.0.1', port }), {
      name: 'StartError',
      message: /^port \d+ is in use: .* RELAY_SANDBOX_PORT$/,
    });
    taken.close();
  });
});
