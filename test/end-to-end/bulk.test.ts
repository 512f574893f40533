/** Steering many chains at once: counted first, confirmed by the count, done by a workflow. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bulkPreviewSchema, bulkSchema } from '../../src/contract/chain-resource.js';
import { adminToken, eventually, send, startStack, Unmet, udf } from './stack.js';

const stack = await startStack();

async function bulk(path: string, body: unknown, bearer = adminToken): Promise<Response> {
  return fetch(`${stack.links.api}${path}/chains/bulk`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Waits until that many chains are counted, then confirms, and waits until it is done. */
async function confirmed(path: string, order: Record<string, unknown>, count: number, bearer?: string) {
  await eventually(`${count} chains to be counted`, async () => {
    const preview = bulkPreviewSchema.parse(await (await bulk(path, order, bearer)).json());
    assert.equal(preview.first.length, Math.min(preview.count, 10));
    return preview.count === count ? true : new Unmet(preview.count);
  });
  const response = await bulk(path, { ...order, confirm: count }, bearer);
  assert.equal(response.status, 202, await response.clone().text());
  const { bulkId } = bulkSchema.parse(await response.json());
  const shown = `${stack.links.api}${path}/chains/bulk/${bulkId}`;
  assert.equal(`${stack.links.api}${response.headers.get('location')}`, shown);
  return eventually('the bulk to end', async () => {
    const answer = await fetch(shown, { headers: { authorization: `Bearer ${bearer ?? adminToken}` } });
    const state = bulkSchema.parse(await answer.json());
    return state.status === 'running' ? new Unmet(state) : state;
  });
}

describe('steering many chains', () => {
  it('retries everything that needs attention for a reason, and says who did', async () => {
    const company = await stack.company();
    const assignment = String(Math.floor(Math.random() * 1e12));
    const chains = [];
    for (let n = 0; n < 25; n += 1) chains.push((await company.start([send(assignment, { groupId: '501' }), udf('T')])).chainId);
    const mistaken = (await company.start([udf('')])).chainId;
    for (const chainId of [...chains, mistaken]) await company.action(chainId, 0, 'needs-attention');
    await stack.assignment({ id: assignment });

    const order = { verb: 'retry', filter: { reason: 'PlatformError' } };
    const state = await confirmed(`/co/${company.companyId}`, order, 25);
    assert.deepEqual(state.progress, { done: 25, steered: 25, actions: 25, unchanged: 0, failed: 0, failures: [] });
    assert.deepEqual([state.verb, state.by, state.count], ['retry', 'admin', 25]);
    for (const chainId of chains) {
      const chain = await company.ended(chainId);
      assert.equal(chain.status, 'completed');
      const [steered] = chain.actions[0]?.steered ?? [];
      assert.deepEqual([steered?.verb, steered?.by], ['retry', `admin (bulk ${state.bulkId})`]);
    }
    assert.equal((await company.read(mistaken)).status, 'needs-attention');
    const { items } = await stack.store.audit.list({ companyId: company.companyId, limit: 1 });
    assert.deepEqual([items[0]?.action, items[0]?.details.count], ['chain.bulk', 25]);
  });

  it('opens again what has failed, and has it done', async () => {
    const company = await stack.company({ onFailure: 'continue' });
    const [one, two] = [String(Math.floor(Math.random() * 1e12)), String(Math.floor(Math.random() * 1e12))];
    const chains: string[] = [];
    for (let n = 0; n < 3; n += 1)
      chains.push((await company.start([send(one, { groupId: '501' }), udf('T'), send(two, { groupId: '501' })])).chainId);
    for (const chainId of chains) assert.equal((await company.ended(chainId)).status, 'failed');
    await stack.assignment({ id: one });
    await stack.assignment({ id: two });
    const path = `/co/${company.companyId}`;
    assert.equal((await bulk(path, { verb: 'skip', filter: { status: 'failed' } })).status, 400);
    const filter = { status: 'failed', reason: 'PlatformError' };
    const state = await confirmed(path, { verb: 'retry', filter }, 3);
    assert.deepEqual([state.progress?.steered, state.progress?.actions, state.progress?.failed], [3, 6, 0]);
    for (const chainId of chains) await company.until(chainId, ({ status }) => status === 'completed', 'the chain to complete');
    assert.equal(bulkPreviewSchema.parse(await (await bulk(path, { verb: 'retry', filter })).json()).count, 0);
  });

  it('cancels everything pending for an assignment, and nothing else', async () => {
    const company = await stack.company();
    const made = await stack.store.keys.create(company.companyId, 'desk', { kind: 'admin' });
    assert.ok(typeof made === 'object');
    const later = (assignment: string) => udf('T', { platformAssignmentId: assignment, delayInSeconds: '3000' });
    const whole = (await company.start([later('A'), later('A')])).chainId;
    const part = (await company.start([later('A'), later('B')])).chainId;
    const other = (await company.start([later('B')])).chainId;
    const order = { verb: 'cancel', filter: { assignmentId: 'A' } };
    const state = await confirmed(`/co/${company.companyId}`, order, 2, made.key);
    assert.deepEqual([state.progress?.steered, state.progress?.actions], [2, 3]);
    assert.equal((await company.ended(whole)).status, 'cancelled');
    const left = await company.action(part, 0, 'cancelled');
    assert.equal(left.actions[1]?.state, 'scheduled');
    assert.deepEqual(
      [left.actions[0]?.steered?.[0]?.verb, (await company.read(other)).actions[0]?.state],
      ['cancel', 'scheduled'],
    );

    await confirmed('', { verb: 'runNow', filter: { companyId: company.companyId } }, 2);
    assert.deepEqual(
      (await company.ended(part)).actions.map(({ state }) => state),
      ['cancelled', 'done'],
    );
    assert.equal((await company.ended(other)).status, 'completed');
  });

  it('does nothing without the right count, or for others', async () => {
    const company = await stack.company();
    const other = await stack.company();
    const path = `/co/${company.companyId}`;
    const key = await stack.store.keys.create(other.companyId, 'k', { kind: 'admin' });
    assert.ok(typeof key === 'object');
    const { chainId } = await company.start([udf('T', { delayInSeconds: '3000' })]);
    const refused = await bulk(path, { verb: 'cancel', confirm: 7 });
    assert.equal(refused.status, 409);
    assert.match(await refused.text(), /count-changed/);
    for (const body of [
      { verb: 'explode' },
      {},
      { verb: 'retry', filter: { status: 'running' } },
      { verb: 'retry', filter: { status: 'completed' } },
      { verb: 'cancel', filter: { companyId: company.companyId } },
      { verb: 'cancel', confirm: '1' },
      { verb: 'cancel', filter: { assignment: 'x' } },
    ])
      assert.equal((await bulk(path, body)).status, 400, JSON.stringify(body));
    assert.equal((await bulk(path, { verb: 'cancel' }, key.key)).status, 401);
    assert.equal((await bulk('', { verb: 'cancel' }, key.key)).status, 401);
    await confirmed(path, { verb: 'cancel' }, 1);
    assert.equal((await company.ended(chainId)).status, 'cancelled');
  });
});
