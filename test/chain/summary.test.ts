import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ChainAction } from '../../src/chain/chain.js';
import type { ActionStatus } from '../../src/chain/outcome.js';
import { actionTable, actionTitle, chainSummary } from '../../src/chain/summary.js';

/** Temporal's limits, less what a payload's metadata take. */
const summaryBytes = 400 - 30;
const detailsBytes = 20_000 - 30;
const bytesOf = (text: string) => Buffer.byteLength(JSON.stringify(text));

describe('actionTitle', () => {
  for (const [action, title] of [
    [{ index: 2, action: 'sendEmails', comment: 'tell the manager' }, '2 sendEmails: tell the manager'],
    [{ index: 0, action: 'sendEmails' }, '0 sendEmails'],
    [{ index: 0, action: 'sendEmails', comment: '' }, '0 sendEmails'],
    [{ index: 0, action: 'sendEmails', comment: ' \n ' }, '0 sendEmails'],
    [{ index: 0, action: 'sendEmails', comment: 'a\r\nb \t c\u0000' }, '0 sendEmails: a b c'],
  ] as const) {
    it(title, () => assert.equal(actionTitle(action), title));
  }

  it('fits in a summary with a few words more, whatever the comment', () => {
    const words = ': held, until the attention window is over';
    for (const comment of ['x', '割', '😀', '"', '\\', 'é\u0301'].map((unit) => unit.repeat(1000))) {
      const title = actionTitle({ index: 99, action: 'platform_sendAssignment', comment });
      assert.ok(bytesOf(`${title}${words}`) <= summaryBytes, comment.slice(0, 2));
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
    [['1001'], 'acme: 1 action, assignment 1001'],
    [['1001', undefined, '1001', '1002'], 'acme: 4 actions, assignment 1001, 1002'],
    [[undefined, undefined], 'acme: 2 actions'],
    [['10\n01'], 'acme: 1 action, assignment 10 01'],
  ];
  for (const [assignments, summary] of cases) {
    it(summary, () => assert.equal(chainSummary({ companyId: 'acme' }, assignments.map(action)), summary));
  }

  it('fits in a summary, whatever the assignments are called', () => {
    const ids = fc.array(fc.string({ unit: 'binary', minLength: 200, maxLength: 256 }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(ids, (ids) => assert.ok(bytesOf(chainSummary({ companyId: 'c'.repeat(64) }, ids.map(action))) <= summaryBytes)),
      { numRuns: 50 },
    );
  });
});

describe('actionTable', () => {
  const common = { action: 'sendEmails', relayId: '7' };
  const runAt = '2024-03-05T16:07:09.500Z';
  const cases: [what: string, status: ActionStatus, row: string][] = [
    ['due', { ...common, index: 0, state: 'scheduled', runAt }, `| 0 | sendEmails |  | scheduled | due ${runAt} |`],
    [
      'done',
      { ...common, index: 1, state: 'done', runAt, endedAt: runAt, comment: 'hello' },
      '| 1 | sendEmails | hello | done |  |',
    ],
    [
      'a reason',
      { ...common, index: 2, state: 'skipped', reason: 'status was "sent"' },
      '| 2 | sendEmails |  | skipped | status was "sent" |',
    ],
    [
      'an error',
      { ...common, index: 3, state: 'needs-attention', error: { type: 'MailError', message: 'no\nroute', retryable: true } },
      '| 3 | sendEmails |  | needs-attention | no route |',
    ],
    [
      'what would break the table',
      { ...common, index: 4, state: 'pending', comment: 'a | b\n| c |' },
      '| 4 | sendEmails | a b c | pending |  |',
    ],
  ];
  for (const [what, status, row] of cases) {
    it(`shows ${what}`, () =>
      assert.deepEqual(actionTable([status]).split('\n'), [
        '| # | Action | Comment | State | Remark |',
        '|---|---|---|---|---|',
        row,
      ]));
  }

  for (const unit of ['x', '割', '😀', '"', '\\']) {
    it(`fits in the details with a hundred actions, each with long words of ${unit}`, () => {
      const actions = Array.from({ length: 100 }, (_, index): ActionStatus => {
        const long = unit.repeat(1000);
        return { index, action: 'platform_sendAssignment', relayId: '7', state: 'needs-attention', comment: long, reason: long };
      });
      const table = actionTable(actions);
      assert.ok(bytesOf(table) <= detailsBytes, `${bytesOf(table)}`);
      assert.equal(table.split('\n').length, 102);
    });
  }

  it('is only a head without actions', () => assert.equal(actionTable([]).split('\n').length, 2));
});
