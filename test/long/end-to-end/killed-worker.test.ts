/** A worker is killed during an effect. The next worker completes the effect as the rule says. */

import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { type ChainResource, chainSchema } from '../../../src/contract/chain-resource.js';
import { callsTo, deployment } from '../../end-to-end/deployment.js';
import { type Process, startProcess } from '../../end-to-end/process.js';
import { startSlowSmtp } from '../../end-to-end/slow-smtp.js';
import { type Action, type Call, email, eventually, send, Unmet } from '../../end-to-end/stack.js';

const skip = process.env.RELAY_TEST_DATABASE_URL === undefined && 'PostgreSQL is not installed';
const closing: (() => Promise<unknown> | undefined)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

it('a local try is repeated under its key, or its outcome is unknown after a cancellation; an e-mail is resent or held', {
  skip,
}, async () => {
  const mail = await startSlowSmtp({ hold: () => 3000 });
  const parts = await deployment(closing, process.env.RELAY_TEST_TEMPORAL_ADDRESS ?? '');
  const { platform, adminToken, url } = parts;
  const env = { ...parts.env, SMTP_URL: mail.url };
  const start = (main: string): Process => {
    const started = startProcess(main, env);
    closing.push(() => started.end('SIGKILL'));
    return started;
  };
  const [api, worker] = [start('api/main.js'), start('worker/main.js')];
  await api.says('the API listens');
  await worker.says('the worker runs');

  const call = callsTo(url, adminToken);
  const system = { kind: 'http', baseUrl: platform.url };
  await call('PUT', '/admin/companies/acme', { name: 'Acme', notify: { emails: ['admin@acme.example'] }, platform: system });
  const post = async (rule: object, action: Action): Promise<string> => {
    const { relayId, relayAccessToken } = await call('POST', '/admin/companies/acme/rules', { name: 'Rule', ...rule });
    return (await call('POST', '/co/acme/relay', [{ relayId, relayAccessToken, ...action }])).chainId;
  };
  const read = async (chainId: string): Promise<ChainResource> =>
    chainSchema.parse(await call('GET', `/co/acme/chains/${chainId}`));
  const calls = async (): Promise<Call[]> => (await fetch(`${platform.url}/journal`)).json() as Promise<Call[]>;

  await fetch(`${platform.url}/control/fail`, { method: 'PUT', body: JSON.stringify({ delayMs: 1600, path: 'send', times: 2 }) });
  const again = await post({}, email(['again@x.example']));
  const held = await post({ onUnknown: 'hold' }, email(['held@x.example']));
  const local = await post({}, send('1001', { groupId: '501' }));
  const cancelled = await post({}, send('1002', { groupId: '501' }));
  await eventually('all to be under way', async () =>
    mail.arrived.length === 2 && (await calls()).length === 2 ? true : new Unmet([mail.arrived, await calls()]),
  );
  await worker.end('SIGKILL');
  await call('POST', `/co/acme/chains/${cancelled}/cancel`);
  await start('worker/main.js').says('the worker runs');

  const until = (chainId: string, state: string) =>
    eventually(`${chainId} to be ${state}`, async () => {
      const chain = await read(chainId);
      return chain.actions[0]?.state === state ? chain.actions[0] : new Unmet(chain);
    });
  await until(local, 'done');
  const lost = await until(cancelled, 'failed');
  assert.deepEqual([lost.error?.type, lost.error?.unknown], ['OutcomeUnknown', true]);
  const sends = (await calls()).filter(({ path }) => path.includes('1001'));
  assert.equal(new Set(sends.map(({ idempotencyKey }) => idempotencyKey)).size, 1);
  assert.equal(sends.filter(({ repeat, status }) => status === 200 && !repeat).length, 1);

  const unknown = await until(held, 'needs-attention');
  assert.deepEqual([unknown.error?.type, unknown.error?.unknown, unknown.nextAttemptAt], ['OutcomeUnknown', true, undefined]);
  await until(again, 'done');
  const to = (address: string) => mail.got.filter((one) => one.to === address);
  assert.equal(to('held@x.example').length, 1);
  assert.equal(to('again@x.example').length, 2);
  assert.equal(new Set(to('again@x.example').map(({ messageId }) => messageId)).size, 1);
});
