import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Faults, formOf, Refusal, serveVendor, type VendorState, vendorApp } from '../../../../src/sandbox/vendors/vendor.js';

/** A vendor that adds the received numbers. */
function createCounter() {
  const state: VendorState & { sum: number } = { calls: [], sum: 0 };
  const faults = new Faults(['tired', 'forgetful']);
  const app = vendorApp({
    state,
    faults,
    answers: { tired: () => new Refusal(429, { error: 'tired' }, { 'Retry-After': '1' }) },
    noPath: () => new Refusal(404, { allowed: [] }),
    noMethod: (_, allowed) => new Refusal(405, { allowed }),
    broken: (_, error) => new Refusal(400, String(error)),
  });
  app
    .get('/sum', (c) => c.json(state.sum))
    .patch('/sum', async (c) => {
      const by = Number(formOf(await c.req.text()).by);
      if (Number.isNaN(by)) throw new Error('by is not a number');
      if (!faults.meets(c, 'forgetful')) state.sum += by;
      return c.json(state.sum);
    });
  return { app, state, faults };
}

describe('the common code of the simulators', () => {
  let vendor = createCounter();
  let server: Awaited<ReturnType<typeof serveVendor>>;
  beforeEach(async () => {
    vendor = createCounter();
    server = await serveVendor(vendor);
  });
  afterEach(() => server.close());

  const add = (...fields: [string, string][]) =>
    fetch(`${server.url}/sum?access_token=x`, { method: 'PATCH', body: new URLSearchParams(fields) });

  it('records each call, without the secrets in query, headers and body', async () => {
    await add(['by', '2'], ['token', 'x'], ['group_id', '11'], ['group_id', '12']);
    const [call] = vendor.state.calls;
    assert.deepEqual([call?.method, call?.path, call?.status], ['PATCH', '/sum', 200]);
    assert.deepEqual(call?.query, { access_token: '***' });
    assert.deepEqual(call?.body, { by: '2', token: '***', group_id: ['11', '12'] });
  });

  it('keeps the newest thousand calls', async () => {
    for (let call = 0; call < 1001; call += 1) await vendor.app.request(`/sum?call=${call}`);
    assert.equal(vendor.state.calls.length, 1000);
    assert.equal(vendor.state.calls.at(-1)?.query.call, '1000');
  });

  it('distinguishes an undocumented method from an undocumented path', async () => {
    const method = await fetch(`${server.url}/sum`, { method: 'DELETE' });
    assert.deepEqual([method.status, await method.json()], [405, { allowed: ['GET', 'PATCH'] }]);
    const path = await fetch(`${server.url}/difference`);
    assert.deepEqual([path.status, await path.json()], [404, { allowed: [] }]);
  });

  it('lets the vendor write the answer for an error that a handler throws', async () => {
    const answer = await add(['by', 'two']);
    assert.deepEqual([answer.status, await answer.text()], [400, 'Error: by is not a number']);
    assert.equal(vendor.state.calls[0]?.status, 400);
  });

  it('fails the given number of times, and then answers again', async () => {
    vendor.faults.now = { name: 'tired', times: 2 };
    const answers = [await add(['by', '1']), await add(['by', '1']), await add(['by', '1'])];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [429, 429, 200],
    );
    assert.equal(answers[0]?.headers.get('retry-after'), '1');
    assert.equal(vendor.state.sum, 1);
  });

  it('does not answer for a handler that causes the failure itself', async () => {
    vendor.faults.now = { name: 'forgetful', times: 1 };
    assert.equal((await add(['by', '1'])).status, 200);
    assert.equal(vendor.state.sum, 0);
    assert.equal(vendor.faults.now, undefined);
  });

  it('answers with a page and the given status', async () => {
    vendor.faults.now = { name: 'html', status: 200 };
    const answer = await add(['by', '1']);
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    assert.match(await answer.text(), /<h1>/);
    assert.equal(vendor.state.sum, 0);
  });

  it('cuts the connection before the effect, or after it', async () => {
    vendor.faults.now = { name: 'cut-off', times: 1 };
    await assert.rejects(add(['by', '1']));
    assert.equal(vendor.state.sum, 0);
    vendor.faults.now = { name: 'cut-off-after', times: 1 };
    await assert.rejects(add(['by', '1']));
    assert.equal(vendor.state.sum, 1);
    assert.deepEqual(
      vendor.state.calls.map(({ status }) => status),
      ['dropped', 'dropped'],
    );
  });

  it('holds a slow call until it is released', async () => {
    vendor.faults.now = { name: 'slow', times: 1, delayMs: 600_000 };
    const late = add(['by', '1']);
    while (vendor.state.calls.length === 0) await setImmediate();
    assert.equal((await add(['by', '2'])).status, 200);
    assert.equal(vendor.state.sum, 2);
    vendor.faults.release();
    assert.equal(await (await late).json(), 3);
  });
});
