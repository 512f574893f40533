import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { autotaskDoubts, createAutotask } from '../../../../src/sandbox/vendors/autotask.js';
import autotask from '../../../fixtures/autotask.json' with { type: 'json' };
import { describeFixtures, itCutsConnections, served } from '../../../sandbox/vendors.js';

describeFixtures(autotask, autotaskDoubts, (doubts) => createAutotask({ doubts }));

describe('the simulator of Autotask', () => {
  const simulator = served(createAutotask);

  const ask = (path: string, request: { method?: string; body?: unknown; signal?: AbortSignal } = {}) =>
    fetch(`${simulator.url}/webservices3/ATServicesRest/V1.0${path}`, {
      method: request.method,
      headers: { ...autotask.headers, 'Content-Type': 'application/json' },
      body: request.body === undefined ? undefined : JSON.stringify(request.body),
      signal: request.signal,
    });
  const ticket = () => ask('/Tickets/123456');
  const setNote = (value: string) =>
    ask('/Tickets', { method: 'PATCH', body: { id: 123456, userDefinedFields: [{ name: 'Site note', value }] } });
  const note = () => simulator.vendor.state.tickets.get(123456)?.values['Site note'];
  const errorsOf = async (answer: Response) => ((await answer.json()) as { errors: string[] }).errors;
  const underWay = async (count: number) => {
    while ([...simulator.vendor.state.threads.values()].reduce((sum, running) => sum + running, 0) < count) await setImmediate();
  };

  it('answers a fourth call at once with the thread limit, for one endpoint', async () => {
    simulator.vendor.faults.now = { name: 'slow', times: 3, delayMs: 600_000 };
    const held = [ticket(), ticket(), ticket()];
    await underWay(3);
    assert.deepEqual(await errorsOf(await ticket()), ['The Autotask API thread threshold of 3 threads has been exceeded.']);
    assert.equal((await ask('/ThresholdInformation')).status, 200, 'another endpoint has its own threads');
    const zone = await fetch(`${simulator.url}/ATServicesRest/V1.0/zoneInformation?user=relay@example.com`);
    assert.equal(zone.status, 200, 'the zone has no thread limit');
    simulator.vendor.faults.release();
    for (const answer of await Promise.all(held)) assert.equal(answer.status, 200);
    assert.equal((await ticket()).status, 200);
  });

  it('counts the hourly requests together with the requests of other integrations, and stops at the limit', async () => {
    simulator.vendor.state.limits.slowDownMs = 0;
    simulator.vendor.state.requestsOfOthers = 9_999;
    assert.equal((await ticket()).status, 200);
    const refused = await ticket();
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get('retry-after'), '60');
    simulator.vendor.state.requests = [Date.now() - 3_600_001];
    assert.equal((await ticket()).status, 200, 'an hour later');
  });

  it('delays calls from half of the budget', async () => {
    simulator.vendor.state.limits.slowDownMs = 600_000;
    simulator.vendor.state.requestsOfOthers = 5_000;
    const late = ticket();
    await underWay(1);
    assert.equal(simulator.vendor.state.calls[0]?.status, 'waiting');
    simulator.vendor.faults.release();
    assert.equal((await late).status, 200);
  });

  it('moves to another zone and back', async () => {
    simulator.vendor.state.zone = 5;
    assert.equal((await ticket()).status, 401);
    simulator.vendor.state.zone = 3;
    assert.equal((await ticket()).status, 200);
  });

  itCutsConnections(simulator, setNote, note);

  it('answers with more than a client should read', async () => {
    simulator.vendor.faults.now = { name: 'huge', times: 1 };
    const text = await (await ticket()).text();
    assert.ok(text.length > 2 * 1024 * 1024);
    assert.equal(JSON.parse(text).item.id, 123456);
  });

  it('fails only the calls that the failure names', async () => {
    simulator.vendor.faults.now = simulator.vendor.faults.schema.parse({ name: 'validation', method: 'PATCH', path: '/tickets' });
    assert.equal((await ticket()).status, 200);
    assert.equal((await setNote('x')).status, 500);
    assert.throws(() => simulator.vendor.faults.schema.parse({ name: 'reaches-nobody' }));
  });

  it('keeps a journal without secrets', async () => {
    await setNote('Use the back door');
    const [call] = simulator.vendor.state.calls;
    assert.equal(call?.path, '/webservices3/ATServicesRest/V1.0/Tickets');
    assert.equal(call?.headers.username, 'relay@example.com');
    assert.equal(call?.headers.secret, '***');
    assert.equal(call?.headers.apiintegrationcode, '***');
    assert.deepEqual(call?.body, { id: 123456, userDefinedFields: [{ name: 'Site note', value: 'Use the back door' }] });
    assert.equal(call?.status, 200);
  });
});
