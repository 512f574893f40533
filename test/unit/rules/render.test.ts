import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ChainAction } from '../../../src/chain/chain.js';
import type { Fields } from '../../../src/chain/fields.js';
import { mendAction } from '../../../src/chain/mend.js';
import { readRequest } from '../../../src/chain/request.js';
import { fieldsOf } from '../../../src/chain/sent.js';
import { type Contents, contentsSchema } from '../../../src/contract/rule-contents.js';
import { checkContents } from '../../../src/rules/contents.js';
import { renderEvent } from '../../../src/rules/render.js';

const send = { action: 'platform_sendAssignment', platformAssignmentId: '${id}' };
const mail = { action: 'sendEmails', emails: ['ops@example.com'], subject: 's', body: 'b', bodyHtml: '<p>b</p>' };
const variables = { id: { path: 'workorder.id' }, note: { path: 'workorder.note' } };

function contentsOf(given: unknown): Contents {
  const checked = checkContents(given, { relayId: '1' });
  assert.ok(checked.ok, JSON.stringify(checked));
  return checked.contents;
}

const render = (given: unknown, event: Fields) => renderEvent(contentsOf(given), '1', event);

function actionsOf(given: unknown, event: Fields): ChainAction[] {
  const rendered = render(given, event);
  assert.ok(rendered.kind === 'chain', JSON.stringify(rendered));
  return rendered.actions;
}

function only(action: Fields, event: Fields, given: Fields = { variables }): ChainAction {
  const [rendered] = actionsOf({ ...given, actions: [action] }, event);
  assert.ok(rendered);
  return rendered;
}

describe('an event', () => {
  const when = { when: 'event.status == "created"', actions: [mail] };

  it('is not applicable, with the reason', () => {
    assert.deepEqual(render(when, { status: 'sent' }), { kind: 'not-applicable', reason: 'event.status was "sent"' });
  });

  it('is refused if `when` cannot be checked', () => {
    const detail = 'cannot be checked on this event: event.status: no such property';
    assert.deepEqual(render(when, {}), { kind: 'refused', problems: [{ pointer: '/when', detail }] });
  });

  it('becomes the actions of a request', () => {
    const event = { workorder: { id: 1001, note: 'he said "yes"\n${id}' } };
    const given = {
      variables,
      actions: [
        { ...send, groupId: '${event.workorder.id}' },
        { ...mail, delayInSeconds: 60, subject: '${note}' },
      ],
    };
    const rendered = render(given, event);
    assert.ok(rendered.kind === 'chain');
    assert.deepEqual(rendered.variables, { id: '1001', note: 'he said "yes"\n${id}' });
    const own = { relayId: '1', relayAccessToken: '' };
    const read = readRequest([
      { ...send, ...own, platformAssignmentId: '1001', groupId: '1001' },
      { ...mail, ...own, delayInSeconds: '60', subject: 'he said "yes"\n§{id}' },
    ]);
    assert.ok(read.ok);
    const expected = JSON.parse(JSON.stringify(read.actions.map((action) => ({ ...action, unfilled: [] }))).replace('§', '$'));
    assert.deepEqual(JSON.parse(JSON.stringify(rendered.actions)), expected);
    assert.deepEqual(rendered.warnings, []);
  });
});

describe('a value', () => {
  const cases: [value: unknown, text: string | undefined][] = [
    ['text', 'text'],
    [12.5, '12.5'],
    [false, 'false'],
    [{ a: [1, 'x'] }, '{"a":[1,"x"]}'],
    [null, undefined],
    [undefined, undefined],
    [' \n', undefined],
    ['', undefined],
    ['${id} $${id} ${event.workorder.id}', '${id} $${id} ${event.workorder.id}'],
  ];
  for (const [value, text] of cases)
    it(`${JSON.stringify(value)} is ${text === undefined ? 'missing' : 'written as text'}`, () => {
      const { subject, invalidData } = only({ ...mail, subject: '${note}' }, { workorder: { note: value } }) as ChainAction & {
        subject: string;
      };
      assert.equal(invalidData === undefined ? subject : undefined, text);
    });

  it('is escaped in HTML only, with its default', () => {
    const given = { variables: { ...variables, sign: { path: 'sign', missing: 'default', default: '<i>' } } };
    const action = { ...mail, subject: '${note}', bodyHtml: '<p title="${note}">${sign}</p>' };
    const rendered = only(action, { workorder: { note: `<b>"'&` } }, given);
    assert.deepEqual(rendered.action === 'sendEmails' && [rendered.subject, rendered.bodyHtml], [
      `<b>"'&`,
      '<p title="&lt;b&gt;&quot;&#39;&amp;">&lt;i&gt;</p>',
    ]);
  });

  it('within a longer text adds no recipient, but alone may be a list of recipients', () => {
    const event = { name: 'Eve <eve@example.org>, "x', all: 'a@example.com, b@example.com' };
    const action = { ...mail, emails: ['${event.name} <ops@example.com>', '${event.all}'] };
    const rendered = only(action, event, {});
    const recipients = ['Eve  eve@example.org    x <ops@example.com>', 'a@example.com', 'b@example.com'];
    assert.deepEqual(rendered.action === 'sendEmails' && rendered.recipients, recipients);
  });

  it('is only a value in a condition, whatever characters it contains', () => {
    for (const value of ['draft', 'a && b==c', '"quoted"', "it's", 'a==b', '${x}', '"both\' && x']) {
      const rendered = render(
        { variables, actions: [{ ...send, actionCondition: 'status!=${note}' }] },
        { workorder: { id: 1, note: value } },
      );
      if (rendered.kind === 'chain')
        assert.deepEqual(rendered.actions[0]?.condition, { path: ['status'], operator: '!=', value });
      else assert.ok(value.includes('"') && value.includes("'"), value);
    }
    const quoted = only({ ...send, actionCondition: 'status == "${note}"' }, { workorder: { id: 1, note: 'x" || y' } });
    assert.equal(quoted.condition?.value, 'x" || y');
  });

  it('that is invalid in its field refuses the event, as it would refuse a request', () => {
    assert.deepEqual(render({ actions: [{ ...mail, delayInSeconds: '${event.delay}' }] }, { delay: 'soon' }), {
      kind: 'refused',
      problems: [{ pointer: '/actions/0/delayInSeconds', detail: 'must be a whole number of seconds, such as "1800"' }],
    });
  });
});

