import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failureDetails, failureRemedy, failureTitle, helpFor } from '../../../src/chain/failure-words.js';
import { byWords, labelled, mistakeText } from '../../../src/chain/words.js';

const call = 'POST http://platform.example/assignments/2001/send';
const missing = `${call} answered 404: no assignment 2001`;
const atPlatform = 'Assignment 2001 does not exist at the assignment platform';

describe('a failure', () => {
  for (const [failure, title, remedy, by, words] of [
    [
      { type: 'PlatformError', message: missing, title: atPlatform, remedy: 'Change the number, then retry' },
      atPlatform,
      'Change the assignment number, then retry',
      'mend',
      'Change the assignment number',
    ],
    [
      { type: 'PlatformError', message: missing, assignmentId: '2001' },
      'Assignment 2001 does not exist',
      'Change the assignment number, then retry',
      'mend',
      'Change the assignment number',
    ],
    [
      { type: 'PlatformError', message: `${call} answered 422: bad` },
      'The assignment platform gave an error or no answer',
      'Fix the cause, then retry',
      'mend',
      undefined,
    ],
    [
      {
        type: 'PlatformError',
        message: `${call} answered 422: the group is closed`,
        title: 'The platform refused assignment 2001',
        remedy: 'Fix the cause (see the details), then retry',
      },
      'The platform refused assignment 2001',
      'The reason: “the group is closed”. Fix this problem, then retry',
      'mend',
      undefined,
    ],
    [
      { type: 'PlatformError', message: `${call} answered 503`, retryable: true },
      'The assignment platform gave an error or no answer',
      undefined,
      'retry',
      undefined,
    ],
    [
      {
        type: 'TicketingError',
        message: 'PATCH /t/7 answered 401',
        title: 'Autotask does not accept the credentials',
        remedy: "Enter new credentials in the company's ticketing settings, then retry",
      },
      'Autotask does not accept the credentials',
      "Enter new credentials in the company's ticketing settings, then retry",
      'settings',
      'Open the settings',
    ],
    [
      {
        type: 'TicketingError',
        message: 'answered 404',
        title: 'Ticket 7 does not exist at Jira',
        remedy: 'Change the number, then retry',
      },
      'Ticket 7 does not exist at Jira',
      'Change the ticket number, then retry',
      'mend',
      'Change the ticket number',
    ],
    [
      {
        type: 'TicketingError',
        message: 'answered 403',
        title: 'Jira does not let the user do this',
        remedy: 'Give the user the rights, then retry',
      },
      'Jira does not let the user do this',
      'Give the user the rights, then retry',
      'retry',
      undefined,
    ],
    [
      { type: 'DataMistake', message: 'externalSystemTicketId is blank' },
      'The data of the step has a mistake: externalSystemTicketId is blank',
      'Correct the fields of the step, then retry',
      'mend',
      'Correct the fields of the step',
    ],
    [
      { type: 'OutcomeUnknown', message: 'a worker was lost', unknown: true },
      'The result of this step is unknown',
      /^Check whether/,
      undefined,
      undefined,
    ],
    [
      { type: 'Timeout', message: 'no worker took the action' },
      'No worker took the action',
      'Fix the cause, then retry',
      'mend',
      undefined,
    ],
    [
      { type: 'PlatformError', message: 'x', title: 'It broke', remedy: 'Tell the operator of the relay' },
      'It broke',
      'Tell the operator of the relay',
      undefined,
      undefined,
    ],
  ] as const) {
    it(`"${failure.message}" of type ${failure.type} has the title "${title}" and the remedy: ${by}`, () => {
      const whole = { retryable: false, ...failure };
      assert.equal(failureTitle(whole), title);
      if (remedy instanceof RegExp) assert.match(failureRemedy(whole) ?? '', remedy);
      else assert.equal(failureRemedy(whole), remedy);
      assert.deepEqual([helpFor(whole)?.by, helpFor(whole)?.words], [by, words]);
      assert.ok(!/\b(POST|PATCH) |answered \d/.test(title));
      assert.equal(
        failureDetails(whole),
        title.toLowerCase().endsWith(failure.message.toLowerCase()) ? undefined : failure.message,
      );
    });
  }

  it('without a failure, a retry helps', () => assert.deepEqual(helpFor(undefined), { by: 'retry' }));
});

