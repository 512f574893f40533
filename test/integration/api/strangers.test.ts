/** The cost of a stranger's requests. Known callers are not affected. */

import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { failuresPerMinute } from '../../../src/api/limits.js';
import { rejectedListSchema } from '../../../src/contract/problem.js';
import type { Database } from '../../../src/store/database.js';
import { type HostileApi, serveApi } from '../../hostile/api.js';
import { openEmptied } from '../../store/emptied.js';

const query = mock.fn<Database['query']>();
let served: HostileApi;
before(async () => {
  const database = await openEmptied();
  query.mock.mockImplementation((...statement) => database.query(...statement));
  served = await serveApi({ ...database, query });
});
after(() => served.close());

const post = async (body: string, path = '/co/acme/relay') => {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(served.url + path, { method: 'POST', headers, body });
  const text = await response.text();
  return { status: response.status, retryAfter: response.headers.get('retry-after'), text };
};
const action = (relayAccessToken: string) => ({
  action: 'ticket_updateUDF',
  externalSystemTicketId: '1',
  cfName: 'f',
  cfValue: 'v',
  relayId: served.relayId,
  relayAccessToken,
});

describe('a stranger', () => {
  it('is refused before any expensive look-up; a known caller is not refused', async () => {
    const twice = (token: string) => JSON.stringify([action(token)]).replace('{', '{"comment":"a","comment":"b",');
    assert.equal((await post(twice('wrong'))).status, 401);
    const known = await post(twice(served.relayAccessToken));
    assert.equal(known.status, 400);
    assert.match(known.text, /`comment` occurs twice/);
  });

  it('shares the queries before a refusal with all other strangers', async () => {
    const [before, begun] = [query.mock.callCount(), performance.now()];
    for (let n = 0; n < 5; n += 1) {
      const answers = await Promise.all(Array.from({ length: 5 }, (_, n) => post(JSON.stringify([action(`wrong ${n}`)]))));
      assert(answers.every(({ status }) => status === 401));
    }
    // Allows ten queries a second, one query that every process makes, and the last queries of earlier tests.
    const most = 6 + ((performance.now() - begun) / 1000) * 11;
    const count = query.mock.callCount() - before;
    assert(count <= most, `${count} queries, not ${most}`);
  });

  it('with too many failures is refused before the body is parsed, unless the body has a token of the company', async () => {
    const wrong = JSON.stringify([action('wrong')]);
    for (let n = 0; n <= failuresPerMinute; n += 1) await post(wrong);
    for (const body of [wrong, '[', '{}', '', '"relayAccessToken":"\\u00zz"', '['.repeat(1000)]) {
      const { status, retryAfter } = await post(body);
      assert.deepEqual([body, status], [body, 429]);
      assert.match(retryAfter ?? '', /^[1-9]\d*$/);
    }
    assert.equal((await post(wrong, '/co/nobody/relay')).status, 429);
    const right = action(served.relayAccessToken);
    assert.equal((await post(JSON.stringify([right], undefined, 1))).status, 202);
    assert.equal((await post(JSON.stringify([right, action('wrong')]))).status, 429);
    assert.equal((await post(`${JSON.stringify([right])}]`)).status, 400);
    const pasted = (token: string) => JSON.stringify([action('wrong'), action(token)]).replace('"v"', '"the "blue" one"');
    assert.equal((await post(pasted('also wrong'))).status, 429);
    assert.equal((await post(pasted(served.relayAccessToken), '/co/nobody/relay')).status, 429);
    assert.equal((await post(pasted(served.relayAccessToken))).status, 400);
    const headers = { authorization: `Bearer ${served.key}` };
    const listed = await fetch(`${served.url}/co/acme/rejected`, { headers });
    const kept = rejectedListSchema.parse(await listed.json()).items.find(({ problem }) => problem.detail.includes('`blue`'));
    assert.deepEqual([kept?.reason, kept?.relayIds], ['malformed-body', [served.relayId]]);
    // The relay can read this body and finds a wrong token. So the relay answers at once, and stores the request later.
    assert.equal((await post(JSON.stringify([action('wrong'), right]))).status, 429);
  });

  it('causes no query with a malformed key, and few queries with the readiness check', async () => {
    const checks = 50;
    const before = query.mock.callCount();
    for (const bearer of ['x', 'rlk_x', `rlk_${'a'.repeat(36)}`, 'rla_', served.relayAccessToken])
      await fetch(`${served.url}/co/acme/chains`, { headers: { authorization: `Bearer ${bearer}` } });
    for (let n = 0; n < checks; n += 1) await fetch(`${served.url}/readyz`);
    // Allows one lookup a second, and the reads that every process makes.
    const count = query.mock.callCount() - before;
    assert(count < checks / 2, `${count} queries for ${checks} checks`);
  });
});
