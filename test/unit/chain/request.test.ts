import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { maxDelaySeconds } from '../../../src/chain/chain.js';
import { maxActions, type ReadRequest, readRequest } from '../../../src/chain/request.js';

const credentials = { relayId: '7', relayAccessToken: 's3cret' };
const send = { action: 'platform_sendAssignment', ...credentials, platformAssignmentId: '1001' };
const mail = { action: 'sendEmails', ...credentials, emails: ['a@x.org'], subject: 's', body: 'b', bodyHtml: '<p>b</p>' };
const update = { action: 'ticket_updateUDF', ...credentials, externalSystemTicketId: 'T', cfName: 'n', cfValue: 'v' };

/** Every issue as `pointer: detail`. */
const said = (remarks: { pointer: string; detail: string }[]) => remarks.map(({ pointer, detail }) => `${pointer}: ${detail}`);

function accepted(request: ReadRequest) {
  assert.ok(request.ok, JSON.stringify(request));
  return { actions: request.actions, warnings: said(request.warnings), mistakes: said(request.mistakes) };
}

function refused(request: ReadRequest): string[] {
  assert.ok(!request.ok);
  return said(request.problems);
}

describe('the chains of the specification', () => {
  it('widen the radius step by step, then alert', () => {
    const { actions, warnings } = accepted(
      readRequest([
        { ...send, sendToGroups: '501,502', sendRadius: '10' },
        { ...send, sendToGroups: '501,502', sendRadius: '25', delayInSeconds: '1800' },
        { ...mail, platformAssignmentId: '1001', delayInSeconds: '3600', actionCondition: 'status==draft', comment: 'alert' },
      ]),
    );
    const action = 'platform_sendAssignment';
    const sent = { sendToGroups: '501,502' };
    const { subject, body, bodyHtml } = mail;
    assert.deepEqual(warnings, []);
    assert.deepEqual(JSON.parse(JSON.stringify(actions)), [
      { action, groupIds: ['501', '502'], radiusMiles: 10, index: 0, relayId: '7', assignmentId: '1001', sent },
      {
        action,
        groupIds: ['501', '502'],
        radiusMiles: 25,
        index: 1,
        relayId: '7',
        assignmentId: '1001',
        delaySeconds: 1800,
        sent,
      },
      {
        ...{ action: 'sendEmails', recipients: ['a@x.org'], subject, body, bodyHtml },
        ...{ index: 2, relayId: '7', assignmentId: '1001', delaySeconds: 3600, comment: 'alert' },
        condition: { path: ['status'], operator: '==', value: 'draft' },
        sent: { actionCondition: 'status==draft' },
      },
    ]);
  });

  it('write, send, write; and set a ticket field if the incoming value matches', () => {
    const { actions, warnings } = accepted(
      readRequest([mail, send, mail, { ...update, incomingValue: 'MN', actionCondition: 'incomingValue==MN' }]),
    );
    assert.deepEqual(warnings, []);
    assert.deepEqual(
      actions.map(({ index, action }) => `${index} ${action}`),
      ['0 sendEmails', '1 platform_sendAssignment', '2 sendEmails', '3 ticket_updateUDF'],
    );
    assert.deepEqual(actions[3]?.condition, { path: ['incomingValue'], operator: '==', value: 'MN' });
    assert.equal(actions[3]?.incomingValue, 'MN');
  });
});

/** An action `base`, with its fields changed by `fields`. The expected problems or warnings omit the leading `/0/`. */
type Case = [what: string, base: Record<string, unknown>, fields: Record<string, unknown>, expected: string[]];

function check(outcome: 'problems' | 'warnings', cases: Case[]) {
  for (const [what, base, fields, expected] of cases) {
    it(what, () => {
      const request = readRequest([{ ...base, ...fields }]);
      const remarks = outcome === 'problems' ? refused(request) : accepted(request).warnings;
      assert.deepEqual(remarks.sort(), expected.map((one) => `/0/${one}`).sort());
    });
  }
}

