/** Rules as YAML files: the format, mistakes with their places, and comments that survive. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { readRuleFile, readRuleFiles } from '../../../../src/cli/rules/file.js';
import { ruleText, withAbout } from '../../../../src/cli/rules/text.js';
import { type Contents, contentsSchema } from '../../../../src/contract/rule-contents.js';

const contents: Contents = contentsSchema.parse({
  when: 'event.status == "created"',
  variables: {
    assignment_id: { path: 'workorder.id', missing: 'refuse' },
    note: { path: 'workorder.note' },
    greeting: { path: 'greeting', missing: 'default', default: 'Hello\nthere' },
  },
  actions: [
    { sendRadius: '5', platformAssignmentId: '${assignment_id}', action: 'platform_sendAssignment' },
    {
      action: 'sendEmails',
      emails: ['${event.manager.email}', 'dispatch@acme.example'],
      subject: 'Nobody: accepted ${assignment.title}',
      platformAssignmentId: '${assignment_id}',
      body: '${greeting}\n${note}\nBye',
      bodyHtml: '<p>${note}</p>',
      if: 'assignment.status == "draft"',
      delayInSeconds: '1800',
    },
  ],
});
const schemaUrl = 'https://relay.example.com/schemas/rule.json';
const rule = { relayId: '4711', name: 'Widen the search', version: 3, contents };

const text = `# yaml-language-server: $schema=https://relay.example.com/schemas/rule.json

relayId: "4711"
name: Widen the search
version: 3
when: event.status == "created"
variables:
  assignment_id: { path: workorder.id, missing: refuse }
  note: { path: workorder.note }
  greeting:
    path: greeting
    missing: default
    default: |-
      Hello
      there
actions:
  - action: platform_sendAssignment
    platformAssignmentId: \${assignment_id}
    sendRadius: "5"
  - action: sendEmails
    platformAssignmentId: \${assignment_id}
    delayInSeconds: "1800"
    if: assignment.status == "draft"
    emails:
      - \${event.manager.email}
      - dispatch@acme.example
    subject: "Nobody: accepted \${assignment.title}"
    body: |-
      \${greeting}
      \${note}
      Bye
    bodyHtml: <p>\${note}</p>
`;

describe('the file of a rule', () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-rules-'));
  after(() => rmSync(folder, { recursive: true }));
  const file = (content: string, name = 'rule.yaml') => {
    writeFileSync(join(folder, name), content);
    return readRuleFile(join(folder, name));
  };

  it('has a fixed order, and is read as it was written', () => {
    assert.equal(ruleText(rule, schemaUrl), text);
    const read = file(text);
    assert.deepEqual([read.problems, read.warnings], [[], []]);
    assert.deepEqual([read.relayId, read.name, read.version, read.contents], ['4711', 'Widen the search', 3, contents]);
    assert.equal(ruleText(rule, schemaUrl, read.document), text);
  });

  it('reads numbers in texts as written, without quotation marks', () => {
    const { contents, relayId } = file(
      'relayId: 0071\nname: 7\nactions:\n  - { action: platform_sendAssignment, platformAssignmentId: 0123, sendRadius: 2.50 }\n',
    );
    assert.deepEqual(
      [relayId, contents?.actions],
      ['0071', [{ action: 'platform_sendAssignment', platformAssignmentId: '0123', sendRadius: '2.50' }]],
    );
  });

  it('keeps comments, quotation marks and cases when the rule changes', () => {
    const before = file(`# Our first rule
relayId: '4711' # in the webhook, too
name: Widen the search
when: event.status == "created"
# What the texts need
variables:
  note: { path: workorder.note, missing: hold } # by the customer
actions:
  # First the neighbours
  - action: platform_sendAssignment
    platformAssignmentId: '\${event.id}' # as text
    sendRadius: 5 # miles
  # Then the manager
  - action: sendEmails
    emails: [dispatch@acme.example]
    subject: Nobody # short
    body: Nobody
    bodyHtml: <p>Nobody</p>
cases:
  # The usual event
  - event: { id: 1 }
    actions: []
`);
    const [send = {}, mail = {}] = contents.actions;
    const widen = { ...send, platformAssignmentId: '${event.id}', sendRadius: '25', delayInSeconds: '1800' };
    const changed = contentsSchema.parse({
      variables: { note: { path: 'workorder.note' } },
      actions: [
        { ...send, platformAssignmentId: '${event.id}' },
        widen,
        {
          action: mail.action,
          emails: ['dispatch@acme.example'],
          subject: 'Nobody at all',
          body: 'Nobody',
          bodyHtml: '<p>Nobody</p>',
        },
      ],
    });
    assert.equal(
      ruleText({ ...rule, version: undefined, contents: changed }, schemaUrl, before.document),
      `# Our first rule
relayId: '4711' # in the webhook, too
name: Widen the search
# What the texts need
variables:
  note: { path: workorder.note, missing: hold } # by the customer
actions:
  # First the neighbours
  - action: platform_sendAssignment
    platformAssignmentId: '\${event.id}' # as text
    sendRadius: "5" # miles
  - action: platform_sendAssignment
    platformAssignmentId: \${event.id}
    delayInSeconds: "1800"
    sendRadius: "25"
  # Then the manager
  - action: sendEmails
    emails: [ dispatch@acme.example ]
    subject: Nobody at all # short
    body: Nobody
    bodyHtml: <p>Nobody</p>
cases:
  # The usual event
  - event: { id: 1 }
    actions: []
`,
    );
  });

  it('gets the id of a new rule at its place', () => {
    const made = file(
      '# A new rule\nname: Tell the office # today\nactions:\n  - { action: sendEmails, emails: [a@b.example], subject: 1, body: b, bodyHtml: c }\n',
    );
    assert.match(withAbout(made, { relayId: '12' }), /^# A new rule\n\nrelayId: "12"\nname: Tell the office # today\nactions:\n/);
  });

  for (const [what, content, problems] of [
    ['YAML', 'name: x\nactions: [\n', [/rule\.yaml:3:1 Flow sequence/]],
    ['the kind of the file', '- 1\n', [/rule\.yaml:1:1 must have fields/]],
    ['an alias', 'name: *urgent\n', [/rule\.yaml:1:1 Unresolved alias .*urgent/]],
    ['the name', 'version: 0\nactions:\n  - action: sendEmails\n', [/rule\.yaml:1:1 \/name /, /rule\.yaml:1:1 \/version /]],
    ['a field', `${text}radius: 5\n`, [/rule\.yaml:\d+:1 .*radius/]],
    [
      'a case',
      `${text}cases:\n  - event: {}\n    applies: false\n    refused: true\n`,
      [/rule\.yaml:34:5 \/cases\/0 must have exactly one of/],
    ],
    ['a path', text.replace('workorder.id', 'workorder..id'), [/rule\.yaml:8:\d+ \/variables\/assignment_id\/path /]],
    ['an action', text.replace('"1800"', 'soon'), [/rule\.yaml:22:5 \/actions\/1\/delayInSeconds must be/]],
    ['an expression', text.replace('== "created"', '='), [/rule\.yaml:6:1 \/when /]],
  ] as const)
    it(`shows the place of a mistake in ${what}`, () => {
      const read = file(content);
      for (const [place, pattern] of problems.entries()) assert.match(read.problems[place] ?? '', pattern);
    });

  it('may have its cases in a second file', () => {
    file('cases:\n  - { event: {}, applies: false }\n', 'rule.cases.yaml');
    assert.deepEqual(file(`${text}cases: [{ event: { n: 007 }, refused: true }]\n`).cases, [
      { event: { n: 7 }, refused: true },
      { event: {}, applies: false },
    ]);
    assert.deepEqual(
      readRuleFiles(folder).map(({ path }) => path),
      [join(folder, 'rule.yaml')],
    );
    file('cases:\n  - { event: {} }\n', 'rule.cases.yaml');
    assert.match(file(text).problems.join(), /rule\.cases\.yaml:2:5 \/cases\/0 must have exactly one of/);
    rmSync(join(folder, 'rule.cases.yaml'));
  });
});
