import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import widenThenAlert from '../../../examples/widen-then-alert.json' with { type: 'json' };
import { hintsOn } from '../../../src/chain/hints.js';

const send = { action: 'platform_sendAssignment', groupId: '501' };
const mail = { action: 'sendEmails', emails: ['${owner_email}'] };
const net = { ...mail, delayInSeconds: '60', actionCondition: 'status==draft' };

const forEveryEvent = widenThenAlert.map((element) => ({ ...element, platformAssignmentId: '${assignment_id}' }));

describe('hints', () => {
  const rows: [what: string, elements: Record<string, unknown>[], hints: [pointer: string, detail: RegExp][]][] = [
    [
      'an example with one assignment',
      widenThenAlert,
      [['/0/platformAssignmentId', /has a fixed number, so every event uses the same assignment/]],
    ],
    ['no hints for a chain for every event', forEveryEvent, []],
    ['nothing has', [], []],
    [
      'a condition that is never true',
      [{ ...mail, actionCondition: 'incomingValue==a', incomingValue: 'b' }],
      [['/0/actionCondition', /is never true.*the value is always "b"/]],
    ],
    [
      'a value that does not exist',
      [{ ...mail, actionCondition: 'incomingValue==a' }],
      [['/0/actionCondition', /is never true.*the field “Value to compare” is empty/]],
    ],
    [
      'a condition that is always true',
      [{ ...mail, actionCondition: 'incomingValue!=a', incomingValue: 'b' }],
      [['/0/actionCondition', /is always true/]],
    ],
    [
      'a value that the webhook fills in',
      [{ ...mail, actionCondition: 'incomingValue==a', incomingValue: '${resource_state}' }],
      [],
    ],
    ['a status in capitals', [{ ...mail, actionCondition: 'status==Draft' }], [['/0/actionCondition', /write draft, not Draft/]]],
    [
      'an unknown variable',
      [{ ...mail, emails: ['a@b.example', '${owner_mail}'] }],
      [['/0/emails', /\$\{owner_mail\} is a value that the relay does not know/]],
    ],
    ['a send without a safety net', [send], [['/0', /no reminder/]]],
    [
      'a safety net that is too early',
      [
        { ...send, delayInSeconds: '90' },
        { ...net, actionCondition: undefined },
      ],
      [
        ['/1', /comes after action 0 in the list, but runs before it/],
        ['/0', /no reminder/],
      ],
    ],
    ['a safety net of another kind', [send, { ...net, actionCondition: 'location.zip==1' }], [['/0', /no reminder/]]],
    ['a net', [send, net], []],
    [
      'a safety net with a variable delay',
      [send, { ...net, delayInSeconds: '${seconds_at}' }],
      [['/1/delayInSeconds', /is a value that the relay does not know/]],
    ],
    [
      'free text within a text',
      [{ ...mail, subject: 'About ${custom_field_7} and ${assignment_id}', emails: ['${owner_email}'] }],
      [['/0/subject', /^\$\{custom_field_7\} is text that a person writes. If this text contains a quotation mark/]],
    ],
    [
      'free text in an unknown variable',
      [{ ...mail, body: '${note}' }],
      [
        ['/0/body', /\$\{note\} is a value that the relay does not know/],
        ['/0/body', /\$\{note\} is text that a person writes/],
      ],
    ],
    ['a safety net without a condition', [send, { ...net, actionCondition: undefined }], []],
    [
      'a status that is checked at once',
      [send, { ...mail, actionCondition: 'status==draft' }, net],
      [['/1/actionCondition', /immediately after action 0 has sent the assignment/]],
    ],
    ['actions out of time order', [send, net, mail], [['/2', /comes after action 1 in the list, but runs before it/]]],
    ['meaningless fields', [{ action: 7, delayInSeconds: {}, actionCondition: [] }], []],
  ];
  for (const [what, elements, expected] of rows)
    it(what, () => {
      const found = hintsOn(elements);
      for (const { add } of found) assert.deepEqual(add ? hintsOn([...elements, add]).filter((hint) => hint.add) : [], []);
      assert.deepEqual(
        found.map(({ pointer }) => pointer),
        expected.map(([pointer]) => pointer),
        JSON.stringify(found),
      );
      for (const [place, [, detail]] of expected.entries()) assert.match(found[place]?.detail ?? '', detail);
    });
});
