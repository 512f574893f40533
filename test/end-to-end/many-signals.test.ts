/** However many signals wait for a workflow that tries an effect, it deals with all of them: Temporal takes up to 10,000. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { chainWorkflowId } from '../../src/chain/chain.js';
import { send, startStack, udf } from './stack.js';

const stack = await startStack();
const count = 9900;

it(`${count} signals that came while no worker ran`, async () => {
  const company = await stack.company();
  await stack.stopWorker();
  const { chainId } = await company.start([send('404404', { groupId: '501' }), udf(`T-${company.companyId}`, { cfValue: 'v' })]);
  const handle = stack.client.workflow.getHandle(chainWorkflowId({ companyId: company.companyId, chainId }));
  let sent = 0;
  const sender = async () => {
    while (sent++ < count) await handle.signal('skip', 0);
  };
  await Promise.all(Array.from({ length: 50 }, sender));
  await stack.restartWorker();
  const { actions } = await company.ended(chainId);
  assert.deepEqual(
    actions.map(({ state }) => state),
    ['skipped', 'done'],
  );
});
