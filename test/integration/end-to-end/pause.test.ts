/** Planned downtime: actions that need a paused system wait, are reported once, and continue in order. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { chainListSchema } from '../../../src/contract/chain-resource.js';
import { adminToken, email, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const stack = await startStack({ attentionWindowSeconds: 10 });
const states = (chain: { actions: { state: string }[] }) => chain.actions.map(({ state }) => state);

async function pause(
  companyId: string,
  method: 'PUT' | 'DELETE' | 'GET',
  { body, query = '', bearer = adminToken }: { body?: unknown; query?: string; bearer?: string } = {},
): Promise<Response> {
  return fetch(`${stack.links.api}/admin/companies/${companyId}/pause${query}`, {
    method,
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** The due time of the next step of each chain in the list. */
async function nextDue(companyId: string) {
  const headers = { authorization: `Bearer ${adminToken}` };
  const response = await fetch(`${stack.links.api}/co/${companyId}/chains?steps=true`, { headers });
  return chainListSchema.parse(await response.json()).items.map(({ next }) => next?.at);
}

/** Waits until this number of chains is listed as paused. */
async function waiting(companyId: string, count: number): Promise<void> {
  await eventually(`${count} chains to wait`, async () => {
    const response = await fetch(`${stack.links.api}/co/${companyId}/chains?paused=true`, {
      headers: { authorization: `Bearer ${adminToken}` },
    });
    const { items } = chainListSchema.parse(await response.json());
    return items.length === count ? true : new Unmet(items.length);
  });
}