const names = 'platform_sendAssignment, sendEmails, ticket_updateUDF';
const notSeconds = 'delayInSeconds: must be a whole number of seconds, such as "1800"';
const tooLate = 'delayInSeconds: must be at most 366 days (31622400 seconds)';
const tooLarge = 'is a number too large to be read exactly: send it as a string';
const forCondition = 'platformAssignmentId: is required because actionCondition asks about the assignment';

describe('a mistake in the rule is a problem', () => {
  check('problems', [
    ['no action', send, { action: undefined }, [`action: is required: one of ${names}`]],
    ['an unknown action', send, { action: 'sendEmail' }, [`action: must be one of ${names}`]],
    ['an action in capitals', send, { action: 'SENDEMAILS' }, [`action: must be one of ${names}`]],
    ['an action of another type', send, { action: ['sendEmails'] }, [`action: must be one of ${names}`]],
    ['an action by an inherited name', send, { action: 'constructor' }, [`action: must be one of ${names}`]],
    ['no rule', send, { relayId: undefined }, ['relayId: is required']],
    ['a rule that is not digits', send, { relayId: 'x7' }, ['relayId: must consist of 1 to 32 digits']],
    ['a blank rule', send, { relayId: '' }, ['relayId: must consist of 1 to 32 digits']],
    ['a rule too long', send, { relayId: '1'.repeat(33) }, ['relayId: must consist of 1 to 32 digits']],
    ['no token', send, { relayAccessToken: undefined }, ['relayAccessToken: is required']],
    ['null', mail, { comment: null }, ['comment: must be a string']],
    ['an object', mail, { comment: { a: 1 } }, ['comment: must be a string']],
    ['a list', mail, { delayInSeconds: ['10'] }, ['delayInSeconds: must be a string']],
    [
      'a send without an assignment',
      send,
      { platformAssignmentId: undefined },
      ['platformAssignmentId: is required for platform_sendAssignment'],
    ],
    ['a condition on no assignment', mail, { actionCondition: 'status==draft' }, [forCondition]],
    ['a condition on no assignment with a variable left', mail, { actionCondition: 'status==${x}' }, [forCondition]],
    ['a null assignment', send, { platformAssignmentId: null }, ['platformAssignmentId: must be a string']],
    [
      'a malformed condition',
      send,
      { actionCondition: 'status=draft' },
      [
        'actionCondition: "status=draft" has a single =: write <property>==<value> or <property>!=<value>, one ' +
          'comparison only, for example status==draft or location.zip=="94016"',
      ],
    ],
    [
      'a blank condition',
      send,
      { actionCondition: '' },
      [
        'actionCondition: "" has no ==: write <property>==<value> or <property>!=<value>, one comparison only, for ' +
          'example status==draft or location.zip=="94016"',
      ],
    ],
    ...['-5', '+5', '1.5', '1e3', '1,000', '10s', 'ten', '0x10', '٣', '1 0', 'NaN', '∞'].map(
      (delayInSeconds): Case => [`the delay "${delayInSeconds}"`, send, { delayInSeconds }, [notSeconds]],
    ),
    ['a delay beyond 366 days', send, { delayInSeconds: String(maxDelaySeconds + 1) }, [tooLate]],
    ['a delay far beyond the maximum', send, { delayInSeconds: '9'.repeat(400) }, [tooLate]],
    ['a negative number', send, { delayInSeconds: -1 }, [notSeconds]],
    ['a number with a fraction', send, { delayInSeconds: 1.5 }, [notSeconds]],
    ['a boolean delay', send, { delayInSeconds: true }, [notSeconds]],
    ['an unsafe number', send, { relayId: 2 ** 53 }, [`relayId: ${tooLarge}`]],
    ['an unsafe negative number', send, { comment: -(2 ** 53) }, [`comment: ${tooLarge}`]],
    ['a number beyond the number range', send, { delayInSeconds: Number.POSITIVE_INFINITY }, [`delayInSeconds: ${tooLarge}`]],
    ['an unsafe number in a list', mail, { emails: [1e300, 'a@x.org'] }, [`emails/0: ${tooLarge}`]],
    [
      'a condition too long',
      send,
      { actionCondition: `status==${'x'.repeat(1000)}` },
      ['actionCondition: must have at most 1000 characters'],
    ],
    [
      'an assignment too long',
      send,
      { platformAssignmentId: 'x'.repeat(257) },
      ['platformAssignmentId: must have at most 256 characters'],
    ],
    [
      'many at once: all are named',
      { comment: null },
      { action: 'platform_sendAssignment', delayInSeconds: '1.5', actionCondition: 'x', sendRadius: 'far', delay_in_second: '1' },
      [
        'delay_in_second: is not a field; did you mean delayInSeconds?',
        'relayId: is required',
        'relayAccessToken: is required',
        'comment: must be a string',
        notSeconds,
        'actionCondition: "x" has no ==: write <property>==<value> or <property>!=<value>, one comparison only, for ' +
          'example status==draft or location.zip=="94016"',
        'sendRadius: must be a number of miles, such as "25" or "2.5"',
        'platformAssignmentId: is required for platform_sendAssignment',
      ],
    ],
    [
      'an unknown action with another mistake',
      mail,
      { action: 'mail', delayInSeconds: 'x', actionCondition: 'status==draft' },
      [`action: must be one of ${names}`, notSeconds, forCondition],
    ],
  ]);

  it('that is reported for every action at once', () => {
    const request = readRequest([{ ...send, delayInSeconds: 'x' }, mail, { ...update, cfName: null }]);
    assert.deepEqual(refused(request), [`/0/${notSeconds}`, '/2/cfName: must be a string']);
  });
  it('if there is no action', () => assert.deepEqual(refused(readRequest([])), [': must have at least one action']));
  it('but not if there is the maximum number of actions', () => {
    assert.equal(accepted(readRequest(Array.from({ length: maxActions }, () => send))).actions.length, maxActions);
  });
  it('if there is one action too many', () => {
    const request = readRequest(Array.from({ length: maxActions + 1 }, () => send));
    assert.deepEqual(refused(request), [': has 101 actions; at most 100 are allowed']);
  });
});

