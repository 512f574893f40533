/** `relay rules test`, without a server. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { relay } from '../../../cli/scripted-terminal.js';

const rule = `relayId: "4711"
name: Widen the search
when: event.priority > 2
variables:
  id: { path: id, missing: refuse }
actions:
  - action: platform_sendAssignment
    platformAssignmentId: \${id}
    sendRadius: 5
  - action: sendEmails
    platformAssignmentId: \${id}
    delayInSeconds: 1800
    if: assignment.status == "draft" && now > timestamp("2026-07-01T12:15:00Z")
    emails: ["\${event.manager}"]
    subject: Nobody accepted \${assignment.title}
    body: b
    bodyHtml: <p>\${assignment.title}</p>
cases:
`;
const event = 'event: { id: A1, priority: 3, manager: dana@acme.example }';
const assignment = 'assignment: { status: draft, title: "Tom & Co" }';
const draft = `${event}\n    ${assignment}\n    now: 2026-07-01T12:00:00Z`;

describe('relay rules test', () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-rules-'));
  after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, '4711.yaml');

  async function test(cases: string, name = '4711.yaml') {
    writeFileSync(join(folder, name), rule + cases);
    const { exitCode, out, err } = await relay(['rules', 'test', folder]);
    rmSync(join(folder, name));
    return { exitCode, out: out.replaceAll(`${folder}/`, ''), err: err.replaceAll(`${folder}/`, '') };
  }

  it('passes', async () => {
    writeFileSync(join(folder, 'event.json'), '{"id": "A1", "priority": 1}');
    const passes = [
      `  - ${draft}
    name: with a mail
    actions:
      - { action: platform_sendAssignment, sendRadius: 5, platformAssignmentId: A1, groupId: null, runs: true }
      - { subject: Nobody accepted Tom & Co, bodyHtml: <p>Tom &amp; Co</p>, emails: [dana@acme.example], runs: true }`,
      `  - ${draft.replace('12:00:00Z', '11:00:00Z')}\n    actions: [{}, { runs: false }]`,
      `  - ${event}\n    assignment: { status: sent }\n    actions: [{}, { runs: false }]`,
      `  - ${event}\n    assignment: { status: draft }\n    actions: [{}, { needsAttention: assignment.title }]`,
      `  - ${event.replace('dana@', 'dana')}\n    ${assignment}\n    actions: [{}, { needsAttention: no valid e-mail address }]`,
      `  - ${event.replace(', manager: dana@acme.example', '')}\n    ${assignment}\n    actions: [{}, { needsAttention: no value at manager, runs: false }]`,
      '  - event: event.json\n    applies: false',
      '  - event: { priority: 3 }\n    refused: id',
      '  - event: {}\n    refused: true',
    ];
    const { exitCode, out, err } = await test(passes.join('\n'));
    assert.deepEqual([exitCode, err], [0, ''], out);
    assert.match(out, /^4711\.yaml\n {2}ok {4}with a mail\n {2}ok {4}case 1\n[\s\S]*\n1 rule, 9 cases, 0 failed\n$/);
  });

  for (const [what, one, differences] of [
    [
      'field',
      `${draft}\n    actions: [{ sendRadius: 25 }, {}]`,
      'action 0 platform_sendAssignment, sendRadius\n          expected  25\n          got       5',
    ],
    [
      'field that is missing',
      `${draft}\n    actions: [{ groupId: 1 }, {}]`,
      'action 0 platform_sendAssignment, groupId\n          expected  1\n          got       (nothing)',
    ],
    [
      'list',
      `${draft}\n    actions: [{}, { emails: [a@acme.example] }]`,
      'action 1 sendEmails, emails\n          expected  ["a@acme.example"]\n          got       ["dana@acme.example"]',
    ],
    [
      'outcome',
      'event: { priority: 1 }\n    actions: [{}, {}]',
      'outcome\n          expected  2 actions\n          got       does not apply: event.priority was 1',
    ],
    [
      'refusal',
      'event: { priority: 3 }\n    applies: false',
      'outcome\n          expected  does not apply\n          got       refused: ',
    ],
    [
      'reason',
      'event: { priority: 3 }\n    refused: mail',
      'outcome\n          expected  refused: … mail …\n          got       refused: ',
    ],
    ['number of actions', `${draft}\n    actions: [{}]`, 'outcome\n          expected  1 action\n          got       2 actions'],
    [
      'condition',
      `${draft}\n    actions: [{}, { runs: false }]`,
      'action 1 sendEmails\n          expected  does not run\n          got       runs',
    ],
    [
      'value that is missing',
      `${event}\n    assignment: { status: draft }\n    actions: [{}, {}]`,
      'action 1 sendEmails\n          expected  does not need attention\n          got       needs-attention: ',
    ],
    [
      'assignment that is missing',
      `${event}\n    actions: [{}, {}]`,
      'action 1 sendEmails\n          expected  does not need attention\n          got       needs-attention: the case has no assignment',
    ],
    [
      'file of an event',
      'event: none.json\n    applies: false',
      'event\n          expected  a file with a JSON object\n          got       none.json',
    ],
  ] as const)
    it(`shows a difference: ${what}`, async () => {
      const { exitCode, out } = await test(`  - ${one}\n    name: the case`);
      assert.equal(exitCode, 1);
      assert.ok(out.startsWith(`4711.yaml\n  FAIL  the case\n        ${differences}`), out);
      assert.match(out, /\n1 rule, 1 case, 1 failed\n$/);
    });

  it('says which file is wrong, and runs the cases of all other files', async () => {
    writeFileSync(join(folder, '1.yaml'), 'name: x\n');
    const { exitCode, out, err } = await test('  - event: { priority: 1 }\n    applies: false');
    rmSync(join(folder, '1.yaml'));
    assert.deepEqual([exitCode, out], [1, '4711.yaml\n  ok    case 0\n2 rules (1 with mistakes), 1 case, 0 failed\n']);
    assert.match(err, /^1\.yaml:1:1 \/actions /);
  });

  it('runs one file, and refuses a folder without files', async () => {
    writeFileSync(path, `${rule}  []\n`);
    assert.equal((await relay(['rules', 'test', path])).exitCode, 0);
    rmSync(path);
    for (const wrong of [folder, path]) assert.equal((await relay(['rules', 'test', wrong])).exitCode, 2);
  });

  it('passes the rule in examples/', async () => {
    const { exitCode, out, err } = await relay([
      'rules',
      'test',
      fileURLToPath(new URL('../../../../../examples/rules', import.meta.url)),
    ]);
    assert.deepEqual([exitCode, err], [0, ''], out);
    assert.match(out, /1 rule, 4 cases, 0 failed/);
  });

  it('passes the example of the documentation', async () => {
    const page = readFileSync(new URL('../../../../../docs/rules-as-files.md', import.meta.url), 'utf8');
    const [example = '', cases = ''] = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, yaml]) => yaml);
    writeFileSync(path, example + cases);
    const { exitCode, out, err } = await relay(['rules', 'test', path]);
    rmSync(path);
    assert.deepEqual([exitCode, err], [0, ''], out);
    assert.match(out, /1 rule, 3 cases, 0 failed/);
  });
});
