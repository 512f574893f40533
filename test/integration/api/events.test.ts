import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { adminToken, wholeApi } from '../../api/whole-api.js';
import { eventually, Unmet } from '../../end-to-end/stack.js';

const here = '/co/acme';

describe('the event stream', () => {
  let api: Awaited<ReturnType<typeof wholeApi>>;
  const keys: Record<string, { key: string; keyId: string }> = {};
  const open: AbortController[] = [];
  before(async () => {
    api = await wholeApi();
    const company = { name: 'Acme', notify: { emails: ['ops@example.com'] } };
    for (const companyId of ['acme', 'other']) await api.ask('PUT', `/admin/companies/${companyId}`, adminToken, company);
    for (const name of ['ada', 'bob'])
      keys[name] = (await api.ask('POST', '/admin/companies/acme/keys', adminToken, { name, role: 'read' })).json;
  });
  after(async () => {
    for (const stream of open) stream.abort();
    await api.close();
  });

  /** Reads the events as they arrive. */
  async function watch(query: string, bearer = adminToken, cookie?: string) {
    const stopping = new AbortController();
    open.push(stopping);
    const headers: Record<string, string> = cookie ? { Cookie: cookie } : { Authorization: `Bearer ${bearer}` };
    const response = await fetch(`${api.url}${here}/events?${query}`, { headers, signal: stopping.signal });
    const events: { event: string; path?: string; body?: Record<string, unknown> }[] = [];
    const read = async () => {
      let text = '';
      for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        const parts = (text + Buffer.from(chunk).toString()).split('\n\n');
        text = parts.pop() ?? '';
        for (const part of parts) {
          const [, event = '', data] = /^event: (\w+)\ndata: (.+)$/.exec(part) ?? [];
          events.push({ event, ...(data && JSON.parse(data)) });
        }
      }
    };
    const ended = response.ok ? read().catch(() => {}) : Promise.resolve();
    return { response, events, ended, stop: () => stopping.abort() };
  }
  const told = (stream: Awaited<ReturnType<typeof watch>>, wanted: (body: Record<string, unknown>) => boolean) =>
    eventually('to be told', async () => {
      const found = stream.events.find(({ event, body }) => event === 'answer' && body && wanted(body));
      return found ?? new Unmet(stream.events);
    });
  const questions = () =>
    api.logged().filter(({ msg, route }) => msg === 'request answered' && route === '/co/:companyId').length;

  it('sends the answer of a path, and sends it again after a change; a new reader gets the answer at once', async () => {
    const one = await watch(`path=${here}`, keys.ada?.key);
    assert.equal(one.response.headers.get('Content-Type'), 'text/event-stream');
    assert.equal((await told(one, () => true)).path, here);
    await api.ask('PUT', '/admin/companies/acme/pause', adminToken, { what: 'mail' });
    await told(one, ({ pauses }) => JSON.stringify(pauses).includes('mail'));
    const asked = questions();
    const other = await watch(`path=${here}`, keys.bob?.key);
    await told(other, ({ pauses }) => JSON.stringify(pauses).includes('mail'));
    assert(questions() - asked <= 1, 'both share a question');
    const answers = one.events.filter(({ event }) => event === 'answer').length;
    assert.equal(answers, 2, 'an unchanged answer is not sent again');
    one.stop();
    other.stop();
  });

  it('never sends an old answer to a new reader', async () => {
    const named = (name: string) => api.ask('PATCH', '/admin/companies/acme', adminToken, { name });
    const before = await watch(`path=${here}`, keys.ada?.key);
    await told(before, ({ name }) => name === 'Acme');
    before.stop();
    await before.ended;
    await named('Acme Field Works');
    const later = await watch(`path=${here}`, keys.ada?.key);
    await told(later, ({ name }) => name === 'Acme Field Works');
    assert.equal(later.events.filter(({ event }) => event === 'answer').length, 1);
    later.stop();
    await named('Acme');
  });

  it('works with a session', async () => {
    const begun = await fetch(`${api.url}/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ credential: keys.bob?.key }),
    });
    const stream = await watch(`path=${here}`, '', begun.headers.getSetCookie().at(-1)?.split(';')[0]);
    await told(stream, ({ name }) => name === 'Acme');
    stream.stop();
  });

  it('ends when its key ends; the streams of other keys continue', async () => {
    const [ada, bob] = [await watch(`path=${here}`, keys.ada?.key), await watch(`path=${here}`, keys.bob?.key)];
    await Promise.all([told(ada, () => true), told(bob, () => true)]);
    await api.ask('DELETE', `/admin/companies/acme/keys/${keys.ada?.keyId}`, adminToken);
    await ada.ended;
    assert.equal(ada.events.at(-1)?.event, 'end');
    await api.ask('PUT', '/admin/companies/acme/pause', adminToken, { what: 'platform' });
    await told(bob, ({ pauses }) => JSON.stringify(pauses).includes('platform'));
    bob.stop();
  });

  it("has events of the path's company only, for its readers", async () => {
    for (const [query, bearer, status] of [
      [`path=${here}`, undefined, 401],
      [`path=${here}`, 'rlk_nonsense', 401],
      ['path=/co/other', adminToken, 400],
      ['path=/admin/companies/acme/keys', adminToken, 400],
      [`path=${here}/../other`, adminToken, 400],
      [`path=${here}/events?path=${here}`, adminToken, 400],
      [`path=${here}/%2565vents?path=${here}`, adminToken, 400],
      [`path=${here}&path=${here}/%2565vents?path=${here}`, adminToken, 400],
      [`path=${here}&path=http://[`, adminToken, 400],
      [`path=${here}&path=${here}/chains?q=${'x'.repeat(2000)}`, adminToken, 400],
      ['path=//other.example/co/acme', adminToken, 400],
      ['path=nonsense', adminToken, 400],
      ['', adminToken, 400],
      [Array.from({ length: 11 }, (_, n) => `path=${here}/chains/${n}`).join('&'), adminToken, 400],
    ] as const) {
      const { response, stop } = await watch(query, bearer ?? '');
      assert.equal(response.status, status, query);
      stop();
    }
  });
});