describe('names', () => {
  const nearMisses: [name: string, meant: string, base: Record<string, unknown>][] = [
    ['delayInSecond', 'delayInSeconds', send],
    ['delayinseconds', 'delayInSeconds', send],
    ['delay_in_seconds', 'delayInSeconds', send],
    ['DelayInSeconds', 'delayInSeconds', send],
    ['delayInSecs', 'delayInSeconds', send],
    ['delaySeconds', 'delayInSeconds', send],
    ['dealyInSeconds', 'delayInSeconds', send],
    ['ActionCondition', 'actionCondition', send],
    ['actionCondtion', 'actionCondition', send],
    ['action-condition', 'actionCondition', send],
    ['actionConditions', 'actionCondition', send],
    ['incoming_value', 'incomingValue', send],
    ['Action', 'action', send],
    ['relayID', 'relayId', send],
    ['relay_access_token', 'relayAccessToken', send],
    ['platformAssignmentID', 'platformAssignmentId', send],
    ['comments', 'comment', send],
    ['sendtogroups', 'sendToGroups', send],
    ['sendToGroup', 'sendToGroups', send],
    ['send to groups', 'sendToGroups', send],
    ['groupIds', 'groupId', send],
    ['sendRadious', 'sendRadius', send],
    ['e-mails', 'emails', mail],
    ['Email', 'emails', mail],
    ['body_html', 'bodyHtml', mail],
    ['bodyHTML', 'bodyHtml', mail],
    ['subjects', 'subject', mail],
    ['cf_value', 'cfValue', update],
    ['cfTargetDateFromat', 'cfTargetDateFormat', update],
    ['externalSystemTicketID', 'externalSystemTicketId', update],
  ];
  check(
    'problems',
    nearMisses.map(
      ([name, meant, base]): Case => [
        `${name} means ${meant}`,
        base,
        { [name]: 'x' },
        [`${name}: is not a field; did you mean ${meant}?`],
      ],
    ),
  );

  const unrelated: [name: string, base: Record<string, unknown>, written?: string][] = [
    ['note', send],
    ['source', send],
    ['priority', send],
    ['metadata', send],
    ['description', send],
    ['x', send],
    ['constructor', send],
    ['toString', send],
    ['hasOwnProperty', send],
    ['', send],
    ['割', send],
    ['a/b~c', send, 'a~1b~0c'],
    ['a'.repeat(300), send],
    // These are fields of other action types.
    ['subject', send],
    ['groupId', mail],
    ['cfName', mail],
    ['emails', update],
  ];
  check(
    'warnings',
    unrelated.map(
      ([name, base, written = name]): Case => [
        `${name.slice(0, 30)} is ignored in ${base.action}`,
        base,
        { [name]: 'x' },
        [`${written}: is not a field of ${base.action} and is ignored`],
      ],
    ),
  );

  it('an unknown field may hold anything', () => {
    for (const value of [null, 1e300, true, {}, [[1e300]], { a: { b: [null] } }]) {
      assert.deepEqual(accepted(readRequest([{ ...send, extra: value }])).warnings, [
        '/0/extra: is not a field of platform_sendAssignment and is ignored',
      ]);
    }
  });

  it('an own field called __proto__ is an unknown field', () => {
    const element = JSON.parse(`{"__proto__": {"comment": "inherited"}, ${JSON.stringify(send).slice(1)}`);
    const { actions, warnings } = accepted(readRequest([element]));
    assert.equal(actions[0]?.comment, undefined);
    assert.deepEqual(warnings, ['/0/__proto__: is not a field of platform_sendAssignment and is ignored']);
  });

  it('an inherited property does not exist', () => {
    assert.deepEqual(refused(readRequest([Object.create(send)])).includes(`/0/action: is required: one of ${names}`), true);
  });
});