describe('a missing value', () => {
  const missing = (rule: Fields) => ({
    variables: { ...variables, note: { path: 'workorder.note', ...rule } },
    actions: [send, { ...mail, body: '${note}' }],
  });
  const event = { workorder: { id: 1 } };

  it('holds the actions that use it', () => {
    const [first, second] = actionsOf(missing({}), event);
    assert.deepEqual([first?.unfilled, first?.invalidData], [[], undefined]);
    assert.deepEqual(second?.unfilled, ['note']);
    assert.equal(
      second?.invalidData,
      'the value note is missing: the event has no value at workorder.note; body contains ${note}, which has no value',
    );
  });

  it('refuses the event if the rule says so', () => {
    const detail = 'is missing: the event has no value at workorder.note';
    assert.deepEqual(render(missing({ missing: 'refuse' }), event), {
      kind: 'refused',
      problems: [{ pointer: '/variables/note', detail }],
    });
  });

  it('becomes the default', () => {
    const [, second] = actionsOf(missing({ missing: 'default', default: '' }), event);
    assert.deepEqual([second?.action === 'sendEmails' && second.body, second?.invalidData], ['', undefined]);
  });

  const places: [field: Fields, where: 'cannotSchedule' | 'invalidData' | undefined][] = [
    [{ delayInSeconds: '${event.x}' }, 'cannotSchedule'],
    [{ actionCondition: 'status==${event.x}' }, 'cannotSchedule'],
    [{ actionCondition: 'incomingValue==1', incomingValue: '${event.x}' }, 'cannotSchedule'],
    [{ platformAssignmentId: '${event.x}', actionCondition: 'status==1' }, 'cannotSchedule'],
    [{ platformAssignmentId: '${event.x}', if: 'assignment.a == 1' }, 'cannotSchedule'],
    [{ platformAssignmentId: '${event.x}' }, 'invalidData'],
    [{ incomingValue: '${event.x}' }, 'invalidData'],
    [{ sendToGroups: '1,${event.x}' }, 'invalidData'],
    [{ sendRadius: '${event.x}' }, 'invalidData'],
    [{ comment: '${event.x}' }, undefined],
  ];
  for (const [field, where] of places)
    it(`in ${JSON.stringify(field)}: ${where ?? 'has no effect'}`, () => {
      const { cannotSchedule, invalidData } = only({ ...send, platformAssignmentId: '7', ...field }, {});
      const found = cannotSchedule ? 'cannotSchedule' : invalidData ? 'invalidData' : undefined;
      assert.equal(found, where);
      if (where) assert.match(cannotSchedule ?? invalidData ?? '', /^the event has no value at x; /);
    });

  it('can be replaced by an edit; until then, each edit is refused', () => {
    const [, held] = actionsOf(missing({}), event);
    assert.ok(held);
    const half = mendAction(held, { subject: 'new' });
    assert.deepEqual(half, { ok: false, problems: [{ pointer: '/body', detail: 'contains ${note}, which has no value' }] });
    const mended = mendAction(held, { body: 'by hand: ${id}' });
    assert.ok(mended.ok);
    assert.deepEqual([fieldsOf(mended.action).body, mended.action.invalidData], ['by hand: ${id}', undefined]);
  });

  it('is not assumed for a variable name in the data', () => {
    const given = {
      variables,
      actions: [
        { ...mail, subject: '${note}' },
        { ...mail, subject: '${event.title}' },
      ],
    };
    const [held, free] = actionsOf(given, { title: '${note}' });
    assert.ok(held?.invalidData);
    assert.deepEqual([free?.action === 'sendEmails' && free.subject, free?.invalidData], ['${note}', undefined]);
  });
});

