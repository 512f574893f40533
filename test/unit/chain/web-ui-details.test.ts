import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ActionStatus } from '../../../src/chain/action-status.js';
import type { ChainAction } from '../../../src/chain/chain.js';
import type { ActionState } from '../../../src/chain/outcome.js';
import { chainDetails, currentDetails } from '../../../src/chain/web-ui.js';

/** Temporal's limit, minus the payload's metadata. */
const detailsBytes = 20_000 - 30;
const bytesOf = (text: string) => Buffer.byteLength(JSON.stringify(text));

const time = '2024-03-05T16:07:09.500Z';
const chain = { companyId: 'acme', chainId: 'c1', receivedAt: time };
const status = (state: ActionState, more: Partial<ActionStatus> = {}): ActionStatus => ({
  index: 0,
  action: 'sendEmails',
  relayId: '7',
  state,
  ...more,
});
const error = { type: 'PlatformError', message: 'POST http://a.example/send answered 404', retryable: false };
/** The cells of a table, without the header row. */
const rowsOf = (details: string) =>
  details
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );

describe('currentDetails', () => {
  const cases: [what: string, status: ActionStatus, row: string[]][] = [
    ['when it is due', status('scheduled', { runAt: time }), ['0', 'scheduled', 'sendEmails', 'due 2024-03-05 16:07:09 UTC']],
    ['no time for an action in its sequence', status('pending', { runAt: time }), ['0', 'pending', 'sendEmails', '']],
    ['the comment', status('done', { comment: 'tell\nhim' }), ['0', 'done', 'sendEmails: tell him', '']],
    ['the recipients reached', status('done', { result: { recipients: 0 } }), ['0', 'done', 'sendEmails', 'reached 0']],
    [
      'the remark of the connector',
      status('done', { result: { note: 'the field had this value already' } }),
      ['0', 'done', 'sendEmails', 'the field had this value already'],
    ],
    [
      'the previous actions',
      status('done', { result: { recipients: 2 }, error: { ...error, message: 'down' } }),
      ['0', 'done', 'sendEmails', 'reached 2; an earlier try failed: down'],
    ],
    [
      'why it was skipped',
      status('skipped', { reason: 'status was "sent"' }),
      ['0', 'skipped', 'sendEmails', 'status was "sent"'],
    ],
    [
      'who decided',
      status('skipped', { reason: 'skipped by admin', steered: [{ at: time, by: 'admin', verb: 'skip' }] }),
      ['0', 'skipped', 'sendEmails', 'skipped by admin; skip by admin'],
    ],
    [
      'the time since which it is retried',
      status('retrying', { error: { ...error, message: 'down' }, nextAttemptAt: time }),
      ['0', 'retrying', 'sendEmails', 'down; next try at 2024-03-05 16:07:09 UTC or later'],
    ],
    [
      'texts without mark-up',
      status('pending', { comment: '*a* | `b` <i>c</i> [d](http://e) {workflowId} $f$ g_h' }),
      ['0', 'pending', 'sendEmails: \\*a\\* \\| \\`b\\` \\<i\\>c\\</i\\> \\[d\\](http\\://e) \\{workflowId\\} \\$f\\$ g\\_h', ''],
    ],
  ];
  for (const [what, action, row] of cases)
    it(`shows ${what}`, () => assert.deepEqual(rowsOf(currentDetails(chain, [action])), [row]));

  it('says first what is held, why, and what to do', () => {
    const held = status('needs-attention', { index: 1, error, heldUntil: time });
    const details = currentDetails(chain, [status('done'), held]);
    assert.equal(
      details.split('\n')[0],
      '**Action 1 needs attention:** POST http\\://a.example/send answered 404. The relay does not try the action again by itself: ' +
        'fix the cause first. ' +
        'To decide, open More Actions, then Send a Signal: `mend` with input `[1, {"field": "value"}]` edits the action and tries it again, ' +
        '`retry` tries the action again, `skip` continues without the action. The input of `retry` and `skip` is `[1]`. ' +
        'Without a decision, the action fails at 2024-03-05 16:07:09 UTC.',
    );
    assert.deepEqual(rowsOf(details)[1], ['1', '**needs-attention**', 'sendEmails', 'see above']);
  });

  it('begins with the title, then says what to do, and then names the call', () => {
    const words = { title: 'Ticket *7* does not exist at Jira', remedy: 'Change the number, then retry' };
    const held = status('needs-attention', { error: { ...error, ...words } });
    const [note = ''] = currentDetails(chain, [held]).split('\n');
    assert.ok(
      note.startsWith(
        '**Action 0 needs attention:** Ticket \\*7\\* does not exist at Jira; POST http\\://a.example/send answered 404. ' +
          '**What to do:** Change the number, then retry. The relay does not try the action again by itself',
      ),
      note,
    );
    assert.match(note, /Send a Signal: `retry` tries the action again, `skip`/);
    const failed = currentDetails(chain, [status('failed', { error: { ...error, ...words } })]);
    assert.match(failed, /\*\*What to do:\*\* Change the number, then retry\. To retry: `npx relay retry acme c1 0`\n/);
  });

  it('says that the relay retries by itself', () => {
    const details = currentDetails(chain, [status('needs-attention', { error, nextAttemptAt: time, heldUntil: time })]);
    assert.match(details, /The relay tries the action again by itself at 2024-03-05 16:07:09 UTC\./);
  });

  it('says why an action failed', () => {
    const details = currentDetails(chain, [status('failed', { error, reason: 'nobody decided until then' })]);
    assert.match(
      details,
      /^\*\*Action 0 failed:\*\* POST .* answered 404; nobody decided until then\. Fix the cause, then run: `npx relay retry acme c1 0`\n/,
    );
  });

  it('has only a head if there are no actions', () => assert.equal(currentDetails(chain, []).trim().split('\n').length, 2));

  for (const unit of ['x', '割', '😀', '"', '\\', '|']) {
    it(`fits for a hundred actions with long words of ${unit}`, () => {
      const long = unit.repeat(1000);
      const more = { action: 'platform_sendAssignment', comment: long, error: { ...error, message: long }, reason: long };
      const actions = Array.from({ length: 100 }, (_, index) => status('needs-attention', { index, ...more }));
      const details = currentDetails(chain, actions);
      assert.ok(bytesOf(details) <= detailsBytes, `${bytesOf(details)}`);
      assert.equal(rowsOf(details).length, 100);
    });
  }
});