describe('values', () => {
  const cases: [what: string, base: Record<string, unknown>, fields: Record<string, unknown>, read: Record<string, unknown>][] = [
    ['a number for a text', send, { relayId: 4711 }, { relayId: '4711' }],
    ['the largest safe number', send, { platformAssignmentId: Number.MAX_SAFE_INTEGER }, { assignmentId: '9007199254740991' }],
    ['a boolean for a text', send, { comment: true }, { comment: 'true' }],
    ['numbers for delay and radius', send, { delayInSeconds: 1800, sendRadius: 2.5 }, { delaySeconds: 1800, radiusMiles: 2.5 }],
    ['a number for a value', update, { cfValue: 1709672829 }, { value: '1709672829' }],
    ['no delay', send, {}, { delaySeconds: undefined }],
    ['the delay "0"', send, { delayInSeconds: '0' }, { delaySeconds: 0 }],
    ['a delay with blanks around', send, { delayInSeconds: ' 10 ' }, { delaySeconds: 10 }],
    ['a delay with leading zeros', send, { delayInSeconds: '0060' }, { delaySeconds: 60 }],
    ['the longest delay', send, { delayInSeconds: String(maxDelaySeconds) }, { delaySeconds: maxDelaySeconds }],
    ['an assignment with blanks around', send, { platformAssignmentId: ' 1001\n' }, { assignmentId: '1001' }],
    ['an assignment that is not needed', mail, { platformAssignmentId: '1001' }, { assignmentId: '1001' }],
    ['no assignment for an action without one', mail, {}, { assignmentId: undefined }],
    [
      'a blank assignment that is not needed',
      mail,
      { platformAssignmentId: '' },
      { assignmentId: undefined, invalidData: undefined },
    ],
    [
      'an unsubstituted assignment that is not needed',
      mail,
      { platformAssignmentId: '${a}' },
      { assignmentId: undefined, cannotSchedule: undefined },
    ],
    [
      'a blank incoming value',
      mail,
      { incomingValue: '', actionCondition: 'incomingValue==' },
      { incomingValue: '', cannotSchedule: undefined },
    ],
    ['no incoming value', mail, { actionCondition: 'incomingValue==x' }, { incomingValue: undefined, cannotSchedule: undefined }],
    [
      'an unsubstituted incoming value that no condition uses',
      mail,
      { incomingValue: '${x}' },
      { incomingValue: '${x}', cannotSchedule: undefined },
    ],
    ['a long incoming value', mail, { incomingValue: 'x'.repeat(20_000) }, { incomingValue: 'x'.repeat(20_000) }],
    [
      'a comment with an unsubstituted variable',
      mail,
      { comment: '${x}' },
      { comment: '${x}', invalidData: undefined, cannotSchedule: undefined },
    ],
  ];
  for (const [what, base, fields, read] of cases) {
    it(what, () => {
      const { actions, warnings } = accepted(readRequest([{ ...base, ...fields }]));
      for (const [name, value] of Object.entries(read)) assert.deepEqual(Reflect.get(actions[0] ?? {}, name), value, name);
      assert.deepEqual(warnings, []);
    });
  }

  it('cuts a comment that is too long', () => {
    const { actions, warnings } = accepted(readRequest([{ ...mail, comment: 'x'.repeat(1001) }]));
    assert.equal(actions[0]?.comment, `${'x'.repeat(999)}…`);
    assert.deepEqual(warnings, ['/0/comment: is longer than 1000 characters and is cut']);
  });
});

