/** Chains after a key rotation. A process can read data of the old key as long as it has that key. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { acceptedSchema } from '../../../src/contract/chain-resource.js';
import { Keyring } from '../../../src/contract/encryption.js';
import { adminToken, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const keyOf = (fill: number) => Buffer.alloc(32, fill).toString('base64');
const keys = {
  old: new Keyring(`old:${keyOf(2)}`),
  rotated: new Keyring(`new:${keyOf(3)},old:${keyOf(2)}`),
  tooEarly: new Keyring(`new:${keyOf(3)}`),
};
const stack = await startStack({ keyring: keys.rotated });

it('a chain that began under the old key waits for a process that has both keys, and can be steered and ended there', async () => {
  const company = await stack.company();
  const { companyId, relayId, relayAccessToken } = company;
  await stack.stopWorker();
  await stack.restartWorker(keys.old);
  const actions = [send('404404', { groupId: '501' }), udf('T'), udf('T', { delayInSeconds: '3000' })];
  const body = JSON.stringify(actions.map((action) => ({ relayId, relayAccessToken, ...action })));
  const headers = { 'content-type': 'application/json' };
  const accepted = await stack.apiWith(keys.old).request(`/co/${companyId}/relay`, { method: 'POST', headers, body });
  const { chainId, workflowId } = acceptedSchema.parse(await accepted.json());
  await company.action(chainId, 0, 'needs-attention');
  await company.action(chainId, 2, 'scheduled');

  await stack.stopWorker();
  await stack.restartWorker(keys.tooEarly);
  assert.equal((await company.steer(chainId, 'skip', 0)).status, 202);
  const missing = /no encryption key old; the operator must append the key to RELAY_ENCRYPTION_KEYS/;
  await eventually(
    'the worker to say which key it lacks',
    async () => missing.test(stack.logged()) || new Unmet('not in the log'),
  );
  const path = `/co/${companyId}/chains/${chainId}`;
  const refused = await stack.apiWith(keys.tooEarly).request(path, { headers: { authorization: `Bearer ${adminToken}` } });
  assert.equal(refused.status, 503);
  assert.match(await refused.text(), missing);
  assert.equal((await stack.client.workflow.getHandle(workflowId).describe()).status.name, 'RUNNING');

  await stack.stopWorker();
  await stack.restartWorker();
  await company.action(chainId, 1, 'done');
  assert.equal((await company.steer(chainId, 'runNow', 2)).status, 202);
  const chain = await company.ended(chainId);
  assert.deepEqual(
    chain.actions.map(({ state }) => state),
    ['skipped', 'done', 'done'],
  );
  const { events } = await stack.client.workflow.getHandle(workflowId).fetchHistory();
  const result = events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result?.payloads?.[0];
  assert.equal(String(result?.metadata?.['encryption-key-id']), 'new');
});

it('a chain that a retry reopens after the rotation still needs the old key', async () => {
  const company = await stack.company({ onFailure: 'continue' });
  const { companyId, relayId, relayAccessToken } = company;
  const assignment = String(Math.floor(Math.random() * 1e12));
  await stack.stopWorker();
  await stack.restartWorker(keys.old);
  const body = JSON.stringify([{ relayId, relayAccessToken, ...send(assignment, { groupId: '501' }) }]);
  const headers = { 'content-type': 'application/json' };
  const accepted = await stack.apiWith(keys.old).request(`/co/${companyId}/relay`, { method: 'POST', headers, body });
  const { chainId, workflowId } = acceptedSchema.parse(await accepted.json());
  assert.equal((await company.ended(chainId)).status, 'failed');

  await stack.stopWorker();
  await stack.restartWorker();
  const rotated = new Date();
  await stack.assignment({ id: assignment });
  assert.equal((await company.steer(chainId, 'retry', 0)).status, 202);
  await company.until(chainId, ({ status }) => status === 'completed', 'the chain to complete');
  const run = stack.client.workflow.getHandle(workflowId);
  assert((await run.describe()).startTime >= rotated);
  const { events } = await run.fetchHistory();
  const input = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  assert.equal(String(input?.metadata?.['encryption-key-id']), 'old');
});
