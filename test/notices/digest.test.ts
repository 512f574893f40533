import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ActionStatus } from '../../src/chain/action-status.js';
import { foldedReason, Ledger, type Member, memberKey } from '../../src/notices/digest.js';

function failed(message: string, more: Partial<ActionStatus> = {}): ActionStatus {
  return {
    index: 0,
    action: 'ticket_updateUDF',
    relayId: '1',
    state: 'needs-attention',
    error: { type: 'TicketError', message, retryable: false },
    ...more,
  };
}

describe('the reason of a failure', () => {
  for (const [what, one, other] of [
    [
      'a number in the path',
      'GET http://p.example/assignments/1001 answered 404: no',
      'GET http://p.example/assignments/77 answered 404: no',
    ],
    [
      'the name of an assignment',
      'GET http://p.example/assignments/red answered 404: no red',
      'GET http://p.example/assignments/blue answered 404: no blue',
      'red',
      'blue',
    ],
    [
      'the name of a ticket',
      'PATCH http://t.example/tickets/INC-A answered 500',
      'PATCH http://t.example/tickets/INC-B answered 500',
    ],
    ['an address', 'no mailbox ada@example.com here', 'no mailbox bob@example.org here'],
    ['an id', 'request 4f0f5dc3-7340-4496-8d42-e6dbcde729eb broke', 'request ca8909eb-7b97-4347-a459-5799ab79287b broke'],
  ].map(
    ([what = '', one = '', other = '', ...ids]) =>
      [what, failed(one, ids[0] ? { assignmentId: ids[0] } : {}), failed(other, ids[1] ? { assignmentId: ids[1] } : {})] as const,
  ))
    it(`is the same whatever ${what} is`, () => assert.equal(foldedReason(one), foldedReason(other)));

  for (const [what, one, other] of [
    ['status', 'http://p.example/x answered 404', 'http://p.example/x answered 503'],
    ['answer of a mail server', 'mail answered "550 no" to RCPT', 'mail answered "554 no" to RCPT'],
    ['words', 'connection refused', 'connection reset'],
  ] as const)
    it(`differs with the ${what}`, () => assert.notEqual(foldedReason(failed(one)), foldedReason(failed(other))));

  it('is said where there is no error', () => {
    const { error: _, ...action } = failed('');
    assert.equal(foldedReason({ ...action, reason: 'its workflow ended' }), 'Failed: its workflow ended');
  });
});

const member = (n: number, more: Partial<Member> = {}): Member => ({
  chainId: `c${n}`,
  index: 0,
  relayId: '1',
  message: 'no route',
  receivedAt: `2026-07-01T12:00:${String(n).padStart(2, '0')}.000Z`,
  ...more,
});
const key = (n: number) => memberKey(member(n));

describe('the ledger of a digest', () => {
  it('tells of those that joined once, the first ten by name, and counts those that are over', () => {
    const ledger = Ledger.of(true, member(0));
    assert.deepEqual([ledger.untold, ledger.open, ledger.members], [false, 1, 1]);
    for (let n = 1; n <= 14; n += 1) ledger.join(member(n));
    ledger.over(key(3), 'done');
    ledger.join(member(4));
    const { count, first, since } = ledger.take();
    assert.deepEqual([count, since], [13, member(0).receivedAt]);
    assert.deepEqual(
      first.map(({ chainId }) => chainId),
      ['c1', 'c2', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9', 'c10'],
    );
    assert.deepEqual([ledger.untold, ledger.take().count], [false, 0]);
    for (let n = 0; n <= 14; n += 1) ledger.over(key(n), n === 5 ? 'skipped' : 'done');
    assert.deepEqual(
      [ledger.open, ledger.members, ledger.state.ended, ledger.state.through],
      [0, 15, { done: 14, skipped: 1 }, 15],
    );
  });

  it('tells again of one that failed again', () => {
    const ledger = Ledger.of(true, member(0));
    ledger.join(member(0));
    assert.deepEqual([ledger.members, ledger.take().count], [1, 1]);
  });

  it('counts chains, not their actions', () => {
    const ledger = Ledger.of(true, member(0));
    ledger.join(member(0, { index: 1 }));
    ledger.join(member(1));
    ledger.join(member(1, { index: 1 }));
    const again = new Ledger(true, JSON.parse(JSON.stringify(ledger.state)));
    const { count, actions, first } = again.take();
    assert.deepEqual([count, actions, first.length], [2, 3, 2]);
    again.over(key(0), 'done');
    again.over('c1/1', 'done');
    assert.equal(again.state.through, 0);
    again.over('c0/1', 'skipped');
    again.over(key(1), 'cancelled');
    assert.deepEqual([again.open, again.state.through, again.state.ended], [0, 1, { done: 2, skipped: 1, cancelled: 1 }]);
  });

  it('waits for nobody where nothing is held', () => {
    const ledger = Ledger.of(false, member(0));
    ledger.join(member(1));
    assert.deepEqual([ledger.take().count, ledger.open, ledger.members], [1, 0, 2]);
  });

  it('knows how long the last is held, and goes on as it was in another run', () => {
    const ledger = Ledger.of(true, member(0, { heldUntil: '2026-07-04T12:00:00.000Z' }));
    ledger.join(member(1, { heldUntil: '2026-07-05T12:00:00.000Z' }));
    ledger.join(member(2, { heldUntil: '2026-07-03T12:00:00.000Z' }));
    const again = new Ledger(true, JSON.parse(JSON.stringify(ledger.state)));
    assert.equal(again.heldUntil, '2026-07-05T12:00:00.000Z');
    assert.deepEqual([again.members, again.open, again.take().count], [3, 3, 2]);
  });
});
