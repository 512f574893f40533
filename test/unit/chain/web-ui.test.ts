import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ActionStatus } from '../../../src/chain/action-status.js';
import type { ChainAction } from '../../../src/chain/chain.js';
import type { ActionState } from '../../../src/chain/outcome.js';
import { actionTitle, chainSummary, failureMessage, summaryOf } from '../../../src/chain/web-ui.js';

/** Temporal's limit for a summary, minus what encryption adds with the longest key id. */
const summaryBytes = 400 - 151;
const bytesOf = (text: string) => Buffer.byteLength(JSON.stringify(text));

describe('actionTitle', () => {
  for (const [action, title] of [
    [{ index: 2, action: 'sendEmails', comment: 'tell the manager' }, 'Action 2, sendEmails: tell the manager'],
    [{ index: 0, action: 'sendEmails' }, 'Action 0, sendEmails'],
    [{ index: 0, action: 'sendEmails', comment: '' }, 'Action 0, sendEmails'],
    [{ index: 0, action: 'sendEmails', comment: ' \n ' }, 'Action 0, sendEmails'],
    [{ index: 0, action: 'sendEmails', comment: 'a\r\nb \t c\u0000' }, 'Action 0, sendEmails: a b c'],
  ] as const) {
    it(title, () => assert.equal(actionTitle(action), title));
  }

  it('leaves room for a few more words, for any comment', () => {
    for (const comment of ['x', '割', '😀', '"', '\\', 'é\u0301'].map((unit) => unit.repeat(1000))) {
      const title = actionTitle({ index: 99, action: 'platform_sendAssignment', comment });
      assert.ok(bytesOf(`${title}: and so many words more`) <= summaryBytes, comment.slice(0, 2));
      assert.ok(title.endsWith('…'));
    }
  });
});

describe('chainSummary', () => {
  const action = (assignmentId?: string): ChainAction => ({
    action: 'platform_sendAssignment',
    index: 0,
    relayId: '7',
    ...(assignmentId !== undefined && { assignmentId }),
  });
  const cases: [assignments: (string | undefined)[], summary: string][] = [
    [['1001'], 'acme: 1 action, assignment 1001: platform_sendAssignment'],
    [
      ['1001', undefined, '1001', '1002'],
      'acme: 4 actions, assignment 1001, 1002: platform_sendAssignment, platform_sendAssignment, ' +
        'platform_sendAssignment, platform_sendAssignment',
    ],
    [[undefined, undefined], 'acme: 2 actions: platform_sendAssignment, platform_sendAssignment'],
    [['10\n01'], 'acme: 1 action, assignment 10 01: platform_sendAssignment'],
  ];
  for (const [assignments, summary] of cases) {
    it(summary, () => assert.equal(chainSummary({ companyId: 'acme' }, assignments.map(action)), summary));
  }

  it('has no markup', () => {
    const marked = { ...action('1'), comment: '*a* `b` <i>c</i> [d](http://e) {workflowId} $f$ g_h' };
    assert.equal(
      chainSummary({ companyId: 'acme' }, [marked]),
      'acme: 1 action, assignment 1: a b ic/i d(http//e) workflowId f g_h',
    );
  });

  it('fits in a summary, for any assignment ids', () => {
    const ids = fc.array(fc.string({ unit: 'binary', minLength: 200, maxLength: 256 }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(ids, (ids) => assert.ok(bytesOf(chainSummary({ companyId: 'c'.repeat(64) }, ids.map(action))) <= summaryBytes)),
      { numRuns: 50 },
    );
  });
});

describe('summaryOf', () => {
  const action = { index: 2, action: 'sendEmails', comment: 'tell him' };

  it('names the actions and their delays', () =>
    assert.equal(summaryOf([action, { index: 3, action: 'sendEmails' }], 'due\nnow'), '2 tell him, 3 sendEmails: due now'));

  it('keeps a part of the comment and of the text, however long they are', () => {
    const summary = summaryOf([{ ...action, comment: 'x'.repeat(1000) }], 'y'.repeat(1000));
    assert.match(summary, /^2 x{70,}…: y{100,}…$/);
    assert.ok(bytesOf(summary) <= summaryBytes);
  });

  it('gives all remaining room to many actions', () => {
    const actions = Array.from({ length: 100 }, (_, index) => ({ ...action, index }));
    const summary = summaryOf(actions, 'due');
    assert.match(summary, /^0 tell him, 1 tell him, .{190,}…: due$/);
    assert.ok(bytesOf(summary) <= summaryBytes);
  });
});

describe('failureMessage', () => {
  const chain = { companyId: 'acme', chainId: 'c1' };
  const status = (index: number, state: ActionState, more: Partial<ActionStatus> = {}): ActionStatus => ({
    index,
    action: 'sendEmails',
    relayId: '7',
    state,
    ...more,
  });
  const error = { type: 'MailError', message: 'no route', retryable: true };

  it('says what failed, why, and what to do', () =>
    assert.equal(
      failureMessage(chain, [
        status(0, 'done'),
        status(1, 'failed', { comment: 'alert', error, reason: 'nobody decided' }),
        status(2, 'not-run'),
      ]),
      '1 of 3 actions failed, and 1 later action was not run. 1 alert: no route; nobody decided. Fix the cause, then run: ' +
        'npx relay retry acme c1 1',
    ));

  it('does not repeat a reason that equals the error', () =>
    assert.equal(
      failureMessage(chain, [status(0, 'failed', { error, reason: 'no route' })]),
      '1 of 1 action failed. 0 sendEmails: no route. Fix the cause, then run: npx relay retry acme c1 0',
    ));

  it('lists five failures at most', () => {
    const actions = Array.from({ length: 7 }, (_, index) => status(index, 'failed', { error }));
    assert.match(failureMessage(chain, actions), /^7 of 7 actions failed\. (\d sendEmails: no route; ){5}and 2 more\. Fix/);
  });
});
