import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storyOf } from '../../../src/console/story.js';
import type { AssignmentNow } from '../../../src/contract/assignment.js';

const zone = 'America/Chicago';
const now = Date.parse('2026-11-22T13:30:00Z');
type Step = Parameters<typeof storyOf>[1][number];

const step = (more: Partial<Step>): Step => ({ index: 0, action: 'platform_sendAssignment', state: 'done', ...more });
const fields = { groupId: '501', sendRadius: '5', actionCondition: 'status==draft' };
const nobody = step({ fields, result: { recipients: 0 } });
const wider = step({ state: 'scheduled', fields: { ...fields, sendRadius: '25' }, runAt: '2026-11-22T13:51:00Z' });
const mail = step({
  action: 'sendEmails',
  state: 'scheduled',
  fields: { emails: ['boss@acme.example'], subject: 'Nobody' },
  runAt: '2026-11-23T13:51:20Z',
});
const title = 'Assignment 1001 does not exist at the platform';
const held = step({
  state: 'needs-attention',
  error: { type: 'PlatformError', message: 'POST /x answered 404', title, retryable: false },
});
const retrying = { ...held, state: 'retrying' } as const;
const read = (more: Partial<AssignmentNow>): AssignmentNow => ({ assignmentId: '1001', readAt: '2026-11-22T13:30:00Z', ...more });
const silent = { title: 'The assignment platform did not answer', message: 'GET /x: no answer', missing: false };

describe('the story of an assignment', () => {
  for (const [current, steps, told] of [
    [
      read({ status: 'draft' }),
      [nobody, wider, mail],
      'Still draft. Sent to group 501 within 5 miles: nobody found. Next: send within 25 miles at 7:51.',
    ],
    // The answer of the platform is older than the send.
    [
      read({ status: 'draft' }),
      [step({ fields, endedAt: '2026-11-22T13:31:00Z', result: { recipients: 2 } })],
      'Sent to group 501 within 5 miles: 2 technicians found. Nothing more is planned.',
    ],
    [read({ status: 'draft' }), [wider], 'Draft. Next: send to group 501 within 25 miles at 7:51.'],
    // The first step waits for the end of a pause, and comes before the later step.
    [
      read({ status: 'draft' }),
      [step({ fields, state: 'pending', pausedSince: '2026-11-22T13:30:00Z' }), wider],
      'Draft. Next step, when the pause ends: send to group 501 within 5 miles.',
    ],
    [
      read({ status: 'accepted' }),
      [nobody, wider],
      'Sent to group 501 within 5 miles: nobody found. But the status at the platform is “accepted”. Next: send within 25 miles at 7:51, if the assignment is still “draft”.',
    ],
    [
      read({ status: 'sent' }),
      [nobody, step({ fields: { groupId: '502' }, result: { recipients: 4 } })],
      'Sent 2 times. Last sent to group 502: 4 technicians found. Nobody has accepted yet. Nothing more is planned.',
    ],
    // The list of steps has another order than the sends.
    [
      read({ status: 'sent' }),
      [
        step({ fields: { groupId: '502' }, endedAt: '2026-11-22T13:20:02Z', result: { recipients: 0 } }),
        step({ fields: { groupId: '501' }, endedAt: '2026-11-22T13:20:01Z', result: { recipients: 2 } }),
      ],
      'Sent 2 times. Earlier: 2 technicians found. Last sent to group 502: nobody found. Nobody has accepted yet. Nothing more is planned.',
    ],
    [
      read({ status: 'draft' }),
      [nobody, step({ fields: { groupId: '502' }, result: { recipients: 0 } })],
      'Still draft. Sent 2 times, but nobody was found. Last sent to group 502. Nothing more is planned.',
    ],
    [read({ status: 'sent' }), [step({})], 'Sent to technicians. Nobody has accepted yet. Nothing more is planned.'],
    [
      read({ problem: silent }),
      [nobody, mail],
      'The relay cannot read the status of the assignment. The assignment platform did not answer. Sent to group 501 within 5 miles: nobody found. Next: e-mail boss@acme.example: “Nobody” on 23 Nov, 7:51.',
    ],
    [
      read({ problem: { ...silent, missing: true } }),
      [held],
      'The platform does not have this assignment. A step needs attention.',
    ],
    [
      read({ status: 'draft' }),
      [{ ...held, fields }],
      `Draft. A step needs attention: Send to group 501 within 5 miles. Reason: ${title}.`,
    ],
    [undefined, [retrying], `Being retried: ${title}.`],
    [read({ status: 'draft' }), [{ ...held, state: 'failed' }], `Draft. Failed: ${title}. Nothing more is planned.`],
    [
      read({ status: 'draft' }),
      [{ ...wider, reason: 'paused: the platform' }],
      'Draft. Next step, when the pause ends: send to group 501 within 25 miles.',
    ],
    [read({ status: 'draft' }), [], 'Draft.'],
  ] as const)
    it(told, () => assert.equal(storyOf(current, steps, zone, now), told));
});
