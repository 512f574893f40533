/** Held actions: what ends a hold, and what people are told of it. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { email, eventually, send, startStack, Unmet, udf } from './stack.js';

const stack = await startStack({ retryBudgetSeconds: 1 });
const states = (chain: { actions: { state: string }[] }) => chain.actions.map(({ state }) => state);

/** The notice whose subject begins so. */
const notice = (to: string, headline: string) =>
  eventually(`the notice ${headline}`, async () => {
    const mails = await stack.inbox(to);
    const found = mails.find(({ Subject }) => Subject.startsWith(`[relay] ${headline}`));
    return found ? (await stack.text(found)).Text : new Unmet(mails.map(({ Subject }) => Subject));
  });

describe('a held action', () => {
  it('that nobody decides about: the last notice says what was not run', async () => {
    const company = await stack.company();
    const chainId = await company.startHeld(1);
    const text = await notice(company.admin, 'Given up');
    assert.match(text, /Not run:\n {2}1 ticket_updateUDF: behind\n/);
    assert(!text.includes('Will still run'), text);
    await company.ended(chainId);
  });

  it('whose rule says continue by now fails at the next try, and the chain goes on', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([send('404404', { groupId: '501' }), udf('T')]);
    await company.action(chainId, 0, 'needs-attention');
    const change = { onFailure: 'continue' } as const;
    await stack.store.rules.update(company.companyId, company.relayId, (rule) => ({ ...rule, ...change }), { kind: 'admin' });
    await company.steer(chainId, 'retry', 0);
    assert.deepEqual(states(await company.ended(chainId)), ['failed', 'done']);
  });

  it('that is an e-mail which reached nobody is skipped when its condition holds no longer', async () => {
    const company = await stack.company();
    const to = `x@${company.companyId}.example`;
    const assignment = await stack.assignment({ status: 'draft' });
    await stack.breakMail({ code: 550, to });
    const asks = { platformAssignmentId: assignment, actionCondition: 'status==draft' };
    const { chainId } = await company.start([email([to], asks)]);
    await company.action(chainId, 0, 'needs-attention');
    await stack.healMail();
    await stack.setStatus(assignment, 'sent');
    await company.steer(chainId, 'retry', 0);
    const chain = await company.ended(chainId);
    assert.deepEqual([states(chain), chain.actions[0]?.reason], [['skipped'], 'status was "sent"']);
  });
});

describe("the relay's own try", () => {
  it('leaves the action held, so that people may decide meanwhile, and tells the truth of how it ended', {
    timeout: 120_000,
  }, async () => {
    const company = await stack.company();
    const other = await stack.company();
    const [assignment, draft] = [await stack.assignment(), await stack.assignment({ status: 'draft' })];
    await stack.breakPlatform({ status: 503, path: 'send' });
    const { chainId } = await company.start([
      send(assignment, { groupId: '501' }),
      udf('T'),
      send(assignment, { groupId: '501', delayInSeconds: '1' }),
    ]);
    const moved = await other.start([send(draft, { groupId: '501', actionCondition: 'status==draft' })]);
    await company.action(chainId, 0, 'needs-attention');
    await company.action(chainId, 2, 'needs-attention');
    await other.action(moved.chainId, 0, 'needs-attention');
    await stack.setStatus(draft, 'accepted');

    await stack.breakPlatform({ status: 503, path: 'send', delayMs: 5000 });
    await eventually('two tries', async () => {
      const waiting = (await stack.calls(assignment)).filter(({ status }) => String(status) === 'waiting');
      return waiting.length === 2 ? true : new Unmet(waiting);
    });
    assert.deepEqual(states(await company.read(chainId)), ['needs-attention', 'pending', 'needs-attention']);
    assert.equal((await company.steer(chainId, 'skip', 0)).status, 202);
    assert.equal((await company.steer(chainId, 'retry', 2)).status, 202);
    await stack.heal();
    assert.deepEqual(states(await company.ended(chainId)), ['skipped', 'done', 'done']);

    assert.deepEqual(states(await other.ended(moved.chainId)), ['skipped']);
    const text = await notice(other.admin, 'Recovered');
    assert.match(text, /need not be done any more: status was "accepted"/);
    assert(!text.includes('has been done'), text);
  });
});

describe("the relay's own tries", () => {
  it('end where trying again is of no use any more, and people are told so', async () => {
    const company = await stack.company();
    await stack.breakPlatform({ status: 503, path: 'send' });
    const { chainId } = await company.start([send('404404', { groupId: '501' })]);
    await company.action(chainId, 0, 'needs-attention');
    await stack.heal();
    const mails = await stack.mails(company.admin, 2);
    const [first = '', second = ''] = await Promise.all(mails.map(async (mail) => (await stack.text(mail)).Text));
    assert.match(first, /goes on trying by itself/);
    assert.match(second, /does not try again by itself: this has to be put right first/);
    const [action] = (await company.read(chainId)).actions;
    assert.deepEqual([action?.state, action?.nextAttemptAt, action?.error?.retryable], ['needs-attention', undefined, false]);
  });
});

describe('under a rule that says onUnknown: "hold"', () => {
  it('a call whose connection breaks is not repeated, one that was answered is', async () => {
    const company = await stack.company({ onUnknown: 'hold' });
    for (const [failure, unknown] of [
      [{ dropConnection: true, afterActing: true }, true],
      [{ status: 503 }, false],
    ] as const) {
      const assignment = await stack.assignment();
      await stack.breakPlatform({ ...failure, path: 'send' });
      const { chainId } = await company.start([send(assignment, { groupId: '501' })]);
      const [held] = (await company.action(chainId, 0, 'needs-attention')).actions;
      assert.equal(held?.error?.unknown ?? false, unknown);
      assert.equal(held?.error?.type, unknown ? 'OutcomeUnknown' : 'PlatformError');
      assert.equal(held?.nextAttemptAt === undefined, unknown);
      assert.equal((await stack.calls(assignment)).length, 1);
      await stack.heal();
      await company.steer(chainId, 'retry', 0);
      assert.deepEqual(states(await company.ended(chainId)), ['done']);
      assert.equal(new Set((await stack.calls(assignment)).map(({ idempotencyKey }) => idempotencyKey)).size, 1);
    }
  });

  it('a mail server that drops the connection after the body: nobody is written to twice', async () => {
    const company = await stack.company({ onUnknown: 'hold' });
    const to = `x@${company.companyId}.example`;
    await stack.breakMail({ dropAfterBody: true, to });
    const { chainId } = await company.start([email([to])]);
    const [held] = (await company.action(chainId, 0, 'needs-attention')).actions;
    assert.deepEqual([held?.error?.type, held?.nextAttemptAt], ['OutcomeUnknown', undefined]);
    await stack.healMail();
    await company.steer(chainId, 'skip', 0);
    await company.ended(chainId);
    assert.equal((await stack.inbox(to)).length, 1);
  });
});

describe('a rule that was disabled meanwhile', () => {
  it('makes its actions skipped, also where a condition cannot be checked, or what to do is not known', async () => {
    const company = await stack.company();
    const asks = { platformAssignmentId: '404404', actionCondition: 'status==draft', delayInSeconds: '2' };
    const { chainId } = await company.start([udf('T', asks), udf('', { delayInSeconds: '2' })]);
    await stack.store.rules.update(company.companyId, company.relayId, (rule) => ({ ...rule, enabled: false }), {
      kind: 'admin',
    });
    const chain = await company.ended(chainId);
    assert.deepEqual(states(chain), ['skipped', 'skipped']);
    for (const { reason } of chain.actions) assert.match(reason ?? '', /disabled/);
  });
});
