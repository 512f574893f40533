import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ActionStatus } from '../../../src/chain/action-status.js';
import { causeOf, foldedReason, silenceRequest } from '../../../src/contract/causes.js';
import type { ChainNotice, NoticeKind } from '../../../src/contract/notices.js';

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
    it(`does not depend on ${what}`, () => assert.equal(foldedReason(one), foldedReason(other)));

  for (const [what, one, other] of [
    ['status', 'http://p.example/x answered 404', 'http://p.example/x answered 503'],
    ['answer of the mail server', 'mail answered "550 no" to RCPT', 'mail answered "554 no" to RCPT'],
    ['words', 'connection refused', 'connection reset'],
  ] as const)
    it(`differs with the ${what}`, () => assert.notEqual(foldedReason(failed(one)), foldedReason(failed(other))));

  it('depends only on the beginning of its text', () => {
    const long = 'the same words again and again, '.repeat(1000);
    assert.equal(foldedReason(failed(`${long}one`)), foldedReason(failed(`${long}other`)));
  });

  it('exists without an error as well', () => {
    const { error: _, ...action } = failed('');
    assert.equal(foldedReason({ ...action, reason: 'its workflow ended' }), 'Failed: its workflow ended');
  });
});

describe('the cause of a notice', () => {
  const at = '2026-07-01T12:00:00.000Z';
  const about = (kind: NoticeKind, message = 'answered 404', relayId = '1'): ChainNotice => {
    const about = { companyId: 'acme', relayId, chainId: 'c', index: 0, at, receivedAt: at };
    return { kind, ...about, actions: [failed(message)] };
  };
  const idOf = (notice: ChainNotice, own = false) => causeOf(notice, { notify: own ? { emails: ['a@x.org'] } : undefined }).id;
  const held = idOf(about('needs-attention'));

  it('has the reason, and an id to look it up', () => {
    const notice = about('needs-attention');
    const words = { title: 'Ticket 7 does not exist', remedy: 'Change the number, then retry' };
    const actions = notice.actions.map((action) => ({ ...action, error: action.error && { ...action.error, ...words } }));
    const { id, kind, reason } = causeOf({ ...notice, actions }, undefined);
    assert.match(id, /^[0-9a-f]{16}$/);
    assert.equal(id, held, 'the words do not change it');
    assert.deepEqual([kind, reason], ['needs-attention', { type: 'TicketError', message: 'answered 404', ...words }]);
  });

  for (const [what, other, same] of [
    ['of the recovery', idOf(about('recovered')), true],
    ['of another rule', idOf(about('needs-attention', undefined, '2')), true],
    ['of a rule with its own contacts', idOf(about('needs-attention'), true), false],
    ['of another reason', idOf(about('needs-attention', 'answered 500')), false],
    ['of a failure', idOf(about('failed')), false],
  ] as const)
    it(`${same ? 'has the id' : 'does not have the id'} ${what}`, () => assert.equal(other === held, same));
});

describe('a silence', () => {
  for (const [seconds, ok] of [
    [0, true],
    [86_400, true],
    [86_401, false],
    [-1, false],
    [1.5, false],
    ['60', false],
  ] as const)
    it(`${ok ? 'may' : 'must not'} last ${JSON.stringify(seconds)} seconds`, () =>
      assert.equal(silenceRequest.safeParse({ seconds }).success, ok));
});
