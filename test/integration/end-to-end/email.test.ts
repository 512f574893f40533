/** E-mails to several recipients, while some of them already have a copy. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startSlowSmtp } from '../../end-to-end/slow-smtp.js';
import { email, eventually, send, startStack, Unmet } from '../../end-to-end/stack.js';

const stack = await startStack({ retryBudgetSeconds: 1 });
const states = (chain: { actions: { state: string }[] }) => chain.actions.map(({ state }) => state);

/** A company that uses this mail server. */
async function companyWith(smtpUrl: string) {
  const company = await stack.company();
  await stack.store.companies.put(
    company.companyId,
    (stored) => ({ ...stored, companyId: company.companyId, name: 'Test company', timeZone: 'UTC', mail: { smtpUrl } }),
    { kind: 'admin' },
  );
  return company;
}

describe('an e-mail to several recipients', { concurrency: true }, () => {
  it('that is cancelled finishes the current recipient, and says who has a copy', async () => {
    const smtp = await startSlowSmtp({
      hold: (to) => (to.startsWith('slow') ? 8000 : 0),
      refuse: (to) => (to.startsWith('bad') ? 451 : undefined),
    });
    const company = await companyWith(smtp.url);
    const { chainId, workflowId } = await company.start([
      email(['bad@x.example', 'slow@x.example', 'quick@x.example']),
      email(['next@x.example']),
    ]);
    await eventually('all to be begun', async () => {
      const [quick] = smtp.got;
      return quick && smtp.begun.includes('slow@x.example') ? true : new Unmet(smtp);
    });
    await company.steer(chainId, 'cancel');
    const chain = await company.ended(chainId);
    assert.deepEqual(states(chain), ['partly-failed', 'cancelled']);
    const sent = chain.actions[0]?.deliveries?.map(({ recipient, sent }) => [recipient.split('@')[0], sent]);
    assert.deepEqual(sent, [
      ['bad', false],
      ['slow', true],
      ['quick', true],
    ]);
    assert.deepEqual(smtp.got.map(({ to }) => to).sort(), ['quick@x.example', 'slow@x.example']);
    // The memo must contain no address, because every list of workflows returns it.
    const { memo } = await stack.client.workflow.getHandle(workflowId).describe();
    assert.deepEqual(memo?.states, states(chain));
    assert.doesNotMatch(JSON.stringify(memo), /@/);
  });

  it('that is resent to the missed recipients is sent once, even if its delayed action is interrupted', async () => {
    let mended = false;
    const smtp = await startSlowSmtp({
      hold: () => (mended ? 8000 : 0),
      refuse: (to) => (to.startsWith('bad') && !mended ? 550 : undefined),
    });
    const company = await companyWith(smtp.url);
    const { chainId, workflowId } = await company.start([
      email(['bad@x.example', 'good@x.example'], { delayInSeconds: '1' }),
      send('404404', { groupId: '501', delayInSeconds: '1' }),
    ]);
    await company.action(chainId, 1, 'needs-attention');
    mended = true;
    assert.equal((await company.steer(chainId, 'retry', 0)).status, 202);
    await company.action(chainId, 0, 'running');
    const handle = stack.client.workflow.getHandle(workflowId);
    await handle.signal('skip', 1);
    await eventually('the child to close', async () => {
      const { status } = await stack.client.workflow.getHandle(`${workflowId}:0`).describe();
      return status.name === 'RUNNING' ? new Unmet(status.name) : true;
    });
    await handle.signal('retry', 0);
    assert.deepEqual(states(await company.ended(chainId)), ['done', 'skipped']);
    assert.deepEqual(
      smtp.got.map(({ to }) => to),
      ['good@x.example', 'bad@x.example'],
    );
  });

  it('that reached somebody is not true the chain, even if its condition cannot be checked again', async () => {
    const smtp = await startSlowSmtp({ refuse: (to) => (to.startsWith('bad') ? 550 : undefined) });
    const company = await companyWith(smtp.url);
    const assignment = await stack.assignment({ status: 'draft' });
    const asks = { platformAssignmentId: assignment, actionCondition: 'status==draft' };
    const { chainId } = await company.start([
      email(['bad@x.example', 'good@x.example'], asks),
      send('404404', { groupId: '501' }),
    ]);
    await company.action(chainId, 1, 'needs-attention');
    await stack.breakPlatform({ status: 401, path: 'assignments' });
    await company.steer(chainId, 'retry', 0);
    const chain = await company.until(
      chainId,
      ({ actions }) => actions[0]?.attempts === 2 && actions[0].state !== 'running',
      'the second attempt',
    );
    await stack.heal();
    assert.deepEqual(states(chain), ['partly-failed', 'needs-attention']);
    await company.steer(chainId, 'skip', 1);
    await company.ended(chainId);
  });
});
