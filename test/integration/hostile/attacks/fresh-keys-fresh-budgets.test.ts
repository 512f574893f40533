/**
 * The owner of a key with role `manage` creates more and more keys and sessions, and makes the most expensive requests, to
 * exceed one company's limits.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rejectedListSchema } from '../../../../src/contract/problem.js';
import { startApiBehindProxy } from '../../../end-to-end/grpc-proxy.js';
import { actor, eventually, startStack, Unmet, udf } from '../../../end-to-end/stack.js';
import { tenant } from '../../../hostile/attacks/tenant.js';

const requestsPerMinute = 20;
const stack = await startStack({ rateLimitPerMinute: requestsPerMinute, uses: { lists: 6 } });

/** The number of answers with each status. */
async function answers(count: number, ask: (n: number) => Promise<Response>): Promise<Record<number, number>> {
  const counted: Record<number, number> = {};
  for (let n = 0; n < count; n += 1) {
    const { status } = await ask(n);
    counted[status] = (counted[status] ?? 0) + 1;
  }
  return counted;
}

describe('a company with many keys in sequence', () => {
  it('may list as much as five keys, even if keys are deleted', async () => {
    const own = await tenant(stack, 'manage');
    const { companyId } = own;
    const other = await tenant(stack, 'read');
    for (let made = 0; made < 5; made += 1) {
      const { key, keyId } = await own.newKey();
      assert.deepEqual(await answers(7, () => own.ask('GET', '/rejected', undefined, key)), { 200: 6, 429: 1 });
      await stack.store.keys.delete(companyId, keyId, actor);
    }
    const { key } = await own.newKey();
    const refused = await own.ask('GET', '/rejected', undefined, key);
    assert.equal(refused.status, 429);
    assert.match(
      await refused.text(),
      new RegExp(`The keys and people of company ${companyId} together sent more than 30 requests of the kind .*lists`),
    );
    assert.equal((await other.ask('GET', '/rejected')).status, 200);
  });

  it('may sign in as often as five keys', async () => {
    const own = await tenant(stack, 'read');
    const keys = await Promise.all(Array.from({ length: 7 }, () => own.newKey()));
    const signIn = (credential = '') =>
      fetch(`${stack.links.api}/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ credential }),
      });
    assert.deepEqual(await answers(15, () => signIn(keys[0]?.key)), { 201: 10, 429: 5 });
    assert.deepEqual(await answers(60, (n) => signIn(keys[1 + (n % 6)]?.key)), { 201: 40, 429: 20 });
  });
});

it('a company has a limited number of settings checks', async () => {
  const own = await tenant(stack, 'manage');
  const check = () =>
    fetch(`${stack.links.api}/admin/companies/${own.companyId}/check`, {
      method: 'POST',
      headers: { authorization: `Bearer ${own.key}` },
    });
  const all = await Promise.all(Array.from({ length: 25 }, check));
  const times = (wanted: number) => all.filter(({ status }) => status === wanted).length;
  // On a busy machine, an accepted check may fail with another status, so the test does not expect an exact number of 200s.
  assert(times(200) > 0 && times(429) >= 5, JSON.stringify(all.map(({ status }) => status)));
});

it('a resent request counts towards the limit, even if it is refused for a missing confirmation', async () => {
  const own = await tenant(stack, 'steer');
  await stack.store.tokens.rotate(own.companyId, own.relayId, 0, actor);
  assert.equal((await own.post([udf('T')])).status, 401);
  const rejectedId = await eventually('the request to be kept', async () => {
    const { items } = rejectedListSchema.parse(await (await own.ask('GET', '/rejected')).json());
    return items[0]?.rejectedId ?? new Unmet(items);
  });
  const resend = () => own.ask('POST', `/rejected/${rejectedId}/resend`, {});
  assert.deepEqual(await answers(requestsPerMinute + 3, resend), { 409: requestsPerMinute, 429: 3 });
});

it('the composing of a chain of many actions causes no Temporal call', async () => {
  const asked: string[] = [];
  const api = await startApiBehindProxy(stack, (method) => {
    asked.push(method);
    return undefined;
  });
  const own = await tenant(stack, 'steer');
  const elements = Array.from({ length: 40 }, () => udf('${ticket}', { relayId: own.relayId }));
  asked.length = 0;
  const composed = await fetch(`${api.url}/co/${own.companyId}/chains/compose`, {
    method: 'POST',
    headers: { authorization: `Bearer ${own.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ elements }),
  });
  assert.equal(composed.status, 200);
  assert.deepEqual(asked, []);
});
