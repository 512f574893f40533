import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { adminToken, wholeApi } from '../../api/whole-api.js';

const webUi = 'https://temporal.example.com/namespaces/default';

describe('the console', () => {
  let api: Awaited<ReturnType<typeof wholeApi>>;
  let key = '';
  before(async () => {
    api = await wholeApi({ webUi });
    const company = { name: 'Acme', timeZone: 'Europe/Berlin', notify: { emails: ['ops@example.com'] } };
    assert.equal((await api.ask('PUT', '/admin/companies/acme', adminToken, company)).status, 201);
    key = (await api.ask('POST', '/admin/companies/acme/keys', adminToken, { name: 'dana', role: 'read' })).json.key;
  });
  after(() => api.close());

  const get = (path: string, headers: Record<string, string> = {}) => fetch(api.url + path, { headers, redirect: 'manual' });
  const signedIn = async (credential: string) => {
    const begun = await fetch(`${api.url}/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ credential }),
    });
    return { Cookie: begun.headers.getSetCookie().at(-1)?.split(';')[0] ?? '' };
  };

  it('leads visitors without a session to sign-in, and back', async () => {
    for (const [path, location] of [
      ['/', '/sign-in'],
      ['/companies', '/sign-in?to=%2Fcompanies'],
      ['/companies/acme/chains?status=failed', '/sign-in?to=%2Fcompanies%2Facme%2Fchains%3Fstatus%3Dfailed'],
    ] as const) {
      const answer = await get(path);
      assert.deepEqual([answer.status, answer.headers.get('Location')], [302, location]);
    }
  });

  it('starts each role on its own page', async () => {
    assert.equal((await get('/', await signedIn(adminToken))).headers.get('Location'), '/companies');
    assert.equal((await get('/', await signedIn(key))).headers.get('Location'), '/companies/acme');
  });

  it('is a page without data that runs only its own script and calls only the relay', async () => {
    const page = await get('/companies/acme/chains/1', await signedIn(key));
    assert.equal(page.status, 200);
    assert.match(page.headers.get('Content-Security-Policy') ?? '', /^default-src 'none'; script-src 'self'; style-src 'self'; /);
    assert.doesNotMatch(page.headers.get('Content-Security-Policy') ?? '', /unsafe|\*|https?:/);
    const html = await page.text();
    assert.doesNotMatch(html, /<script>|<style>| style="| on\w+="/);
    assert.ok(!html.includes('acme') && !html.includes(key));
    const files = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    assert.deepEqual(files.map((path) => path.replace(/^.*-[0-9A-Z]{8}/, '')).sort(), ['.css', '.js']);
    for (const path of files) {
      const file = await get(path, { 'Accept-Encoding': 'gzip' });
      assert.deepEqual([file.status, file.headers.get('Content-Encoding')], [200, 'gzip']);
      assert.match(file.headers.get('Cache-Control') ?? '', /^public, max-age=31536000, immutable$/);
      const unzipped = await get(path, { 'Accept-Encoding': 'identity' });
      assert.equal(unzipped.headers.get('Content-Encoding'), null);
      assert.equal(await unzipped.text(), await file.text());
    }
  });

  it('is served for addresses with a trailing slash and for unknown pages', async () => {
    const cookie = await signedIn(key);
    for (const path of ['/companies/', '/companies/acme/', '/companies/acme/chains/', '/companies/acme/chains/1/2/3']) {
      const page = await get(path, cookie);
      assert.deepEqual([page.status, page.headers.get('Content-Type')], [200, 'text/html; charset=UTF-8'], path);
      assert.equal((await get(path)).headers.get('Location'), `/sign-in?to=${encodeURIComponent(path)}`);
    }
  });

  it('serves no other file', async () => {
    for (const name of ['none.js', '..%2Fsrc%2Fapi%2Fmain.js', '%2e%2e%2fpackage.json', ''])
      assert.equal((await get(`/assets/${name}`)).status, 404, name);
  });

  it('gets from the API the facts about a company that every key of it may read, and no more', async () => {
    const rule = (await api.ask('POST', '/admin/companies/acme/rules', adminToken, { name: 'Night shift' })).json;
    await api.ask('PUT', '/admin/companies/acme/pause', adminToken, { what: 'mail', reason: 'new server' });
    const { json, text } = await api.ask('GET', '/co/acme', key);
    const { pauses, ...facts } = json;
    const { relayId } = rule;
    const rules = [{ relayId, name: 'Night shift', enabled: true }];
    assert.deepEqual(facts, { companyId: 'acme', name: 'Acme', timeZone: 'Europe/Berlin', rules });
    assert.equal(pauses[0].reason, 'new server');
    assert.ok(!text.includes('ops@example.com'));
    assert.equal((await api.ask('GET', '/co/other', key)).status, 401);
    assert.equal((await api.ask('GET', '/co/other', adminToken)).status, 404);
  });

  describe("the console's link to Temporal's Web UI", () => {
    const chain = '/web-ui/workflows/relay%3Aacme%3Ac1/r1/user-metadata?a=%22%3E';

    it('leads an operator there, also after signing in', async () => {
      const to = `/sign-in?to=${encodeURIComponent(chain)}`;
      assert.equal((await get(chain)).headers.get('Location'), to);
      const body = new URLSearchParams({ credential: adminToken, to: chain });
      const headers = { 'Sec-Fetch-Site': 'same-origin' };
      const begun = await fetch(`${api.url}/sign-in`, { method: 'POST', headers, body, redirect: 'manual' });
      assert.equal(begun.headers.get('Location'), chain);
      const page = await get(chain, await signedIn(adminToken));
      const target = `${webUi}/workflows/relay%3Aacme%3Ac1/r1/user-metadata?a=%22%3E`;
      assert.deepEqual([page.status, page.headers.get('Refresh')], [200, `0; url=${target}`]);
      assert.ok((await page.text()).includes(`<a href="${target}">`));
    });

    it('asks people who are signed in with a key for an admin token', async () => {
      const page = await get(chain, await signedIn(key));
      assert.deepEqual([page.status, page.headers.get('Refresh')], [403, null]);
      const html = await page.text();
      assert.match(html, /for operators: sign in with an admin token/);
      assert.match(html, /<input name="to" type="hidden" value="\/web-ui\/workflows\//);
      assert.ok(!html.includes('temporal.example.com'));
    });

    it('never leads to another site', async () => {
      const admin = await signedIn(adminToken);
      for (const path of [
        '//evil.example',
        '/@evil.example',
        '/\\evil.example',
        '/%2F/evil.example',
        '?//evil.example',
        '/..//evil.example/x',
      ]) {
        const answer = await get(`/web-ui${path}`, admin);
        const [, target] = /^0; url=(.*)$/.exec(answer.headers.get('Refresh') ?? '') ?? [];
        if (target === undefined) assert.notEqual(answer.status, 200, path);
        else assert.equal(new URL(target).origin, new URL(webUi).origin, path);
      }
    });

    it('does not exist if there is no Web UI', async () => {
      const without = await wholeApi();
      try {
        const { status, text } = await without.ask('GET', '/web-ui/workflows', adminToken);
        assert.equal(status, 404);
        assert.match(text, /TEMPORAL_UI_URL is not set/);
      } finally {
        await without.close();
      }
    });
  });
});
