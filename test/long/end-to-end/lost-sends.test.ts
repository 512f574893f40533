/**
 * A worker is killed during sends at WorkMarket. The relay repeats none of them, and a person decides about sends without a
 * visible effect.
 */

import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { type ChainResource, chainSchema } from '../../../src/contract/chain-resource.js';
import { serveVendor } from '../../../src/sandbox/vendors/vendor.js';
import { createWorkmarket, workmarketCredentials } from '../../../src/sandbox/vendors/workmarket.js';
import { freePort } from '../../../src/service/server.js';
import { callsTo, deployment } from '../../end-to-end/deployment.js';
import { type Process, startProcess } from '../../end-to-end/process.js';
import { eventually, send, Unmet } from '../../end-to-end/stack.js';

const skip = process.env.RELAY_TEST_DATABASE_URL === undefined && 'PostgreSQL is not installed';
const closing: (() => Promise<unknown> | undefined)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

it('an arrived send is done; a send without visible effect waits for a person, and is then sent once', { skip }, async () => {
  const vendor = createWorkmarket();
  vendor.state.queueMs = 0;
  const served = await serveVendor(vendor);
  closing.push(served.close);
  const [arrives, dropped, last] = ['8000000001', '8000000002', '8000000003'] as const;
  const template = vendor.state.assignments.get('6029116324') ?? assert.fail();
  for (const id of [arrives, dropped, last]) vendor.state.assignments.set(id, { ...structuredClone(template), id });
  const sends = (id: string) => vendor.state.calls.filter(({ path }) => path.endsWith(`${id}/send`));

  const parts = await deployment(closing, process.env.RELAY_TEST_TEMPORAL_ADDRESS ?? '');
  const { adminToken, env } = parts;
  const start = (main: string, more: Record<string, string> = {}): Process => {
    const started = startProcess(main, { ...env, ...more });
    closing.push(() => started.end('SIGKILL'));
    return started;
  };
  const port = String(await freePort('127.0.0.1'));
  const [api, impatient, worker] = [
    start('api/main.js'),
    start('api/main.js', { PORT: port, RELAY_RETRY_BUDGET_SECONDS: '0' }),
    start('worker/main.js'),
  ];
  await api.says('the API listens');
  await impatient.says('the API listens');
  await worker.says('the worker runs');

  const call = callsTo(parts.url, adminToken);
  const platform = { kind: 'workmarket', ...workmarketCredentials, baseUrl: served.url };
  await call('PUT', '/admin/companies/acme', { name: 'Acme', notify: { emails: ['admin@acme.example'] }, platform });
  const { relayId, relayAccessToken } = await call('POST', '/admin/companies/acme/rules', { name: 'Rule' });
  const post = async (id: string, calls = call): Promise<string> =>
    (await calls('POST', '/co/acme/relay', [{ relayId, relayAccessToken, ...send(id, { groupId: 'Till technicians' }) }]))
      .chainId;
  const until = (chainId: string, wanted: (action: ChainResource['actions'][number]) => boolean, what: string) =>
    eventually(what, async () => {
      const { actions } = chainSchema.parse(await call('GET', `/co/acme/chains/${chainId}`));
      return actions[0] && wanted(actions[0]) ? actions[0] : new Unmet(actions);
    });

  vendor.faults.now = { name: 'cut-off', times: 2, path: '/send' };
  const chains = {
    dropped: await post(dropped),
    last: await post(last, callsTo(`http://127.0.0.1:${port}`, adminToken)), // This API allows only one attempt.
    arrives: '',
  };
  const isSent = (id: string, status: string | number) =>
    eventually(`${id} to be ${status}`, async () => sends(id)[0]?.status === status || new Unmet(vendor.state.calls.slice(-5)));
  await isSent(dropped, 'dropped');
  await isSent(last, 'dropped');
  vendor.faults.now = { name: 'slow', times: 1, path: '/send' };
  chains.arrives = await post(arrives);
  await isSent(arrives, 'waiting');
  await worker.end('SIGKILL');
  vendor.faults.release();
  await start('worker/main.js').says('the worker runs');

  const done = await until(chains.arrives, ({ state }) => state === 'done', 'the send to be done');
  assert.deepEqual(done.result, {
    recipients: 2,
    note: 'the answer of WorkMarket was lost, but WorkMarket shows that the assignment was sent',
  });
  for (const chainId of [chains.dropped, chains.last]) {
    const unknown = await until(chainId, ({ error }) => error?.type === 'OutcomeUnknown', 'the send to be unknown');
    assert.deepEqual([unknown.state, unknown.error?.unknown, unknown.nextAttemptAt], ['needs-attention', true, undefined]);
    assert.match(unknown.error?.title ?? '', /Nobody knows whether assignment 800000000[23] was sent/);
  }
  assert.deepEqual(
    [arrives, dropped, last].map((id) => sends(id).length),
    [1, 1, 1],
  );

  for (const chainId of [chains.dropped, chains.last]) {
    await call('POST', `/co/acme/chains/${chainId}/actions/0/retry`);
    const { result } = await until(chainId, ({ state }) => state === 'done', 'the retry to be done');
    assert.deepEqual(result, { recipients: 2 });
  }
  assert.deepEqual(
    [arrives, dropped, last].map((id) => sends(id).length),
    [1, 2, 2],
  );
});