// The tests run in parallel: each has its own company, and mostly waits for a pause to end.
describe('a paused connector', { concurrency: true }, () => {
  it('keeps its actions waiting, in order, until the pause ends; people are notified once', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment();
    const ticket = `t-${company.companyId}`;
    assert.equal((await pause(company.companyId, 'PUT', { body: { what: 'platform', reason: 'new version' } })).status, 200);
    const actions = [udf(ticket), send(assignment, { groupId: '501' }), udf(ticket)];
    const one = await company.start(actions);
    const two = await company.start([send(assignment, { groupId: '501', delayInSeconds: '1' })]);
    const held = await company.until(one.chainId, ({ actions }) => actions[1]?.pausedSince !== undefined, 'the first to wait');
    await company.until(two.chainId, ({ actions }) => actions[0]?.pausedSince !== undefined, 'the delayed one to wait');
    assert.deepEqual([held.status, ...states(held)], ['running', 'done', 'pending', 'pending']);
    assert.match(
      held.actions[1]?.reason ?? '',
      /^paused: the platform, since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\. Reason: new version$/,
    );
    assert.equal((await company.steer(one.chainId, 'retry', 1)).status, 409);
    await waiting(company.companyId, 2);
    assert.deepEqual(await nextDue(company.companyId), [undefined, undefined], 'nobody knows the end of the pause');
    const [notice] = await stack.mails(company.admin, 1);
    assert(notice);
    assert.match(notice.Subject, /Paused/);
    assert.match((await stack.text(notice)).Text, /new version/);

    const ended = await pause(company.companyId, 'DELETE', { query: '?what=platform' });
    assert.deepEqual(await ended.json(), { ended: ['platform'] });
    for (const { chainId } of [one, two]) {
      const chain = await company.ended(chainId);
      assert.equal(chain.status, 'completed');
      const action = chain.actions.find((action) => action.action === 'platform_sendAssignment');
      assert.deepEqual([action?.attempts, action?.pausedSince, action?.reason], [1, undefined, undefined]);
    }
    assert.equal((await stack.calls(assignment)).length, 2);
    assert.equal((await stack.inbox(company.admin)).length, 1);
    await waiting(company.companyId, 0);
  });

  it('moves the times of scheduled actions in the answer of the API as soon as it begins', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([udf('T', { delayInSeconds: '600' }), udf('T', { delayInSeconds: '1200' })]);
    await company.action(chainId, 1, 'scheduled');
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await pause(company.companyId, 'PUT', { body: { what: 'ticketing', until } });
    const isMoved = ({ actions }: { actions: { runAt?: string | undefined }[] }) => actions[0]?.runAt === until;
    const { actions } = await company.until(chainId, isMoved, 'the moved time');
    assert.equal(Date.parse(actions[1]?.runAt ?? '') - Date.parse(until), 600_000);
    assert.match(actions[1]?.reason ?? '', /^paused: the ticket system/);
    assert.deepEqual(await nextDue(company.companyId), [until]);
    await pause(company.companyId, 'DELETE');
    await company.until(chainId, ({ actions }) => !actions[0]?.reason && !isMoved({ actions }), 'the original time');
  });

  it('keeps the time between delays that ended during the pause, unless a person asks to run overdue actions now', async () => {
    const company = await stack.company();
    await pause(company.companyId, 'PUT', { body: { what: 'ticketing' } });
    const start = () => company.start([udf('T', { delayInSeconds: '1' }), udf('T', { delayInSeconds: '2000' })]);
    const [kept, now] = [await start(), await start()];
    for (const { chainId } of [kept, now]) {
      await company.until(chainId, ({ actions }) => actions[0]?.pausedSince !== undefined, 'the first to wait');
      await company.steer(chainId, 'runNow', 1); // A rescheduled action also runs at the end of the pause.
      await company.until(chainId, ({ actions }) => actions[1]?.pausedSince !== undefined, 'the second to wait');
    }
    await waiting(company.companyId, 2);
    assert.equal((await pause(company.companyId, 'DELETE', { query: '?overdue=later' })).status, 400);
    assert.equal((await pause(company.companyId, 'DELETE', { query: '?overdue=now' })).status, 200);
    for (const { chainId } of [kept, now]) assert.deepEqual(states(await company.ended(chainId)), ['done', 'done']);
  });

  it('shifts delays by the time that the immediate action waited', async () => {
    const company = await stack.company();
    const ticket = `later-${company.companyId}`;
    await pause(company.companyId, 'PUT', { body: { what: 'ticketing' } });
    const { chainId } = await company.start([
      udf(ticket),
      udf(ticket, { delayInSeconds: '2' }),
      udf(ticket, { delayInSeconds: '4' }),
    ]);
    await company.until(chainId, ({ actions }) => actions.every(({ pausedSince }) => pausedSince), 'all to wait');
    const before = Date.now();
    await pause(company.companyId, 'DELETE');
    const { actions } = await company.ended(chainId);
    for (const [index, distance] of [2_000, 4_000].entries()) {
      const { runAt, startedAt } = actions[index + 1] ?? {};
      const [due = 0, started = 0] = [runAt, startedAt].map((time) => Date.parse(time ?? ''));
      assert(
        due >= before + distance && started >= due,
        `due ${due - before} ms, started ${started - before} ms after the pause`,
      );
    }
  });

  it('moves the next step in the list also after the pause', async () => {
    const company = await stack.company();
    await pause(company.companyId, 'PUT', { body: { what: 'ticketing' } });
    const { chainId } = await company.start([udf('T', { delayInSeconds: '1' }), udf('T', { delayInSeconds: '12' })]);
    await company.until(chainId, ({ actions }) => actions.every(({ pausedSince }) => pausedSince), 'both to wait');
    await pause(company.companyId, 'DELETE');
    const { actions } = await company.action(chainId, 1, 'scheduled');
    assert.deepEqual(await nextDue(company.companyId), [actions[1]?.runAt]);
    await company.ended(chainId);
  });

  it('does not affect other connectors, and conditions are evaluated after the pause', async () => {
    const company = await stack.company();
    const assignment = await stack.assignment();
    const to = `x@${company.companyId}.example`;
    await pause(company.companyId, 'PUT', { body: { what: 'mail' } });
    const { chainId } = await company.start([
      email([to, `y@${company.companyId}.example`]),
      email([to], { actionCondition: 'status==draft', platformAssignmentId: assignment }),
    ]);
    const other = await company.start([udf('T'), send(assignment, { groupId: '501' })]);
    assert.equal((await company.ended(other.chainId)).status, 'completed');
    await company.until(chainId, ({ actions }) => actions[0]?.pausedSince !== undefined, 'the e-mail to wait');
    await stack.setStatus(assignment, 'accepted');
    await waiting(company.companyId, 1);
    await pause(company.companyId, 'DELETE');
    const chain = await company.ended(chainId);
    assert.deepEqual(states(chain), ['done', 'skipped']);
    assert.deepEqual(
      chain.actions[0]?.deliveries?.map(({ sent }) => sent),
      [true, true],
    );
    assert.equal((await stack.inbox(to)).length, 1);
  });

  it('ends at its set time, and a waiting action can be cancelled', async () => {
    const company = await stack.company();
    await pause(company.companyId, 'PUT', { body: { until: new Date(Date.now() + 10_000).toISOString() } });
    const gone = await company.start([udf('T'), udf('T', { delayInSeconds: '3000' })]);
    const { chainId } = await company.start([udf('T')]);
    for (const chain of [gone, { chainId }])
      await company.until(chain.chainId, ({ actions }) => actions[0]?.pausedSince !== undefined, 'the action to wait');
    assert.equal((await company.steer(gone.chainId, 'cancel', 0)).status, 202);
    const cancelled = await company.action(gone.chainId, 0, 'cancelled');
    assert.deepEqual([cancelled.actions[0]?.reason, cancelled.actions[0]?.pausedSince], ['cancelled by admin', undefined]);
    await company.steer(gone.chainId, 'cancel');
    assert.equal((await company.ended(chainId)).status, 'completed');
    assert.deepEqual(await (await pause(company.companyId, 'GET')).json(), { pauses: [] });
  });
});

