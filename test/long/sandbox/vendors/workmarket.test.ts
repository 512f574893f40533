import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createWorkmarket, settleSends, workmarketDoubts } from '../../../../src/sandbox/vendors/workmarket.js';
import workmarket from '../../../fixtures/workmarket.json' with { type: 'json' };
import { describeFixtures, served } from '../../../sandbox/vendors.js';

/** A simulator whose sends take effect at the next request. */
const withoutQueue = (doubts: Record<string, boolean>) => {
  const vendor = createWorkmarket({ doubts });
  vendor.state.queueMs = 0;
  return vendor;
};

describeFixtures(workmarket, workmarketDoubts, withoutQueue);

describe('the simulator of WorkMarket', () => {
  const simulator = served(() => withoutQueue({}));

  const ask = (path: string, init: { method?: string; body?: URLSearchParams; headers?: Record<string, string> } = {}) =>
    fetch(`${simulator.url}/v1/employer${path}`, { headers: workmarket.headers, ...init });
  const send = () =>
    ask('/assignments/6029116324/send', { method: 'POST', body: new URLSearchParams({ group_id: '11', send_radius: '50' }) });
  const seen = async () => {
    const answer = await ask('/assignments/get?id=6029116324');
    const { response } = (await answer.json()) as { response: { status: string; sent_worker_count: number } };
    return [response.status, response.sent_worker_count];
  };

  it('queues a send: the assignment stays a draft until it takes effect', async () => {
    simulator.vendor.state.queueMs = 600_000;
    assert.equal((await send()).status, 200);
    assert.deepEqual(await seen(), ['draft', 0]);
    for (const queued of simulator.vendor.state.queue) queued.at = 0;
    assert.deepEqual(await seen(), ['sent', 2]);
    assert.deepEqual(simulator.vendor.state.queue, []);
  });

  it('reaches each worker once if a second send comes while the first is queued', async () => {
    simulator.vendor.state.queueMs = 600_000;
    await send();
    await send();
    for (const queued of simulator.vendor.state.queue) queued.at = 0;
    assert.deepEqual(await seen(), ['sent', 2]);
  });

  it('drops a queued send if the assignment has got a worker', async () => {
    await send();
    const assignment = simulator.vendor.state.assignments.get('6029116324');
    assert.ok(assignment);
    assignment.status = 'active';
    settleSends(simulator.vendor.state);
    assert.deepEqual(await seen(), ['active', 0]);
  });

  it('cuts the connection before a send, and after it', async () => {
    simulator.vendor.faults.now = { name: 'cut-off', times: 1, path: 'send' };
    await assert.rejects(send());
    assert.deepEqual(await seen(), ['draft', 0]);
    simulator.vendor.faults.now = { name: 'cut-off-after', times: 1, path: 'send' };
    await assert.rejects(send());
    assert.deepEqual(await seen(), ['sent', 2]);
  });

  it('ends an access token after its lifetime', async () => {
    const renew = () =>
      ask('/authorization/request', {
        method: 'POST',
        headers: {},
        body: new URLSearchParams(simulator.vendor.state.credentials),
      });
    const tokenOf = async (answer: Response) =>
      ((await answer.json()) as { response: { access_token: string } }).response.access_token;
    const use = (token: string) => ask('/assignments/statuses', { headers: { Authorization: `Bearer ${token}` } });
    assert.equal((await use(await tokenOf(await renew()))).status, 200);
    simulator.vendor.state.tokenLifetimeMs = 0;
    assert.equal((await use(await tokenOf(await renew()))).status, 401);
  });

  it('refuses a secret that a customer has changed', async () => {
    const body = new URLSearchParams({ ...simulator.vendor.state.credentials });
    simulator.vendor.state.credentials.secret = 'another';
    assert.equal((await ask('/authorization/request', { method: 'POST', headers: {}, body })).status, 401);
  });

  it('shows the statuses of another account', async () => {
    simulator.vendor.state.statuses = [{ id: 'open', name: 'Open' }];
    const { response } = (await (await ask('/assignments/statuses')).json()) as { response: unknown };
    assert.deepEqual(response, [{ id: 'open', name: 'Open' }]);
  });

  it('keeps a journal without secrets', async () => {
    await ask('/authorization/request', {
      method: 'POST',
      headers: {},
      body: new URLSearchParams(simulator.vendor.state.credentials),
    });
    await ask('/assignments/statuses?access_token=workmarket-access-token', { headers: {} });
    await send();
    const [token, statuses, sent] = simulator.vendor.state.calls;
    assert.deepEqual(token?.body, { token: '***', secret: '***' });
    assert.deepEqual(statuses?.query, { access_token: '***' });
    assert.equal(sent?.headers.authorization, '***');
    assert.deepEqual(sent?.body, { group_id: '11', send_radius: '50' });
  });
});
