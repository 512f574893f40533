/**
 * An effect kills every worker that tries it. In the end its action needs attention. Meanwhile, the chains of another company
 * run.
 */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, it } from 'node:test';
import { chainSchema } from '../../../src/contract/chain-resource.js';
import { callsTo, deployment } from '../../end-to-end/deployment.js';
import { type Process, startProcess } from '../../end-to-end/process.js';
import { type Action, eventually, send, Unmet } from '../../end-to-end/stack.js';

const skip = process.env.RELAY_TEST_DATABASE_URL === undefined && 'PostgreSQL is not installed';
const closing: (() => Promise<unknown> | undefined)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

it('an effect that kills its workers is held after its attempts, and other companies are served', { skip }, async () => {
  const parts = await deployment(closing, process.env.RELAY_TEST_TEMPORAL_ADDRESS ?? '');
  const { platform, adminToken, url } = parts;
  const env = { ...parts.env, RELAY_RETRY_BUDGET_SECONDS: '1' };
  const workers: Process[] = [];
  let stopped = false;
  let deaths = 0;
  const startWorker = async () => {
    const worker = startProcess('worker/main.js', env);
    workers.push(worker);
    const end = await worker.ended;
    if (end !== 'SIGKILL') assert.fail(`a worker ended by itself: ${worker.output()}`);
    workers.splice(workers.indexOf(worker), 1);
    if (!stopped) void startWorker();
  };
  closing.push(async () => {
    stopped = true;
    await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
  });
  // A platform that never answers, and kills all workers.
  const poison = createServer(() => {
    deaths += 1;
    for (const worker of workers) worker.child.kill('SIGKILL');
  });
  await new Promise<void>((listens) => poison.listen(0, '127.0.0.1', listens));
  closing.push(() => {
    poison.closeAllConnections();
    return new Promise((closed) => poison.close(closed));
  });
  const at = poison.address();
  assert(at !== null && typeof at === 'object');
  const api = startProcess('api/main.js', env);
  closing.push(() => api.end('SIGKILL'));
  await api.says('the API listens');
  void startWorker();
  void startWorker();

  const call = callsTo(url, adminToken);
  const company = async (companyId: string, baseUrl: string) => {
    const settings = { name: companyId, notify: { emails: ['a@b.example'] }, platform: { kind: 'http', baseUrl } };
    await call('PUT', `/admin/companies/${companyId}`, settings);
    const token = await call('POST', `/admin/companies/${companyId}/rules`, { name: 'Rule' });
    return async (action: Action): Promise<string> =>
      (await call('POST', `/co/${companyId}/relay`, [{ ...token, ...action }])).chainId;
  };
  const until = (companyId: string, chainId: string, state: string) =>
    eventually(`${companyId}'s chain to be ${state}`, async () => {
      const chain = chainSchema.parse(await call('GET', `/co/${companyId}/chains/${chainId}`));
      return chain.actions[0]?.state === state ? chain.actions[0] : new Unmet(chain);
    });

  const poisoned = await (await company('poison', `http://127.0.0.1:${at.port}`))(send('1001', { groupId: '501' }));
  const post = await company('acme', platform.url);
  await eventually('the workers to be killed', async () => deaths > 0 || new Unmet(workers.map((worker) => worker.output())));
  const healthy = await post(send('1002', { groupId: '501' }));
  const held = await until('poison', poisoned, 'needs-attention');
  assert.deepEqual([held.error?.type, held.error?.unknown], ['Timeout', true]);
  // The workers of this effect were killed by the other effect, so the relay retries this effect.
  await call('POST', `/co/poison/chains/${poisoned}/cancel`);
  await until('acme', healthy, 'done');
});
