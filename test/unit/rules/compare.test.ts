import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Contents, contentsSchema } from '../../../src/contract/rule-contents.js';
import { compareOutcomes, diffContents } from '../../../src/rules/compare.js';
import { renderEvent } from '../../../src/rules/render.js';

const send = { action: 'platform_sendAssignment', platformAssignmentId: '7', sendRadius: '5' };
const mail = { action: 'sendEmails', emails: ['ops@example.com'], subject: 's', body: 'b', bodyHtml: 'h' };
const contents = (given: object): Contents => contentsSchema.parse(given);
const actions = (...actions: object[]) => contents({ actions });

describe('the difference of two versions', () => {
  const cases: [name: string, before: Contents, after: Contents, diff: object][] = [
    ['none', actions(send, mail), actions(send, mail), { same: true, fields: [], variables: [], actions: [] }],
    [
      'a field',
      actions(send, mail),
      actions({ ...send, sendRadius: '25', groupId: '3' }, mail),
      {
        same: false,
        fields: [],
        variables: [],
        actions: [
          {
            before: 0,
            after: 0,
            action: 'platform_sendAssignment',
            changes: [
              { field: 'sendRadius', before: '5', after: '25' },
              { field: 'groupId', after: '3' },
            ],
          },
        ],
      },
    ],
    [
      'an additional first action',
      actions(send, { ...send, delayInSeconds: '60' }),
      actions({ action: 'sendEmails' }, send, { ...send, delayInSeconds: '90' }),
      {
        same: false,
        fields: [],
        variables: [],
        actions: [
          { after: 0, action: 'sendEmails', changes: [{ field: 'action', after: 'sendEmails' }] },
          {
            before: 1,
            after: 2,
            action: 'platform_sendAssignment',
            changes: [{ field: 'delayInSeconds', before: '60', after: '90' }],
          },
        ],
      },
    ],
    [
      'a removed action',
      actions({ action: 'sendEmails' }, send),
      actions(send),
      {
        same: false,
        fields: [],
        variables: [],
        actions: [{ before: 0, action: 'sendEmails', changes: [{ field: 'action', before: 'sendEmails' }] }],
      },
    ],
    [
      'when and variables',
      contents({ when: 'true', variables: { a: { path: 'a' }, b: { path: 'b' } }, actions: [send] }),
      contents({ variables: { a: { path: 'a.b' }, c: { path: 'c' } }, actions: [send] }),
      {
        same: false,
        when: { before: 'true' },
        fields: [{ field: 'when', before: 'true' }],
        variables: [
          { field: 'a', before: { path: 'a', missing: 'hold' }, after: { path: 'a.b', missing: 'hold' } },
          { field: 'b', before: { path: 'b', missing: 'hold' } },
          { field: 'c', after: { path: 'c', missing: 'hold' } },
        ],
        actions: [],
      },
    ],
  ];
  for (const [name, before, after, diff] of cases) it(name, () => assert.deepEqual(diffContents(before, after), diff));
});

describe('what a version would do with an event', () => {
  const event = { id: 7, title: 'A' };
  const tried = (before: object | undefined, after: object) =>
    compareOutcomes(before && renderEvent(contents(before), '1', event), renderEvent(contents(after), '1', event));
  const never = { when: 'event.id == 8', actions: [mail] };
  const broken = { when: 'event.x == 8', actions: [mail] };
  const held = { actions: [{ ...mail, body: '${event.note}' }] };

  const cases: [name: string, before: object | undefined, after: object, result: object][] = [
    ['the same', { actions: [mail] }, { actions: [{ ...mail, subject: 's' }] }, { outcome: 'same' }],
    [
      'the same actions from different contents',
      { actions: [{ ...mail, subject: 'A' }] },
      { actions: [{ ...mail, subject: '${event.title}' }] },
      { outcome: 'same' },
    ],
    [
      'another field',
      { actions: [send, mail] },
      { actions: [send, { ...mail, subject: '${event.title}', delayInSeconds: 60 }] },
      {
        outcome: 'different',
        differences: [
          { action: 1, field: 'delayInSeconds', after: '60' },
          { action: 1, field: 'subject', before: 's', after: 'A' },
        ],
      },
    ],
    [
      'another action, another if',
      { actions: [send] },
      { actions: [{ ...send, if: 'event.id == 7' }, mail] },
      {
        outcome: 'different',
        differences: [
          { action: 0, field: 'if', after: 'event.id == 7' },
          { action: 1, field: 'action', after: 'sendEmails' },
        ],
      },
    ],
    ['does not apply any more', { actions: [mail] }, never, { outcome: 'no-longer-applies', reason: 'event.id was 7' }],
    ['applies now', never, { actions: [mail] }, { outcome: 'applies-now' }],
    ['nothing was published', undefined, { actions: [mail] }, { outcome: 'applies-now' }],
    ['does not apply', never, never, { outcome: 'not-applicable', reason: 'event.id was 7' }],
    [
      'would be refused',
      { actions: [mail] },
      broken,
      { outcome: 'would-be-refused', reason: '/when cannot be checked on this event: event.x: no such property' },
    ],
    [
      'is refused as before',
      broken,
      broken,
      { outcome: 'same', reason: '/when cannot be checked on this event: event.x: no such property' },
    ],
    ['the same action, which would need attention', held, held, { outcome: 'same' }],
  ];
  for (const [name, before, after, result] of cases)
    it(name, () => {
      const found = tried(before, after);
      const byField = (one: { field: string }, other: { field: string }) => one.field.localeCompare(other.field);
      assert.deepEqual(
        {
          ...found,
          ...(found.differences && { differences: found.differences.toSorted(byField).toSorted((a, b) => a.action - b.action) }),
        },
        result,
      );
    });

  it('needs attention', () => {
    const { outcome, reason, differences } = tried({ actions: [mail] }, held);
    assert.equal(outcome, 'needs-attention');
    assert.match(reason ?? '', /^action 0: the event has no value at note; /);
    assert.deepEqual(
      differences?.map(({ field }) => field),
      ['body', 'needs attention'],
    );
  });
});
