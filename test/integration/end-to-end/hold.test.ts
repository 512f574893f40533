/**
 * Held actions: how a hold ends, and the notices about it. own-tries.test.ts tests the tries that the relay makes without a
 * decision.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { actor, email, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const stack = await startStack({ retryBudgetSeconds: 1 });
const states = (chain: { actions: { state: string }[] }) => chain.actions.map(({ state }) => state);

/** The notice whose subject starts with this text. */
const notice = (to: string, headline: string) =>
  eventually(`the notice ${headline}`, async () => {
    const mails = await stack.inbox(to);
    const found = mails.find(({ Subject }) => Subject.startsWith(`[relay] ${headline}`));
    return found ? (await stack.text(found)).Text : new Unmet(mails.map(({ Subject }) => Subject));
  });

describe('a held action', () => {
  it('without a decision: the last notice says what did not run', async () => {
    const company = await stack.company();
    const chainId = await company.startHeld(1);
    const text = await notice(company.admin, 'No decision in time');
    assert.match(text, /Not run:\n {2}Update a ticket field \(note: “behind”\)\n/);
    assert(!text.includes('Still planned'), text);
    await company.ended(chainId);
  });

  it('whose rule was changed to continue fails at the next try, and the chain goes on', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([send('404404', { groupId: '501' }), udf('T')]);
    await company.action(chainId, 0, 'needs-attention');
    const change = { onFailure: 'continue' } as const;
    await stack.store.rules.update(company.companyId, company.relayId, (rule) => ({ ...rule, ...change }), { kind: 'admin' });
    await company.steer(chainId, 'retry', 0);
    assert.deepEqual(states(await company.ended(chainId)), ['failed', 'done']);
  });

  it('that is an e-mail is skipped if no copy was sent and its condition is not true any more', async () => {
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

describe('under a rule that says onUnknown: "hold"', () => {
  it('a call with a broken connection is not repeated; a call with an error answer is repeated', async () => {
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

  it('a mail server that drops the connection after the body: nobody gets a second copy', async () => {
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

describe('a system with templates, after a lost answer', () => {
  const path = { platform: '/assignments/{assignmentId}/send', ticketing: '/tickets/{ticketId}' };
  const fields = { userDefinedFields: [{ name: '{field}', value: '{value}' }] };
  const templates = {
    platform: { send: { method: 'POST', path: path.platform, body: { groupIds: '{groupIds}', by: 'template' } } },
    ticketing: { update: { method: 'PATCH', path: path.ticketing, body: { ...fields, by: 'template' } } },
  } as const;
  for (const onUnknown of ['resend', 'hold'] as const)
    for (const part of ['platform', 'ticketing'] as const)
      it(`${part}, onUnknown: "${onUnknown}"`, async () => {
        const company = await stack.company({ onUnknown });
        const stored = await stack.store.companies.get(company.companyId);
        assert(stored);
        const system = { kind: 'http', baseUrl: stack.platform.url, templates: templates[part] } as const;
        await stack.store.companies.put(company.companyId, () => ({ ...stored, [part]: system }), actor);
        const id = part === 'platform' ? await stack.assignment() : `T-${company.companyId}`;
        const only = part === 'platform' ? 'send' : 'tickets';
        await stack.breakPlatform({ dropConnection: true, afterActing: true, times: 1, path: only });
        const { chainId } = await company.start([part === 'platform' ? send(id, { groupId: '501' }) : udf(id)]);
        if (onUnknown === 'hold') {
          const [held] = (await company.action(chainId, 0, 'needs-attention')).actions;
          assert.deepEqual([held?.error?.type, held?.nextAttemptAt], ['OutcomeUnknown', undefined]);
          assert.equal((await stack.calls(id)).length, 1);
          await company.steer(chainId, 'retry', 0);
        }
        assert.deepEqual(states(await company.ended(chainId)), ['done']);
        const calls = await stack.calls(id);
        assert.deepEqual(
          calls.map(({ status, repeat, body }) => [status, repeat, body?.by]),
          [
            ['dropped', false, 'template'],
            [200, true, 'template'],
          ],
        );
      });
});

describe('a rule that was disabled in the meantime', () => {
  it('skips its actions, even if a condition cannot be checked or an outcome is unknown', async () => {
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
