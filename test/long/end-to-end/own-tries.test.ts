/** The relay tries a held action again without a decision, first after half a minute. The tests run in parallel. */

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { startPlatform } from '../../../src/sandbox/platform/platform.js';
import { actor, email, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const stack = await startStack({ retryBudgetSeconds: 1 });
const states = (chain: { actions: { state: string }[] }) => chain.actions.map(({ state }) => state);

/** A company with its own platform, which fails until `heal`. */
async function companyInOutage() {
  const platform = await startPlatform({ host: '127.0.0.1', port: 0 });
  after(() => platform.close());
  const control = (method: string) =>
    fetch(`${platform.url}/control/fail`, { method, body: method === 'PUT' ? '{"status": 503, "path": "send"}' : null });
  await control('PUT');
  const company = await stack.company();
  const system = { kind: 'http', baseUrl: platform.url } as const;
  const stored = await stack.store.companies.get(company.companyId);
  assert(stored);
  await stack.store.companies.put(company.companyId, () => ({ ...stored, platform: system, ticketing: system }), actor);
  return { company, heal: () => control('DELETE') };
}

describe("the relay's own try of a held action", { concurrency: true }, () => {
  it('completes the action after an outage, and people are notified', async () => {
    const { company, heal } = await companyInOutage();
    const { chainId } = await company.start([send('1001', { groupId: '501' }), udf(`T-${company.companyId}`)]);
    const held = await company.action(chainId, 0, 'needs-attention');
    assert.equal(held.actions[0]?.error?.retryable, true);
    assert(held.actions[0]?.nextAttemptAt);
    await stack.mails(company.admin, 1);
    await heal();
    const ended = await company.ended(chainId);
    assert.deepEqual(states(ended), ['done', 'done']);
    const notices = await stack.mails(company.admin, 2);
    assert.deepEqual(
      notices.map(({ Subject }) => /\[relay\] ([^:]+):/.exec(Subject)?.[1]),
      ['Needs attention', 'Recovered'],
    );
  });

  it('is the last try if a further try cannot help, and people are notified', async () => {
    const { company, heal } = await companyInOutage();
    const { chainId } = await company.start([send('404404', { groupId: '501' })]);
    await company.action(chainId, 0, 'needs-attention');
    await heal();
    const mails = await stack.mails(company.admin, 2);
    const [first = '', second = ''] = await Promise.all(mails.map(async (mail) => (await stack.text(mail)).Text));
    assert.match(first, /will retry the step automatically/);
    assert.match(second, /does not retry the step automatically\./);
    const [action] = (await company.read(chainId)).actions;
    assert.deepEqual([action?.state, action?.nextAttemptAt, action?.error?.retryable], ['needs-attention', undefined, false]);
  });

  it('leaves the action held, so that people can still decide, and its result is reported correctly', async () => {
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

    await stack.breakPlatform({ status: 503, path: 'send', delayMs: 8000 });
    const decideDuringTry = async (index: number, verb: string) => {
      await eventually(`a try of action ${index}`, async () => {
        const calls = await stack.calls(assignment);
        const ofAction = calls.filter(
          ({ idempotencyKey }) => idempotencyKey === `relay:${company.companyId}:${chainId}/${index}`,
        );
        return ofAction.some(({ status }) => String(status) === 'waiting') ? true : new Unmet(calls);
      });
      const seen = states(await company.read(chainId));
      assert.equal(seen[index], 'needs-attention');
      if (index === 0) assert.equal(seen[1], 'pending');
      assert.equal((await company.steer(chainId, verb, index)).status, 202);
    };
    await Promise.all([decideDuringTry(0, 'skip'), decideDuringTry(2, 'retry')]);
    await stack.heal();
    assert.deepEqual(states(await company.ended(chainId)), ['skipped', 'done', 'done']);

    assert.deepEqual(states(await other.ended(moved.chainId)), ['skipped']);
    const text = await eventually('the notice of the recovery', async () => {
      const mails = await stack.inbox(other.admin);
      const found = mails.find(({ Subject }) => Subject.startsWith('[relay] Recovered'));
      return found ? (await stack.text(found)).Text : new Unmet(mails.map(({ Subject }) => Subject));
    });
    assert.match(text, /The relay skipped the step and did not retry it \(the assignment had the status “accepted”\)/);
    assert(!text.includes('has been done'), text);
  });

  it('sends an e-mail to one recipient first: an outage of days must not fill the history', async () => {
    const company = await stack.company();
    const to = Array.from({ length: 20 }, (_, n) => `r${n}@${company.companyId}.example`);
    await stack.breakMail({ code: 451, to: `@${company.companyId}` });
    const { chainId, workflowId } = await company.start([email(to, { body: 'x'.repeat(100_000) })]);
    await company.action(chainId, 0, 'needs-attention');
    const bytes = async () => (await stack.client.workflow.getHandle(workflowId).describe()).historySize ?? 0;
    const held = await bytes();
    await company.until(
      chainId,
      ({ actions }) => (actions[0]?.attempts ?? 0) > 2 && actions[0]?.nextAttemptAt !== undefined,
      "the relay's own try",
    );
    assert((await bytes()) - held < 200_000);
    await stack.healMail();
    await company.steer(chainId, 'retry', 0);
    const chain = await company.ended(chainId);
    assert.equal(chain.actions[0]?.deliveries?.filter(({ sent }) => sent).length, 20);
  });
});
