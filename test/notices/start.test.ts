import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import type { ActionStatus } from '../../src/chain/action-status.js';
import type { RejectedNotice } from '../../src/contract/notices.js';
import { foldedReason, ruleNotices } from '../../src/notices/start.js';

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

  it('is told by its beginning', () => {
    const long = 'the same words again and again, '.repeat(1000);
    assert.equal(foldedReason(failed(`${long}one`)), foldedReason(failed(`${long}other`)));
  });

  it('is said where there is no error', () => {
    const { error: _, ...action } = failed('');
    assert.equal(foldedReason({ ...action, reason: 'its workflow ended' }), 'Failed: its workflow ended');
  });
});

describe('the notices of refused requests', () => {
  for (const [reason, most] of [
    ['token-revoked', 1],
    ['token-expired', 1],
    ['signature', 1],
    ['invalid-chain', 2],
  ] as const)
    it(`are ${most} an hour for two requests that differ in where the mistake is: ${reason}`, () => {
      const started: string[] = [];
      const start = async (_: string, { workflowId }: { workflowId: string }) => started.push(workflowId);
      const client = { withDeadline: (_: number, run: () => unknown) => run(), workflow: { start } } as unknown as Client;
      const notices = ruleNotices(client, pino({ level: 'silent' }));
      for (const pointer of ['/0/relayAccessToken', '/1/relayAccessToken']) {
        const mistakes = [{ pointer, detail: 'was wrong' }];
        const at = '2026-03-02T09:12:44.120Z';
        const notice: RejectedNotice = {
          kind: 'rejected',
          companyId: 'acme',
          relayId: '1',
          at,
          rejectedId: 'R',
          reason,
          mistakes,
        };
        notices.start(notice, 'relay');
      }
      assert.equal(new Set(started).size, most);
    });
});
