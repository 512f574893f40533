/** A worker that is killed in the middle of an effect: the next one ends what it had begun, as the rule wants it. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, it } from 'node:test';
import { type ChainResource, chainSchema } from '../../src/contract/chain-resource.js';
import { startPlatform } from '../../src/sandbox/platform/platform.js';
import { freePort } from '../../src/service/server.js';
import { createDatabase } from '../store/databases.js';
import { type Process, startProcess } from './process.js';
import { startSlowSmtp } from './slow-smtp.js';
import { type Action, type Call, email, eventually, send, Unmet } from './stack.js';

const skip = process.env.RELAY_TEST_DATABASE_URL === undefined && 'PostgreSQL is not installed';
const closing: (() => Promise<unknown> | undefined)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

it('a local try is repeated under its key, an e-mail is sent again, or held where the rule says so', { skip }, async () => {
  const database = await createDatabase();
  closing.push(() => database.drop());
  const platform = await startPlatform({ host: '127.0.0.1', port: 0 });
  closing.push(() => platform.close());
  const mail = await startSlowSmtp({ hold: () => 3000 });
  const port = await freePort('127.0.0.1');
  const adminToken = randomUUID();
  const env = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: process.env.RELAY_TEST_TEMPORAL_ADDRESS ?? '',
    RELAY_TASK_QUEUE: randomUUID(),
    RELAY_ALLOW_PRIVATE_NETWORKS: 'true',
    RELAY_ADMIN_TOKEN: adminToken,
    SMTP_URL: mail.url,
    PORT: String(port),
  };
  const start = (main: string): Process => {
    const started = startProcess(main, env);
    closing.push(() => started.end('SIGKILL'));
    return started;
  };
  const [api, worker] = [start('api/main.js'), start('worker/main.js')];
  await api.says('the API listens');
  await worker.says('the worker runs');

  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert(response.ok, text);
    return JSON.parse(text);
  };
  const system = { kind: 'http', baseUrl: platform.url };
  await call('PUT', '/admin/companies/acme', { name: 'Acme', notify: { emails: ['admin@acme.example'] }, platform: system });
  const post = async (rule: object, action: Action): Promise<string> => {
    const { relayId, relayAccessToken } = await call('POST', '/admin/companies/acme/rules', { name: 'Rule', ...rule });
    return (await call('POST', '/co/acme/relay', [{ relayId, relayAccessToken, ...action }])).chainId;
  };
  const read = async (chainId: string): Promise<ChainResource> =>
    chainSchema.parse(await call('GET', `/co/acme/chains/${chainId}`));
  const calls = async (): Promise<Call[]> => (await fetch(`${platform.url}/journal`)).json() as Promise<Call[]>;

  await fetch(`${platform.url}/control/fail`, { method: 'PUT', body: JSON.stringify({ delayMs: 1600, path: 'send', times: 1 }) });
  const again = await post({}, email(['again@x.example']));
  const held = await post({ onUnknown: 'hold' }, email(['held@x.example']));
  const local = await post({}, send('1001', { groupId: '501' }));
  await eventually('all to be under way', async () =>
    mail.arrived.length === 2 && (await calls()).length === 1 ? true : new Unmet([mail.arrived, await calls()]),
  );
  await worker.end('SIGKILL');
  await start('worker/main.js').says('the worker runs');

  const until = (chainId: string, state: string) =>
    eventually(`${chainId} to be ${state}`, async () => {
      const chain = await read(chainId);
      return chain.actions[0]?.state === state ? chain.actions[0] : new Unmet(chain);
    });
  await until(local, 'done');
  const sends = await calls();
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