describe('a value that is known only when the action runs', () => {
  it('is kept as a path, between the texts around it', () => {
    const action = {
      ...mail,
      platformAssignmentId: '7',
      emails: ['ops@example.com', '${assignment.owner.email}'],
      subject: '${note}: ${assignment.title}!',
      bodyHtml: '<p>${note} ${assignment.title}${assignment.title}</p>',
    };
    const rendered = only(action, { workorder: { note: '<${assignment.secret}>' } });
    assert.deepEqual(rendered.late, {
      emails: [['ops@example.com'], ['', 'owner.email', '']],
      subject: ['<${assignment.secret}>: ', 'title', '!'],
      bodyHtml: ['<p>&lt;${assignment.secret}&gt; ', 'title', '', 'title', '</p>'],
    });
    assert.ok(rendered.action === 'sendEmails');
    assert.equal(rendered.subject, '<${assignment.secret}>: ${assignment.title}!');
    assert.deepEqual([rendered.recipients, rendered.invalidData, rendered.unfilled], [['ops@example.com'], undefined, []]);
    assert.deepEqual(rendered.condition, {
      path: [],
      operator: '==',
      value: 'the assignment has all needed values',
      opaque: { late: true },
    });
  });

  it('in an expression is kept with the parts of the event that the expression reads', () => {
    const action = { ...send, platformAssignmentId: '7', if: 'event.priority > 3', actionCondition: 'status==draft' };
    const { condition } = only(action, { priority: 4, other: 'x'.repeat(50_000) });
    assert.deepEqual(condition?.opaque, {
      condition: { path: ['status'], operator: '==', value: 'draft' },
      if: { text: 'event.priority > 3', event: { priority: 4 } },
    });
    assert.equal(condition?.value, '(status==draft) && (event.priority > 3)');
  });

  it('in an expression that reads too much of the event refuses the event', () => {
    const rendered = render({ actions: [{ ...mail, if: 'event.text != ""' }] }, { text: 'x'.repeat(40_000) });
    assert.deepEqual(rendered, {
      kind: 'refused',
      problems: [{ pointer: '/actions/0/if', detail: 'reads more than 32 KiB of this event' }],
    });
  });
});

describe('limits', () => {
  it('an event cannot grow without bounds', () => {
    const given = { actions: [{ ...mail, body: '${event.text}'.repeat(1000) }] };
    const detail = 'would be larger than 256 KiB with the values of this event';
    assert.deepEqual(render(given, { text: 'x'.repeat(200_000) }), {
      kind: 'refused',
      problems: [{ pointer: '/actions', detail }],
    });
  });
});

describe('every event', () => {
  const hostile = fc.oneof(
    fc.string({
      unit: fc.constantFrom(
        '$',
        '{',
        '}',
        '"',
        "'",
        '<',
        '>',
        '&',
        '\\',
        '\ue000',
        'note',
        'assignment.title',
        ',',
        '@',
        'a',
        '\n',
      ),
    }),
    fc.constantFrom(
      '${note}',
      '${assignment.title}',
      '$${id}',
      '","emails":["x@y.z"],"',
      '</p><script>',
      '\ue000{note}',
      '\ud800',
    ),
    fc.jsonValue(),
  );
  const given = contentsSchema.parse({
    variables: { note: { path: 'note', missing: 'default', default: 'none' }, id: { path: 'id' } },
    actions: [
      {
        ...mail,
        platformAssignmentId: '7',
        subject: 'Plain',
        body: 'A note: $$${note}${note}.',
        bodyHtml: '<p>${note} ${assignment.title}</p>',
      },
      { ...mail, emails: ['a@example.com', 'b@example.com'], body: 'constant $${note}', comment: 'c' },
      { ...send, platformAssignmentId: '9', groupId: '5', actionCondition: 'status==draft' },
    ],
  });

  it('changes only the fields that refer to it, and is never expanded', () => {
    const [, second, third] = actionsOf(given, {});
    fc.assert(
      fc.property(hostile, (note) => {
        const rendered = renderEvent(given, '1', { note });
        assert.ok(rendered.kind === 'chain', JSON.stringify(rendered));
        const [first, ...others] = rendered.actions;
        assert.deepEqual(others, [second, third]);
        assert.ok(first?.action === 'sendEmails');
        const value = rendered.variables.note ?? '';
        assert.equal(first.body, `A note: $${value}${value}.`);
        assert.deepEqual([first.subject, first.recipients, first.unfilled], ['Plain', ['ops@example.com'], []]);
        const { bodyHtml } = first.late ?? {};
        assert.ok(Array.isArray(bodyHtml) && bodyHtml.length === 3 && !/[<>"']/.test(String(bodyHtml[0]).slice(3)));
        assert.deepEqual(bodyHtml.slice(1), ['title', '</p>']);
        const again = renderEvent(structuredClone(given), '1', { note });
        assert.deepEqual(again, rendered);
      }),
    );
  });

  it('leaves a text without references as it is', () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes('${')),
        (text) => {
          const [action] = actionsOf({ actions: [{ ...mail, subject: text, bodyHtml: text }] }, { a: text });
          assert.deepEqual(action?.action === 'sendEmails' && [action.subject, action.bodyHtml], [text, text]);
        },
      ),
    );
  });
});
