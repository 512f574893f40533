import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { variables } from '../../../src/chain/variables.js';
import { contentsSchema } from '../../../src/contract/rule-contents.js';
import { contentsFromLists } from '../../../src/rules/from-lists.js';

const send = (id: string, more: object = {}) => ({
  action: 'platform_sendAssignment',
  relayId: '1',
  platformAssignmentId: id,
  sendRadius: '5',
  ...more,
});
const mail = (subject: string, more: object = {}) => ({
  action: 'sendEmails',
  relayId: '1',
  emails: ['ops@example.com'],
  subject,
  body: 'Hello',
  bodyHtml: '<p>Hello</p>',
  ...more,
});
const hold = (path: string) => ({ path, missing: 'hold' });

describe('contents from lists of actions', () => {
  it('have a variable for each value that varies, and are valid', () => {
    const { contents, values } = contentsFromLists([
      [send('1001'), mail('Nobody accepted 1001 in CA', { emails: ['ada@example.com'], delayInSeconds: '1800' })],
      [send('1002'), mail('Nobody accepted 1002 in TX', { emails: ['bob@example.com'], delayInSeconds: '1800' })],
    ]);
    assert.deepEqual(contents, {
      variables: {
        assignment_id: hold('assignment_id'),
        owner_email: hold('owner_email'),
        resource_state: hold('resource_state'),
      },
      actions: [
        { action: 'platform_sendAssignment', platformAssignmentId: '${assignment_id}', sendRadius: '5' },
        {
          action: 'sendEmails',
          emails: ['${owner_email}'],
          subject: 'Nobody accepted ${assignment_id} in ${resource_state}',
          body: 'Hello',
          bodyHtml: '<p>Hello</p>',
          delayInSeconds: '1800',
        },
      ],
    });
    assert.deepEqual(values, {
      assignment_id: ['1001', '1002'],
      owner_email: ['ada@example.com', 'bob@example.com'],
      resource_state: ['CA', 'TX'],
    });
    contentsSchema.parse(contents);
  });

  for (const [what, texts, template, values] of [
    ['a text that never varies', ['Hello', 'Hello'], 'Hello', {}],
    ['a name of several words', ['for Ada Long', 'for Bob Stone'], 'for ${value_1}', { value_1: ['Ada Long', 'Bob Stone'] }],
    ['texts of different length', ['Note: ok.', 'Note: not yet ok, call me.'], 'Note: ${value_1}.', undefined],
    ['two values', ['4711 of 12 sent', '815 of 13 sent'], '${assignment_id} of ${value_1} sent', undefined],
    ['a punctuation mark after a value', ['Ada, in 4711', 'Bob, in 815'], '${value_1}, in ${assignment_id}', undefined],
    ['a time', ['at 2026-07-01T12:00:00Z', 'at 2026-07-02T13:00:00Z'], 'at ${checked_in_on}', undefined],
    ['a price', ['costs $100', 'costs $20'], 'costs ${value_1}', { value_1: ['$100', '$20'] }],
    ['a bracket after a dollar sign', ['costs $(100)', 'costs $[20]'], 'costs ${value_1}', { value_1: ['$(100)', '$[20]'] }],
    ['what looks like a reference', ['${name} is literal, $5', '${name} is literal, $5'], '$${name} is literal, $5', {}],
    ['a value in what looks like a reference', ['${a}', '${b}'], '${value_1}}', { value_1: ['${a', '${b'] }],
    ['all different', ['x', 'y z'], '${value_1}', { value_1: ['x', 'y z'] }],
  ] as const)
    it(`keep the words around the values: ${what}`, () => {
      const made = contentsFromLists(texts.map((text) => [mail(text)]));
      assert.equal(made.contents.actions[0]?.subject, template);
      if (values) assert.deepEqual(made.values, values);
    });

  it('refer to the same variable wherever its value appears as whole words', () => {
    const texts = (id: string) => mail(`T-${id}`, { body: `x${id}x ${id}: done`, bodyHtml: `<b>${id}</b>` });
    const { contents } = contentsFromLists([
      [send('501'), texts('501')],
      [send('77777'), texts('77777')],
    ]);
    const [, { subject, body, bodyHtml } = {}] = contents.actions;
    assert.deepEqual([subject, bodyHtml], ['T-${assignment_id}', '<b>${assignment_id}</b>']);
    assert.match(String(body), /^\$\{value_1\} \$\{assignment_id\}: done$/);
  });

  it('make the assignment a variable even if there is only one request', () => {
    const { contents } = contentsFromLists([[send('1001'), mail('Assignment 1001')]]);
    assert.deepEqual(
      contents.actions.map(({ platformAssignmentId, subject }) => platformAssignmentId ?? subject),
      ['${assignment_id}', 'Assignment ${assignment_id}'],
    );
  });

  it('give an empty default to a value that was blank in one request', () => {
    const { contents } = contentsFromLists([[mail('Note: late')], [mail('Note: ')]]);
    assert.deepEqual(contents.variables, { value_1: { path: 'value_1', missing: 'default', default: '' } });
  });

  it('omit requests with other actions or fields, and join recipients if their number varies', () => {
    const { contents, values } = contentsFromLists([
      [mail('a', { emails: ['a@example.com', 'b@example.com'] })],
      [mail('a', { emails: ['c@example.com'] })],
      [mail('b', { comment: 'other' })],
      [send('1')],
    ]);
    assert.deepEqual(contents.actions[0]?.emails, ['${value_1}']);
    assert.deepEqual(values, { value_1: ['a@example.com, b@example.com', 'c@example.com'] });
  });

  it("use names of the platform's variables, each for one value", () => {
    const of = (one: string, other: string) => mail(`${one} ${other}`);
    const { values } = contentsFromLists([[of('a@example.com x', 'b@example.com')], [of('c@example.com x', 'd@example.com')]]);
    assert.deepEqual(Object.keys(values), ['owner_email', 'resource_email']);
    assert.ok(Object.keys(values).every((name) => variables.some((known) => known.name === name)));
  });

  it('have at most 100 variables, and are made quickly even from long texts', () => {
    const words = (n: number) => Array.from({ length: 5000 }, (_, place) => `w${place} v${place * n}`).join(' ');
    const { values } = contentsFromLists(Array.from({ length: 20 }, (_, n) => [mail(words(n + 1))]));
    assert.equal(Object.keys(values).length, 100);
  });
});
