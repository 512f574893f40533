import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contentsSchema } from '../../../src/contract/rule-contents.js';
import { checkContents, namedIn } from '../../../src/rules/contents.js';

const send = { action: 'platform_sendAssignment', platformAssignmentId: '${id}', sendRadius: '5' };
const mail = { action: 'sendEmails', emails: ['ops@example.com'], subject: 's', body: 'b', bodyHtml: '<p>b</p>' };
const good = { when: 'event.status == "created"', variables: { id: { path: 'workorder.id' } }, actions: [send] };
const about = { relayId: '1' };

const problemsOf = (contents: unknown) => {
  const checked = checkContents(contents, about);
  return checked.ok ? [] : checked.problems.map(({ pointer, detail }) => `${pointer} ${detail}`);
};

describe('the contents of a rule', () => {
  it('are accepted with every kind of reference', () => {
    const contents = {
      ...good,
      actions: [
        send,
        {
          ...mail,
          platformAssignmentId: '${event.workorder.id}',
          delayInSeconds: 1800,
          actionCondition: 'status==${event.status}',
          if: 'assignment.status == "draft" && event.priority > 3 && now > timestamp(event.at)',
          emails: ['${event.manager.email}', '${assignment.owner.email}, ${id}@example.com'],
          subject: '$${id} costs $$${id}',
        },
      ],
    };
    const checked = checkContents(contents, about);
    assert.deepEqual(checked, {
      ok: true,
      contents: { ...contents, variables: { id: { path: 'workorder.id', missing: 'hold' } } },
      warnings: [],
    });
  });

  const cases: [name: string, contents: unknown, ...problems: RegExp[]][] = [
    ['no object', 'x', /^ Invalid input/],
    ['no actions', { actions: [] }, /^\/actions must have at least one action/],
    ['an unknown field', { ...good, wenn: 'x' }, /wenn/],
    ['a wrong variable', { ...good, variables: { id: { path: '' } } }, /^\/variables\/id\/path/],
    [
      'a default without its text',
      { ...good, variables: { id: { path: 'a', missing: 'default' } } },
      /^\/variables\/id\/default is required/,
    ],
    ['a wrong path', { ...good, variables: { id: { path: 'a..b' } } }, /^\/variables\/id\/path must be a path into the event/],
    [
      'a reserved name',
      { variables: { event: { path: 'a' } }, actions: [{ ...mail, subject: '${event.a}' }] },
      /^\/variables\/event cannot be the name of a value/,
    ],
    ['a wrong when', { ...good, when: 'event.status = 1' }, /^\/when has = where == is needed \(at character 14\)/],
    ['a when on the assignment', { ...good, when: 'assignment.a == 1' }, /^\/when "assignment" cannot be used here, only event/],
    ['an unknown action', { actions: [{ action: 'sendFax' }] }, /^\/actions\/0\/action must be one of/],
    ['a missing field', { actions: [{ ...mail, body: undefined }] }, /^\/actions\/0\/body is required/],
    [
      'a misspelt field',
      { actions: [{ ...mail, delayInSecond: '5' }] },
      /^\/actions\/0\/delayInSecond is not a field; did you mean/,
    ],
    [
      'a wrong delay',
      { ...good, actions: [send, { ...mail, delayInSeconds: '5 min' }] },
      /^\/actions\/1\/delayInSeconds must be a whole/,
    ],
    ['a blank delay', { actions: [{ ...mail, delayInSeconds: '' }] }, /^\/actions\/0\/delayInSeconds is blank/],
    ['no valid address', { actions: [{ ...mail, emails: ['ops'] }] }, /^\/actions\/0\/emails has no valid e-mail address/],
    [
      'the rule',
      { actions: [{ ...mail, relayId: '2', relayAccessToken: 't' }] },
      /relayId must be left out/,
      /relayAccessToken must be/,
    ],
    [
      'an unknown variable',
      { ...good, actions: [{ ...send, platformAssignmentId: '${idd}' }] },
      /^\/actions\/0\/platformAssignmentId contains \$\{idd\}, which this rule does not take from the event$/,
    ],
    ['an unclosed reference', { actions: [{ ...mail, subject: '${id' }] }, /^\/actions\/0\/subject contains \$\{ without }/],
    [
      'an assignment that must be known at once',
      { actions: [{ ...mail, platformAssignmentId: '7', delayInSeconds: '${assignment.delay}' }] },
      /^\/actions\/0\/delayInSeconds contains \$\{assignment\.delay\}, but must be known when the event arrives/,
    ],
    [
      'a late text without an assignment',
      { actions: [{ ...mail, subject: '${assignment.a}' }] },
      /^\/actions\/0\/platformAssignmentId is required/,
    ],
    [
      'an if without an assignment',
      { actions: [{ ...mail, if: 'assignment.a == 1' }] },
      /^\/actions\/0\/platformAssignmentId is required/,
    ],
    ['a wrong if', { actions: [{ ...mail, if: 'event.a ==' }] }, /^\/actions\/0\/if has no complete value after ==/],
    ['an if that is no text', { actions: [{ ...mail, if: true }] }, /^\/actions\/0\/if must be a string/],
    ['a reference in the action', { ...good, actions: [{ ...send, action: '${id}' }] }, /^\/actions\/0\/action must be one of/],
    [
      'a reference before the operator',
      { ...good, actions: [{ ...send, actionCondition: '${id}==1' }] },
      /^\/actions\/0\/actionCondition has "\$\{id\}", which is not the name of a property/,
    ],
    [
      'a wrong condition',
      { ...good, actions: [{ ...send, actionCondition: 'a<1' }] },
      /^\/actions\/0\/actionCondition has <, which is not supported/,
    ],
  ];
  for (const [name, contents, ...problems] of cases)
    it(`are refused with ${name}`, () => {
      const found = problemsOf(contents);
      assert.equal(found.length, problems.length, found.join('\n'));
      for (const [place, problem] of problems.entries()) assert.match(found[place] ?? '', problem);
    });

  it('have all their mistakes named at once', () => {
    const found = problemsOf({
      when: '1',
      variables: { a: { path: '!' } },
      actions: [{ ...mail, subject: '${b}', delayInSeconds: 'x' }],
    });
    assert.deepEqual(
      found.map((problem) => problem.split(' ')[0]),
      ['/when', '/variables/a/path', '/actions/0/subject', '/actions/0/delayInSeconds'],
    );
  });

  it('are refused if the platform can never do what they say, for any event', () => {
    const platform = { kind: 'workmarket' as const, token: 't', secret: 's' };
    const actions = [send, { ...send, sendRadius: '500' }, { ...send, sendRadius: '${id}' }];
    const checked = checkContents({ ...good, actions }, { relayId: '1', platform });
    const cannot = 'cannot be done, because WorkMarket accepts only whole miles from 1 to 100 in sendRadius';
    assert.deepEqual(!checked.ok && checked.problems, [{ pointer: '/actions/1', detail: cannot }]);
    assert.ok(checkContents({ ...good, actions }, { relayId: '1' }).ok);
  });

  it('name groups and ticket fields, some of which depend on the event', () => {
    const to = { ...send, groupId: 'Gold, first', sendToGroups: ' 501,${crew}, Silver ' };
    const fields = ['Arrival', 'Note of ${id}', ' '].map((cfName) => ({ action: 'ticket_updateUDF', cfName }));
    const named = namedIn(contentsSchema.parse({ actions: [to, mail, ...fields] }));
    assert.deepEqual(named, { groups: ['Gold, first', '501', 'Silver'], fields: ['Arrival'] });
  });

  it('get warnings about parts without effect', () => {
    const platform = { kind: 'workmarket' as const, token: 't', secret: 's' };
    const actions = [
      { ...send, sendRadius: '50', colour: 'red' },
      { ...send, sendRadius: '${id}' },
      { ...mail, if: 'incomingValue == "1"' },
    ];
    const variables = { ...good.variables, unused: { path: 'a' }, checked: { path: 'b', missing: 'refuse' } };
    const checked = checkContents({ variables, actions }, { relayId: '1', platform });
    assert.deepEqual(checked.ok && checked.warnings, [
      { pointer: '/actions/0/colour', detail: 'is not a field of platform_sendAssignment and is ignored' },
      { pointer: '/variables/unused', detail: 'is not used' },
      { pointer: '/actions/2/if', detail: 'asks for incomingValue, which the action does not have' },
    ]);
  });

  it('are refused if they are too large', () => {
    const actions = Array.from({ length: 100 }, () => ({ ...mail, body: 'x'.repeat(3000) }));
    assert.deepEqual(problemsOf({ actions }), [' must have at most 256 KiB']);
  });
});