describe('an attention window', { concurrency: true }, () => {
  it('does not end during a pause', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([send('404404', { groupId: '501' }), udf('T')]);
    const first = (await company.action(chainId, 0, 'needs-attention')).actions[0]?.heldUntil ?? '';
    await pause(company.companyId, 'PUT', { body: { what: 'ticketing' } });
    const later = await company.until(
      chainId,
      ({ actions }) => (actions[0]?.heldUntil ?? first) > first,
      'the window to be longer',
    );
    assert.equal(later.actions[0]?.state, 'needs-attention');
    await company.steer(chainId, 'skip', 0);
    await company.until(chainId, ({ actions }) => actions[1]?.pausedSince !== undefined, 'the second to wait');
    await pause(company.companyId, 'DELETE');
    await company.ended(chainId);
  });

  it('is extended by the length of a pause within it', async () => {
    const company = await stack.company();
    const { chainId } = await company.start([send('404404', { groupId: '501' })]);
    const first = (await company.action(chainId, 0, 'needs-attention')).actions[0];
    await pause(company.companyId, 'PUT');
    await sleep(1500);
    await pause(company.companyId, 'DELETE');
    const failed = await company.ended(chainId);
    assert.equal(failed.status, 'failed');
    assert.ok(Date.parse(failed.actions[0]?.endedAt ?? '') - Date.parse(first?.heldUntil ?? '') >= 1400);
  });
});

describe('the pause API', () => {
  it('shows, changes and ends pauses, and refuses invalid pauses', async () => {
    const { companyId } = await stack.company();
    const key = await stack.store.keys.create(companyId, 'k', { kind: 'admin' });
    assert.ok(typeof key === 'object');
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await pause(companyId, 'PUT', { body: { what: 'mail', reason: 'a' } });
    await pause(companyId, 'PUT', { body: { what: 'mail', until } });
    const shown = (await (await pause(companyId, 'GET')).json()) as { pauses: Record<string, unknown>[] };
    assert.deepEqual(
      shown.pauses.map(({ what, until, reason }) => [what, until, reason]),
      [['mail', until, undefined]],
    );
    for (const [method, options, status] of [
      ['PUT', { body: { what: 'post' } }, 400],
      ['PUT', { body: { until: '2020-01-01T00:00:00Z' } }, 400],
      ['PUT', { body: { until: 'soon' } }, 400],
      ['PUT', { body: { whatever: 1 } }, 400],
      ['DELETE', { query: '?what=post' }, 400],
      ['DELETE', { query: '?what=platform' }, 404],
      ['PUT', { bearer: key.key }, 403],
      ['DELETE', { bearer: key.key }, 403],
    ] as const)
      assert.equal((await pause(companyId, method, options)).status, status, JSON.stringify([method, options]));
    assert.equal((await pause('nobody', 'PUT')).status, 404);
    assert.deepEqual(await (await pause(companyId, 'DELETE')).json(), { ended: ['mail'] });
    assert.equal((await pause(companyId, 'DELETE')).status, 404);
    const { items } = await stack.store.audit.list({ companyId, limit: 3 });
    assert.deepEqual(
      items.map(({ action }) => action),
      ['company.resume', 'company.pause', 'company.pause'],
    );
  });
});