describe("a mistake in the event's data makes the action need attention", () => {
  const longName = `\${custom_field_${'0123456789abcdef'.repeat(6)}}`;
  const asked = { platformAssignmentId: '1001', actionCondition: 'status==draft' };
  const ofIncoming = { actionCondition: 'incomingValue==x' };
  type Found = { cannotSchedule?: string; invalidData?: string };
  const cases: [what: string, base: Record<string, unknown>, fields: Record<string, unknown>, found: Found][] = [
    ['a blank delay', send, { delayInSeconds: '' }, { cannotSchedule: 'delayInSeconds is blank' }],
    ['a delay of spaces', send, { delayInSeconds: ' ' }, { cannotSchedule: 'delayInSeconds is blank' }],
    [
      'an unsubstituted delay',
      send,
      { delayInSeconds: '${x}' },
      { cannotSchedule: 'delayInSeconds has no value: the webhook did not fill in "${x}"' },
    ],
    [
      'a delay with an unsubstituted variable',
      send,
      { delayInSeconds: '1${x}' },
      { cannotSchedule: 'delayInSeconds has no value: the webhook did not fill in "1${x}"' },
    ],
    [
      'an unsubstituted delay of any length',
      send,
      { delayInSeconds: longName },
      { cannotSchedule: `delayInSeconds has no value: the webhook did not fill in "${longName.slice(0, 79)}…"` },
    ],
    ['a blank assignment of a send', send, { platformAssignmentId: '' }, { invalidData: 'platformAssignmentId is blank' }],
    [
      'an unsubstituted assignment of a send',
      send,
      { platformAssignmentId: '${assignment_id}' },
      { invalidData: 'platformAssignmentId has no value: the webhook did not fill in "${assignment_id}"' },
    ],
    [
      'a blank assignment in a condition',
      mail,
      { ...asked, platformAssignmentId: ' ' },
      { cannotSchedule: 'platformAssignmentId is blank' },
    ],
    [
      'a blank assignment of a send with a condition',
      send,
      { ...asked, platformAssignmentId: '' },
      { cannotSchedule: 'platformAssignmentId is blank' },
    ],
    [
      'a blank assignment of a send, condition on the incoming value',
      send,
      { ...ofIncoming, platformAssignmentId: '' },
      { invalidData: 'platformAssignmentId is blank' },
    ],
    [
      'a condition with an unsubstituted variable',
      send,
      { actionCondition: 'status==${x}' },
      { cannotSchedule: 'actionCondition has ${x}, which the webhook did not fill in' },
    ],
    [
      'a condition that is a variable',
      mail,
      { actionCondition: '${x}' },
      { cannotSchedule: 'actionCondition has ${x}, which the webhook did not fill in' },
    ],
    [
      'an unsubstituted incoming value',
      mail,
      { ...ofIncoming, incomingValue: '${x}' },
      { cannotSchedule: 'incomingValue has ${x}, which the webhook did not fill in' },
    ],
    [
      'no valid recipient',
      mail,
      { emails: [''] },
      { invalidData: 'emails has no valid e-mail address: every recipient is blank or invalid' },
    ],
    [
      'no group',
      send,
      { sendToGroups: '${g}' },
      { invalidData: 'sendToGroups has no group: an empty field does not mean "send to everybody"' },
    ],
    ['a blank radius', send, { sendRadius: '' }, { invalidData: 'sendRadius is blank (a number of miles is needed)' }],
    ['a blank ticket', update, { externalSystemTicketId: '' }, { invalidData: 'externalSystemTicketId is blank' }],
    [
      'several: all are named',
      send,
      { delayInSeconds: '', actionCondition: '${c}', sendRadius: '', sendToGroups: '' },
      {
        cannotSchedule: 'delayInSeconds is blank; actionCondition has ${c}, which the webhook did not fill in',
        invalidData:
          'sendToGroups has no group: an empty field does not mean "send to everybody"; sendRadius is blank (a number of ' +
          'miles is needed)',
      },
    ],
  ];
  for (const [what, base, fields, found] of cases) {
    it(what, () => {
      const { actions, warnings } = accepted(readRequest([send, { ...base, ...fields }, mail]));
      assert.equal(actions.length, 3);
      assert.deepEqual(
        { cannotSchedule: actions[1]?.cannotSchedule, invalidData: actions[1]?.invalidData },
        { cannotSchedule: undefined, invalidData: undefined, ...found },
      );
      const count = Object.values(found).join('; ').split('; ').length;
      assert.equal(warnings.filter((warning) => warning.endsWith('; this action will need attention')).length, count);
      assert.ok(warnings.every((warning) => warning.startsWith('/1/')));
    });
  }

  it('a mistake in the data beside a problem in the rule: the request is refused, for the problem only', () => {
    assert.deepEqual(refused(readRequest([{ ...send, delayInSeconds: '', sendRadius: 'far' }])), [
      '/0/sendRadius: must be a number of miles, such as "25" or "2.5"',
    ]);
  });
});