describe('chainDetails', () => {
  const cases: [what: string, action: ChainAction, row: string[]][] = [
    [
      'the target and the content',
      {
        index: 0,
        relayId: '7',
        action: 'platform_sendAssignment',
        assignmentId: '1001',
        groupIds: ['501', '502'],
        radiusMiles: 5,
      },
      ['0', 'platform\\_sendAssignment', 'in order', 'groupIds 501, 502; radiusMiles 5; relayId 7; assignmentId 1001'],
    ],
    [
      'the delay, the condition and the comment, and no long text',
      {
        index: 3,
        relayId: '7',
        action: 'sendEmails',
        recipients: ['a@b.example'],
        subject: 'Late',
        body: 'long',
        bodyHtml: 'long',
        delaySeconds: 60,
        condition: { path: ['status'], operator: '==', value: 'draft' },
        comment: 'alert',
      },
      ['3', 'sendEmails: alert', '60 s after the event, if status==draft', 'recipients a@b.example; subject Late; relayId 7'],
    ],
  ];
  for (const [what, action, row] of cases) {
    it(`shows ${what}`, () => {
      const details = chainDetails(chain, [action]);
      assert.match(details, /^Chain c1 of acme, received 2024-03-05 16:07:09 UTC\./);
      const [cells] = rowsOf(details);
      assert.deepEqual(cells?.slice(0, 3), row.slice(0, 3));
      assert.deepEqual(cells?.[3]?.split('; ').sort(), row[3]?.split('; ').sort());
    });
  }

  it('fits for any request', () => {
    const text = fc.string({ unit: 'binary', maxLength: 1000 });
    const action = fc.record({
      comment: text,
      assignmentId: text,
      incomingValue: text,
      field: text,
      ticketId: text,
      value: text,
    });
    fc.assert(
      fc.property(fc.array(action, { minLength: 1, maxLength: 100 }), (asked) => {
        const actions = asked.map((more, index): ChainAction => ({ index, relayId: '7', action: 'ticket_updateUDF', ...more }));
        const details = chainDetails(chain, actions);
        assert.ok(bytesOf(details) <= detailsBytes, `${bytesOf(details)}`);
        assert.equal(rowsOf(details).length, actions.length);
      }),
      { numRuns: 30 },
    );
  });
});