it('names the fields for people as the forms do', () => {
  for (const [text, shown] of [
    ['Change groupId or sendToGroups, then retry', 'Change “Group” or “Groups”, then retry'],
    ['cfValue is no time', '“New value” is no time'],
    ['the subject and the comment are too long', 'the subject and the comment are too long'],
    ['/0/subject is required', 'Step 1 needs “Subject”'],
    ['/0/subjct is not a field; did you mean subject?', 'Step 1 has the unknown field “subjct”. Did you mean “Subject”?'],
    [
      '/0/subjct is not a field; did you mean subject?; /0/subject is required; /0/body is required',
      'Step 1 has the unknown field “subjct”. Did you mean “Subject”? Step 1 needs “Text”',
    ],
    ['Nothing has run. /variables/owner_email is missing', 'Nothing has run. The value “owner email” is missing'],
    ['Nothing has run. /0/action is required', 'Nothing has run. The action of step 1 is required'],
    ['Step 1, the action must be one of sendEmails', 'Step 1 has an unknown action. Possible actions: “send an e-mail”'],
    ['/0/action is required: one of sendEmails', 'Step 1 has no action. Possible actions: “send an e-mail”'],
    [
      'Nothing has run. /0/action must be one of sendEmails',
      'Nothing has run. Step 1 has an unknown action. Possible actions: “send an e-mail”',
    ],
    ['/actions/1/body is blank', 'Step 2: “Text” is blank'],
    [
      'Nothing has run. /when cannot be checked on this event: event.job.status: no such property',
      'Nothing has run. The condition of the rule cannot be checked on this event: the event has no field “job.status”',
    ],
    ['location.zipp: no such property', 'the assignment has no property “location.zipp”'],
    ['status was "sent"', 'The assignment had the status “sent”'],
    ['no such assignment (GET http://x/assignments/7 answered 404 Not Found)', 'no such assignment'],
  ] as const)
    assert.equal(labelled(text), shown);
});

it('says where a mistake is', () => {
  for (const [pointer, words] of [
    ['/actions/1/delayInSeconds/x', 'Step 2: “Wait” is wrong.'],
    ['/0/unknown', 'Step 1: “unknown” is wrong.'],
    ['/2', 'Step 3 is wrong.'],
    ['/actions/0/if', 'Step 1: “Only if” is wrong.'],
    ['/variables/owner_email/path', 'The value “owner email” is wrong.'],
    ['/when', 'The condition of the rule is wrong.'],
    ['', 'The rule is wrong.'],
  ] as const)
    assert.equal(mistakeText({ pointer, detail: 'is wrong' }), words);
  assert.equal(mistakeText({ pointer: '', detail: 'must be an object' }, 'The request'), 'The request must be an object.');
});

it('shows the name of a key before its kind, and no name of a person as a key', () => {
  for (const [by, words] of [
    ['Ada', 'by Ada'],
    ['key dana', 'with the key “dana”'],
    ['key dana (bulk b-1)', 'with the key “dana” (many chains at once)'],
    ['admin', 'by the administrator'],
    ['admin dana', 'with the admin token “dana”'],
    ['admin (bulk b-1)', 'by the administrator (many chains at once)'],
    ['the link in a notice to ops@acme.example', 'with the link in a notice to ops@acme.example'],
  ] as const)
    assert.equal(byWords(by), words);
  assert.equal(labelled('skipped by key dana (bulk b-1)'), 'skipped by the key “dana” (many chains at once)');
  assert.equal(labelled('key account missing'), 'key account missing');
});
