import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import widenThenAlert from '../../examples/widen-then-alert.json' with { type: 'json' };
import { hintsOn } from '../../src/chain/hints.js';

const send = { action: 'platform_sendAssignment', groupId: '501' };
const mail = { action: 'sendEmails', emails: ['${owner_email}'] };
const net = { ...mail, delayInSeconds: '60', actionCondition: 'status==draft' };

const forEveryEvent = widenThenAlert.map((element) => ({ ...element, platformAssignmentId: '${assignment_id}' }));

describe('hints', () => {
  const rows: [what: string, elements: Record<string, unknown>[], hints: [pointer: string, detail: RegExp][]][] = [
    ['an example is about one assignment', widenThenAlert, [['/0/platformAssignmentId', /always this one/]]],
    ['for every event it has nothing odd', forEveryEvent, []],
    ['nothing has', [], []],
    [
      'a condition that never holds',
      [{ ...mail, actionCondition: 'incomingValue==a', incomingValue: 'b' }],
      [['/0/actionCondition', /can never hold.*incomingValue is always "b"/]],
    ],
    [
      'a value that is not there',
      [{ ...mail, actionCondition: 'incomingValue==a' }],
      [['/0/actionCondition', /can never hold.*there is none/]],
    ],
    [
      'a condition that always holds',
      [{ ...mail, actionCondition: 'incomingValue!=a', incomingValue: 'b' }],
      [['/0/actionCondition', /always holds/]],
    ],
    [
      'a value that the webhook fills in',
      [{ ...mail, actionCondition: 'incomingValue==a', incomingValue: '${resource_state}' }],
      [],
    ],
    [
      'a status in capitals',
      [{ ...mail, actionCondition: 'status==Draft' }],
      [['/0/actionCondition', /status==Draft is not ==draft/]],
    ],
    [
      'a variable that nobody knows',
      [{ ...mail, emails: ['a@b.example', '${owner_mail}'] }],
      [['/0/emails', /\$\{owner_mail\} is no variable/]],
    ],
    ['a send without a net', [send], [['/0', /no safety net/]]],
    [
      'a net that is too early',
      [
        { ...send, delayInSeconds: '90' },
        { ...net, actionCondition: undefined },
      ],
      [
        ['/1', /is due before 0/],
        ['/0', /no safety net/],
      ],
    ],
    ['a net by something else', [send, { ...net, actionCondition: 'location.zip==1' }], [['/0', /no safety net/]]],
    ['a net', [send, net], []],
    ['a net whose delay is filled in', [send, { ...net, delayInSeconds: '${custom_field_1}' }], []],
    ['a net without condition', [send, { ...net, actionCondition: undefined }], []],
    [
      'a status asked for at once',
      [send, { ...mail, actionCondition: 'status==draft' }, net],
      [['/1/actionCondition', /right after 0 has sent it/]],
    ],
    ['an order that is not that of time', [send, net, mail], [['/2', /is due before 1/]]],
    ['fields of no sense', [{ action: 7, delayInSeconds: {}, actionCondition: [] }], []],
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