describe('any input', () => {
  const names = Object.keys({
    ...send,
    ...mail,
    ...update,
    delayInSeconds: 1,
    actionCondition: 1,
    incomingValue: 1,
    sendRadius: 1,
    groupId: 1,
  });
  const name = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...names) },
    fc.constantFrom('__proto__', 'constructor', 'toString', 'length', 'delayInSecond', 'a/b', 'a~b', ''),
    fc.string({ unit: 'binary', maxLength: 8 }),
  );
  const text = fc.oneof(
    fc.constantFrom('', ' ', '${x}', '10', '-1', 'status==draft', 'incomingValue==x', 'a@x.org', 'a,b', "yyyy-MM'", 's3cret'),
    fc.string({ unit: 'binary', maxLength: 20 }),
  );
  const value = fc.oneof({ weight: 4, arbitrary: text }, fc.array(text, { maxLength: 3 }), fc.jsonValue());
  const base = fc.constantFrom<Record<string, unknown>>({}, send, mail, update);
  const element = fc
    .tuple(base, fc.array(fc.tuple(name, value), { maxLength: 5 }))
    .map(([base, fields]) => Object.fromEntries([...Object.entries(base), ...fields]));

  const valueAt = (document: unknown, pointer: string): unknown =>
    pointer
      .split('/')
      .slice(1)
      .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>(
        (at, segment) =>
          typeof at === 'object' && at !== null && Object.hasOwn(at, segment) ? Reflect.get(at, segment) : undefined,
        document,
      );

  it('gets pointers to existing or required places, and no token in them', () => {
    let both = 0;
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 3 }), (elements) => {
        const request = readRequest(elements);
        for (const { pointer, detail } of request.ok ? request.warnings : request.problems) {
          const there = valueAt(elements, pointer) !== undefined;
          assert.ok(there !== /^is required\b/.test(detail), `${pointer}: ${detail}`);
        }
        if (!request.ok) return assert.ok(request.problems.length > 0);
        both += 1;
        assert.deepEqual(
          request.actions.map(({ index }) => index),
          elements.map((_, index) => index),
        );
        for (const action of request.actions) assert.ok(!('relayAccessToken' in action));
      }),
      { numRuns: 500 },
    );
    assert.ok(both > 0 && both < 500, `${both} of 500 were accepted`);
  });
});

