/** A workflow that tries an effect can handle 10,000 waiting signals, which is Temporal's limit. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { chainWorkflowId } from '../../../src/chain/chain.js';
import type { ChainResource } from '../../../src/contract/chain-resource.js';
import { send, startStack, udf } from '../../end-to-end/stack.js';
import { extent } from '../../extent.js';

const stack = await startStack();
const count = extent(1_000, 9_900);

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
  // If the first workflow task takes too long and is lost, all signals come before the action is held, and have no effect.
  const isHeld = ({ status }: ChainResource) => status === 'needs-attention';
  const seen = await company.until(chainId, (chain) => isHeld(chain) || chain.closedAt !== undefined, 'the action to be tried');
  if (isHeld(seen)) await company.steer(chainId, 'skip', 0);
  const { actions } = await company.ended(chainId);
  assert.deepEqual(
    actions.map(({ state }) => state),
    ['skipped', 'done'],
  );
});
