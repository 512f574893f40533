/** Actions that cannot run are retried, held, reported and repaired. No effect that was done is repeated. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChainResource } from '../../../src/contract/chain-resource.js';
import { email, send, startStack, udf } from '../../end-to-end/stack.js';

const stack = await startStack({ retryBudgetSeconds: 1 });
const states = (chain: { actions: { state: string }[] }) => chain.actions.map(({ state }) => state);

describe('an action with a permanent failure', () => {
  it('is reported, held and retried, and the chain completes without repeating earlier actions', async () => {
    const company = await stack.company();
    const missing = String(Math.floor(Math.random() * 1e12));
    const { chainId } = await company.start([
      email(['first@example.com'], { subject: `first ${company.companyId}` }),
      send(missing, { groupId: '501', comment: 'to the preferred' }),
      udf(`T-${company.companyId}`),
    ]);
    const held = await company.action(chainId, 1, 'needs-attention');
    assert.equal(held.status, 'needs-attention');
    assert.deepEqual(states(held), ['done', 'needs-attention', 'pending']);
    assert.match(held.actions[1]?.error?.message ?? '', /404/);
    assert.equal(held.actions[1]?.nextAttemptAt, undefined);

    const [notice] = await stack.mails(company.admin, 1);
    assert(notice);
    assert.match(notice.Subject, /Needs attention: assignment \S+ was not sent/);
    const { Text, HTML } = await stack.text(notice);
    for (const part of [
      '404',
      company.companyId,
      company.relayId,
      missing,
      chainId,
      'to the preferred',
      'Update a ticket field',
    ]) {
      assert(Text.includes(part), `the notice does not say ${part}`);
      assert(HTML.includes(part), `the HTML notice does not say ${part}`);
    }

    await stack.assignment({ id: missing });
    assert.equal((await company.steer(chainId, 'retry', 1)).status, 202);
    const ended = await company.ended(chainId);
    assert.equal(ended.status, 'completed');
    assert.deepEqual(states(ended), ['done', 'done', 'done']);
    const sends = await stack.calls(missing);
    assert.deepEqual(
      sends.map(({ status }) => status),
      [404, 200],
    );
    assert.equal(new Set(sends.map(({ idempotencyKey }) => idempotencyKey)).size, 1);
    const firsts = (await stack.inbox('first@example.com')).filter(({ Subject }) => Subject.includes(company.companyId));
    assert.equal(firsts.length, 1);
  });

  it('can be skipped, and the actions after it run', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([send('404404', { groupId: '501' }), udf(`T-${company.companyId}`)]);
    await company.action(chainId, 0, 'needs-attention');
    assert.equal((await company.steer(chainId, 'skip', 0)).status, 202);
    const ended = await company.ended(chainId);
    assert.deepEqual(states(ended), ['skipped', 'done']);
    assert.equal(ended.actions[0]?.reason, 'skipped by admin');
    assert.equal(ended.status, 'completed');
  });

  it('is not true the chain if the rule says continue, and the chain fails', async () => {
    const company = await stack.company({ onFailure: 'continue' });
    const { chainId } = await company.start([send('404404', { groupId: '501' }), udf(`T-${company.companyId}`)]);
    const ended = await company.ended(chainId);
    assert.deepEqual(states(ended), ['failed', 'done']);
    assert.equal(ended.status, 'failed');
    const [notice] = await stack.mails(company.admin, 1);
    assert.match(notice?.Subject ?? '', /Failed/);
    const { status } = await stack.client.workflow.getHandle(ended.workflowId).describe();
    assert.equal(status.name, 'FAILED');
  });

  it('leaves a delayed safety net running', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment({ status: 'draft' });
    const { chainId } = await company.start([
      send('404404', { groupId: '501' }),
      email([`net@${company.companyId}.example`], {
        platformAssignmentId: assignment,
        delayInSeconds: '2',
        actionCondition: 'status==draft',
      }),
    ]);
    await stack.mails(`net@${company.companyId}.example`, 1);
    const chain = await company.action(chainId, 1, 'done');
    assert.deepEqual(states(chain), ['needs-attention', 'done']);
    await company.steer(chainId, 'skip', 0);
    assert.equal((await company.ended(chainId)).status, 'completed');
  });

  it('fails if nobody decides within the attention window; the actions after it do not run', async () => {
    const company = await stack.company();
    const short = await company.startHeld(2);
    const ended = await company.ended(short);
    assert.deepEqual(states(ended), ['failed', 'not-run']);
    assert.equal(ended.status, 'failed');
    const notices = await stack.mails(company.admin, 2);
    assert.deepEqual(
      notices.map(({ Subject }) => /\[relay\] ([^:]+):/.exec(Subject)?.[1]),
      ['Needs attention', 'No decision in time'],
    );
  });
});

describe('an action with a temporary failure', () => {
  it('is retried within the budget under the same key, without a notice', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment();
    await stack.breakPlatform({ status: 503, times: 1, path: 'send' });
    const { chainId } = await company.start([send(assignment, { groupId: '501' })]);
    const ended = await company.ended(chainId);
    assert.equal(ended.actions[0]?.state, 'done');
    assert.equal(ended.actions[0]?.attempts, 2);
    const calls = await stack.calls(assignment);
    assert.deepEqual(
      calls.map(({ status }) => status),
      [503, 200],
    );
    assert.equal(new Set(calls.map(({ idempotencyKey }) => idempotencyKey)).size, 1);
    assert.deepEqual(await stack.inbox(company.admin), []);
  });

  it('shows the time of the next attempt, which comes later each time', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment();
    await stack.breakPlatform({ status: 503, path: 'send' });
    const { chainId } = await company.start([send(assignment, { groupId: '501' })]);
    const isThird = ({ actions: [action] }: ChainResource) => (action?.attempts ?? 0) >= 3 && action?.nextAttemptAt !== undefined;
    const [action] = (await company.until(chainId, isThird, 'the third attempt')).actions;
    // The second attempt comes 1 s after the first, the third 2 s after the second.
    assert(Date.parse(action?.nextAttemptAt ?? '') - Date.parse(action?.startedAt ?? '') > 3000);
    await stack.heal();
    assert.equal((await company.ended(chainId)).status, 'completed');
  });

  it('respects Retry-After', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment();
    await stack.breakPlatform({ status: 429, times: 1, path: 'send', retryAfterSeconds: 3 });
    const { chainId } = await company.start([send(assignment, { groupId: '501' })]);
    const waiting = await company.action(chainId, 0, 'retrying');
    assert.equal(waiting.actions[0]?.error?.retryAfterSeconds, 3);
    await company.ended(chainId);
    const [refused, done] = await stack.calls(assignment);
    assert(refused && done);
    assert(Date.parse(done.at) - Date.parse(refused.at) >= 3000);
  });
});

describe('an e-mail that reaches some of its recipients', () => {
  it('is partly failed and is not true; a retry in the open chain sends only to recipients without a copy', async () => {
    const company = await stack.company();
    const [good, bad] = [`good@${company.companyId}.example`, `bad@${company.companyId}.example`];
    await stack.breakMail({ code: 550, to: bad });
    const { chainId } = await company.start([
      email([good, bad]),
      udf(`T-${company.companyId}`),
      send('404404', { groupId: '501' }),
    ]);
    const open = await company.action(chainId, 2, 'needs-attention');
    assert.deepEqual(states(open), ['partly-failed', 'done', 'needs-attention']);
    assert.deepEqual(
      open.actions[0]?.deliveries?.map(({ recipient, sent }) => [recipient, sent]),
      [
        [good, true],
        [bad, false],
      ],
    );
    const notices = await stack.mails(company.admin, 2);
    assert(notices.some(({ Subject }) => Subject.includes('Partly failed')));

    await stack.healMail();
    assert.equal((await company.steer(chainId, 'retry', 0)).status, 202);
    await stack.mails(bad, 1);
    await company.action(chainId, 0, 'done');
    assert.equal((await stack.inbox(good)).length, 1);
    await company.steer(chainId, 'skip', 2);
    assert.equal((await company.ended(chainId)).status, 'completed');
  });
});

describe("a mistake in the event's data", () => {
  it("an unreadable timestamp is found when the action runs, in the company's zone", async () => {
    const company = await stack.company();
    const { chainId } = await company.start([udf('1', { cfTargetDateFormat: 'yyyy', cfValue: 'soon' }), udf('T')]);
    const held = await company.action(chainId, 0, 'needs-attention');
    assert.deepEqual([held.actions[0]?.error?.type, held.actions[0]?.error?.retryable], ['DataMistake', false]);
    assert.match(held.actions[0]?.error?.message ?? '', /cfValue .*"soon"/);
    await company.steer(chainId, 'skip', 0);
    assert.deepEqual(states(await company.ended(chainId)), ['skipped', 'done']);
  });
  const cases: [string, (id: string) => Record<string, unknown>, RegExp][] = [
    ['every recipient blank', () => email(['', '${resource_email}']), /emails/],
    ['a group list that became empty', (id) => send(id, { sendToGroups: ' , ' }), /sendToGroups/],
    ['a blank assignment id', () => send(''), /platformAssignmentId/],
    ['a blank delay', (id) => send(id, { delayInSeconds: '' }), /delayInSeconds/],
    ['an unsubstituted value', () => udf('1', { cfValue: '${checked_in_on}' }), /cfValue/],
    ['an unsubstituted ticket id', () => udf('${custom_field_1}'), /externalSystemTicketId/],
  ];
  for (const [name, action, expected] of cases) {
    it(`${name}: this action needs attention, and all other actions run`, async () => {
      const company = await stack.company();
      const assignment = await stack.assignment();
      const { chainId, warnings } = await company.start([action(assignment), udf(`T-${company.companyId}`)]);
      assert(warnings.some(({ pointer, detail }) => pointer.startsWith('/0/') && detail.includes('will need attention')));
      const held = await company.action(chainId, 0, 'needs-attention');
      assert.equal(held.actions[0]?.error?.type, 'DataMistake');
      assert.match(held.actions[0]?.error?.message ?? '', expected);
      await company.steer(chainId, 'skip', 0);
      assert.deepEqual(states(await company.ended(chainId)), ['skipped', 'done']);
    });
  }
});
