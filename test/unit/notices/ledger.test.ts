import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { isNews, isOver } from '../../../src/contract/messages.js';
import type { Member } from '../../../src/contract/notices.js';
import { Ledger } from '../../../src/notices/ledger.js';

const time = (n: number) => `2026-07-01T12:00:${String(n).padStart(2, '0')}.000Z`;
/** A ledger with a first member, which has its own notice. */
function ledgerOf(holds: boolean, first: Member): Ledger {
  const ledger = new Ledger(holds);
  assert.equal(ledger.join(first), true);
  return ledger;
}

const member = (n: number, more: Partial<Member> = {}): Member => ({
  chainId: `c${n}`,
  index: 0,
  relayId: '1',
  state: 'needs-attention',
  at: time(n),
  message: 'no route',
  receivedAt: time(n),
  ...more,
});
const over = (n: number, state: Member['state'], index = 0) => ({ chainId: `c${n}`, index, state, at: time(50) });

describe('the ledger of a notifier', () => {
  it('reports each member once, the first ten by name, and counts the ended members', () => {
    const ledger = ledgerOf(true, member(0));
    assert.deepEqual([ledger.untold, ledger.open, ledger.members], [false, 1, 1]);
    for (let n = 1; n <= 14; n += 1) ledger.join(member(n));
    ledger.over(over(3, 'done'));
    ledger.join(member(4, { at: time(20) }));
    const { count, first, since } = ledger.take();
    assert.deepEqual([count, since], [13, member(0).receivedAt]);
    assert.deepEqual(
      first.map(({ chainId }) => chainId),
      ['c1', 'c2', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9', 'c10'],
    );
    assert.deepEqual([ledger.untold, ledger.take().count], [false, 0]);
    for (let n = 0; n <= 14; n += 1) ledger.over(over(n, n === 5 ? 'skipped' : 'done'));
    assert.deepEqual(
      [ledger.open, ledger.members, ledger.state.ended, ledger.state.through],
      [0, 15, { done: 14, skipped: 1 }, 15],
    );
  });

  it('reports a member again if it fails again', () => {
    const ledger = ledgerOf(true, member(0));
    ledger.join(member(0, { at: time(1) }));
    assert.deepEqual([ledger.members, ledger.take().count], [1, 1]);
  });

  it('counts chains, not their actions', () => {
    const ledger = ledgerOf(true, member(0));
    ledger.join(member(0, { index: 1 }));
    ledger.join(member(1));
    ledger.join(member(1, { index: 1 }));
    const again = new Ledger(true, JSON.parse(JSON.stringify(ledger.state)));
    const { count, actions, first } = again.take();
    assert.deepEqual([count, actions, first.length], [2, 3, 2]);
    again.over(over(0, 'done'));
    again.over(over(1, 'done', 1));
    assert.equal(again.state.through, 0);
    again.over(over(0, 'skipped', 1));
    again.over(over(1, 'cancelled'));
    assert.deepEqual([again.open, again.state.through, again.state.ended], [0, 1, { done: 2, skipped: 1, cancelled: 1 }]);
  });

  it('waits for no member if nothing is held', () => {
    const ledger = ledgerOf(false, member(0));
    ledger.join(member(1));
    assert.deepEqual([ledger.take().count, ledger.open, ledger.members], [1, 0, 2]);
  });

  it('waits for each member a day longer than it is held, and continues in the next run', () => {
    const ledger = ledgerOf(true, member(0, { heldUntil: '2026-07-04T12:00:00.000Z' }));
    ledger.join(member(1, { heldUntil: '2026-07-05T12:00:00.000Z' }));
    ledger.join(member(2, { heldUntil: '2026-07-03T12:00:00.000Z' }));
    const again = new Ledger(true, JSON.parse(JSON.stringify(ledger.state)));
    assert.equal(again.left(Date.parse('2026-07-04T11:00:00.000Z')), 3600_000);
    assert.deepEqual([again.members, again.open, again.take().count], [3, 3, 2]);
    assert.equal(again.next(Date.parse('2026-07-05T12:00:00.000Z')), undefined);
    again.over(over(1, 'done'));
    const { since } = again.state;
    const through = { kind: 'through', ended: { done: 1 }, through: 1, since, open: 2 };
    assert.deepEqual(again.next(Date.parse('2026-07-05T12:00:00.000Z')), through);
    assert.equal(again.members, 0);
  });

  it('counts the sends that found no technician', () => {
    const ledger = ledgerOf(true, member(0));
    for (const n of [1, 2]) ledger.join(member(n));
    ledger.take();
    ledger.over({ ...over(0, 'done'), nobody: true });
    ledger.recovered(member(1, { state: 'done', at: time(40), nobody: true }));
    ledger.over(over(2, 'done'));
    const { since } = ledger.state;
    assert.deepEqual(ledger.next(0), { kind: 'through', ended: { done: 3 }, through: 3, since, open: 0, nobody: 2 });
    assert.equal(ledger.state.nobody, undefined);
  });

  it('drops repeated and outdated signals', () => {
    const ledger = ledgerOf(true, member(0));
    assert.equal(ledger.join(member(0)), false);
    ledger.join(member(1));
    ledger.over({ ...over(1, 'done'), at: time(0) });
    assert.deepEqual([ledger.members, ledger.open], [2, 2]);
    ledger.over(over(1, 'done'));
    ledger.join(member(1));
    ledger.over(over(1, 'done'));
    assert.deepEqual([ledger.members, ledger.open, ledger.untold], [2, 1, false]);
  });

  it('reports the recovery of a single member alone, and of several members together, in any order of the signals', () => {
    for (const words of [['recovered', 'over'], ['over', 'recovered'], ['recovered']])
      for (const others of [0, 1]) {
        const ledger = ledgerOf(true, member(0));
        for (let n = 1; n <= others; n += 1) ledger.join(member(n));
        const told = [];
        for (let n = 0; n <= others; n += 1)
          for (const word of words)
            if (word === 'over') ledger.over(over(n, 'done'));
            else told.push(ledger.recovered(member(n, { state: 'done', at: time(40) })));
        assert.deepEqual(told, others === 0 ? [true] : [false, false], words.join());
        assert.equal(ledger.next(0)?.kind, others === 0 ? undefined : 'through', words.join());
        assert.equal(ledger.awaitsRecovery, true);
      }
  });

  it('reports the recovery of a member that it does not know', () => {
    assert.equal(new Ledger(true).recovered(member(0)), true);
    const ledger = ledgerOf(true, member(0));
    ledger.join(member(1));
    assert.equal(ledger.recovered(member(2)), true);
  });

  it('starts again with a member that has its own notice, when nothing is left to report or to wait for', () => {
    for (const holds of [true, false]) {
      const ledger = ledgerOf(holds, member(0));
      assert.equal(ledger.next(0), undefined);
      assert.deepEqual([ledger.members, ledger.join(member(1)), ledger.join(member(2))], [0, true, false]);
      assert.equal(ledger.next(0)?.kind, 'many');
      assert.deepEqual([ledger.waits, ledger.members > 0], [holds, true]);
    }
  });

  it('also reports members that it only counts, and stays small', () => {
    const ledger = ledgerOf(true, member(0));
    const uuid = randomUUID();
    for (let n = 1; n <= 9_000; n += 1) ledger.join(member(1, { chainId: `${n}-${uuid}`, heldUntil: time(50) }));
    assert.ok(JSON.stringify(ledger.state).length < 1_500_000);
    assert.equal(ledger.take().count, 9_000);
  });
});

describe('the signals to a notifier', () => {
  const notice = { kind: 'failed', companyId: 'acme', chainId: 'c0', index: 0, at: time(0) };
  it('are distinguished from values that somebody typed', () => {
    assert.ok(isNews({ notice, member: member(0) }) && isOver(over(0, 'done')));
    for (const value of [
      undefined,
      null,
      0,
      '',
      'x',
      true,
      [],
      [[]],
      {},
      { notice },
      { notice, member: {} },
      { member: member(0) },
    ])
      assert.ok(!isNews(value) && !isOver(value), JSON.stringify(value));
    for (const [field, value] of [
      ['chainId', 1],
      ['index', '0'],
      ['at', 'now'],
      ['heldUntil', 5],
      ['message', null],
      ['receivedAt', {}],
      ['state', []],
    ] as const)
      assert.ok(!isNews({ notice, member: { ...member(0), [field]: value } }), field);
    for (const [field, value] of [
      ['chainId', { toString: 1 }],
      ['companyId', 'x'.repeat(1000)],
      ['kind', undefined],
    ] as const)
      assert.ok(!isNews({ notice: { ...notice, [field]: value }, member: member(0) }), field);
  });
});