describe('a text that is far too long', () => {
  const over: [what: string, action: object, fields: object][] = [
    ['a delay', send, { delayInSeconds: `${' '.repeat(200_000)}x` }],
    ['a radius', send, { sendRadius: `${' '.repeat(200_000)}x` }],
    ['a condition', send, { actionCondition: 'a.'.repeat(100_000) }],
    ['a pattern', update, { cfTargetDateFormat: "y'".repeat(100_000) }],
    ['addresses', mail, { emails: Array.from({ length: 25 }, () => '\\"'.repeat(5000)) }],
    ['blank addresses', mail, { emails: [','.repeat(2000)] }],
  ];
  for (const [what, action, fields] of over)
    it(`is refused for its length before any other check: ${what}`, () => {
      const request = readRequest([{ ...action, ...fields }]);
      assert(!request.ok);
      assert.deepEqual(
        request.problems.map(({ detail }) => detail.replace(/\d+/, 'N').replace('entries', 'characters')),
        [what === 'addresses' ? 'must have at most N characters altogether' : 'must have at most N characters'],
      );
    });
});

describe('actions that the relay made from an event', () => {
  const texts = { subject: '${note} ${title} ${late}', body: '${title}', comment: '${note}' };
  const elements = [
    { ...mail, ...texts },
    { ...send, platformAssignmentId: '${title}', delayInSeconds: '${note}' },
  ];

  it('have a variable only for a missing value of the event; every other text is data', () => {
    const { actions, mistakes, warnings } = accepted(readRequest(elements, { unfilled: ['note'] }));
    assert.deepEqual(mistakes, [
      '/0/subject: contains ${note}, which has no value',
      '/1/delayInSeconds: has no value: the webhook did not fill in "${note}"',
    ]);
    assert.equal(warnings.length, 2);
    const [first, second] = actions;
    assert.equal(first?.action === 'sendEmails' && first.body, '${title}');
    assert.equal(first?.invalidData, 'subject contains ${note}, which has no value');
    assert.deepEqual([second?.assignmentId, second?.sent?.delayInSeconds], ['${title}', '${note}']);
  });

  it('are not checked in fields that get their values later', () => {
    const late = [
      { ...mail, emails: ['${late}'], subject: '${late}' },
      { ...send, sendRadius: '${late}', groupId: '${late}' },
    ];
    const read = accepted(readRequest(late, { unfilled: [], unread: ['late'] }));
    assert.deepEqual([read.mistakes, read.warnings], [[], []]);
    assert.deepEqual(
      read.actions.map(({ invalidData }) => invalidData),
      [undefined, undefined],
    );
  });

  it('keep every character', () => {
    const value = '\ue000{a} ${\ue001} $${x}';
    const [action] = accepted(readRequest([{ ...mail, body: value }], { unfilled: [] })).actions;
    assert.equal(action?.action === 'sendEmails' && action.body, value);
  });
});
