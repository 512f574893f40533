/**
 * Records the histories of this version for replay.test.ts, in a folder of their own: at a release, and where there is a new
 * shape of chain (see docs/developing.md). `node dist/test/end-to-end/record-histories.js`
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import proto from '@temporalio/proto';
import packageJson from '../../package.json' with { type: 'json' };
import { email, eventually, replayable, send, startStack, Unmet, udf } from './stack.js';

const directory = fileURLToPath(new URL(`../../../test/histories/${packageJson.version}/`, import.meta.url));
const stack = await startStack({ noticeDigestSeconds: 6, keyring: null });
const withKeys = await startStack({ isSecond: true });

async function save(name: string, workflowId: string, { client } = stack): Promise<void> {
  const history = await replayable(client, workflowId);
  blank(history);
  writeFileSync(`${directory}${name}.binpb`, proto.temporal.api.history.v1.History.encode(history).finish());
}

/** Takes out what tells of the machine that recorded: a replay does not look at it. */
function blank(part: object): void {
  for (const [name, value] of Object.entries(part)) {
    const isStickyQueue = name === 'name' && typeof value === 'string' && value.includes('@');
    if (name === 'stackTrace' || name === 'identity' || isStickyQueue) Object.assign(part, { [name]: '' });
    else if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) blank(value);
  }
}

it('records histories', async () => {
  mkdirSync(directory, { recursive: true });
  const company = await stack.company();
  const assignment = await stack.assignment();

  const plain = await company.start([
    udf('T'),
    email(['a@example.com', 'b@example.com']),
    send(assignment, { groupId: '501', actionCondition: 'status==draft' }),
  ]);
  await company.ended(plain.chainId);
  await save('plain', plain.workflowId);

  const delayed = await company.start([
    udf('T', { delayInSeconds: '1' }),
    udf('T', { delayInSeconds: '1' }),
    udf('T', { delayInSeconds: '3000' }),
    udf('T'),
  ]);
  await company.action(delayed.chainId, 1, 'done');
  await company.steer(delayed.chainId, 'runNow', 2);
  await company.ended(delayed.chainId);
  await save('delayed', delayed.workflowId);
  await save('delayed-action', `${delayed.workflowId}:0`);
  await save('delayed-action-run-now', `${delayed.workflowId}:2`);

  const held = await company.start([
    send('404404', { groupId: '501' }),
    udf('T'),
    send('404404', { groupId: '501', delayInSeconds: '1' }),
  ]);
  await company.action(held.chainId, 0, 'needs-attention');
  await company.action(held.chainId, 2, 'needs-attention');
  await company.steer(held.chainId, 'retry', 0);
  await company.until(
    held.chainId,
    ({ actions }) => actions[0]?.state === 'needs-attention' && actions[0].attempts === 2,
    'the second attempt',
  );
  await company.steer(held.chainId, 'skip', 0);
  await company.steer(held.chainId, 'skip', 2);
  await company.ended(held.chainId);
  await save('held', held.workflowId);
  await save('held-delayed-action', `${held.workflowId}:2`);

  await stack.breakPlatform({ status: 503, path: 'send' });
  const outage = await company.start([send(assignment, { groupId: '501' }), udf('T')]);
  await company.action(outage.chainId, 0, 'needs-attention');
  await stack.heal();
  await company.ended(outage.chainId);
  await save('outage', outage.workflowId);

  const cancelled = await company.start([send('404404', { groupId: '501' }), udf('T', { delayInSeconds: '3000' })]);
  await company.action(cancelled.chainId, 0, 'needs-attention');
  await company.steer(cancelled.chainId, 'cancel');
  await company.ended(cancelled.chainId);
  await save('cancelled', cancelled.workflowId);
  await save('cancelled-delayed-action', `${cancelled.workflowId}:1`);

  const continued = await stack.company({ onFailure: 'continue' });
  const [late, never] = ['5050501', '5050502'];
  const reopened = await continued.start([send(late, { groupId: '501' }), udf('T'), send(never, { groupId: '501' })]);
  await continued.ended(reopened.chainId);
  await stack.assignment({ id: late });
  await continued.steer(reopened.chainId, 'retry', 0);
  await continued.until(
    reopened.chainId,
    ({ actions, closedAt }) => actions[0]?.state === 'done' && closedAt !== undefined,
    'the chain to close again',
  );
  await save('reopened', reopened.workflowId);

  const many = await stack.company();
  const chains = [];
  for (const id of [late + 1, late + 2, late + 3]) chains.push(await many.start([send(id, { groupId: '501' })]));
  for (const { chainId } of chains) await many.action(chainId, 0, 'needs-attention');
  await stack.mails(many.admin, 2);
  for (const { chainId } of chains) await many.steer(chainId, 'skip', 0);
  await stack.mails(many.admin, 3);
  const query = `WorkflowType = 'Notifier' AND RelayCompanyId = '${many.companyId}'`;
  const notifier = await eventually('the notifier to have closed', async () => {
    for await (const { workflowId, status } of stack.client.workflow.list({ query }))
      if (status.name === 'COMPLETED') return workflowId;
    return new Unmet('none closed');
  });
  await save('notifier', notifier);
});

it('records an encrypted history', async () => {
  const company = await withKeys.company();
  const { chainId, workflowId } = await company.start([
    send('404404', { groupId: '501' }),
    email(['a@example.com']),
    udf('T', { delayInSeconds: '3000' }),
  ]);
  await company.action(chainId, 0, 'needs-attention');
  await company.steer(chainId, 'skip', 0);
  await company.action(chainId, 2, 'scheduled');
  await company.action(chainId, 1, 'done');
  await company.steer(chainId, 'runNow', 2);
  await company.ended(chainId);
  await save('encrypted', workflowId, withKeys);
});
