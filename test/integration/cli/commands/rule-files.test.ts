/** `relay rules pull` and `relay rules push`, against the whole API. */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { adminToken, wholeApi } from '../../../api/whole-api.js';
import { relay, type Scripted } from '../../../cli/scripted-terminal.js';

const send = { action: 'platform_sendAssignment', platformAssignmentId: '${id}', sendRadius: '5' };
const contents = { when: 'event.priority > 2', variables: { id: { path: 'id', missing: 'refuse' } }, actions: [send] };
const wider = { ...contents, actions: [{ ...send, sendRadius: '25' }] };

describe('rules as files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-rules-'));
  let api: Awaited<ReturnType<typeof wholeApi>>;
  let key: string;
  const ruleAt = (at = '', relayId = '4711') => `/admin/companies/acme/rules/${relayId}${at}`;
  before(async () => {
    api = await wholeApi();
    await api.ask('PUT', '/admin/companies/acme', adminToken, { name: 'Acme', notify: { emails: ['ops@acme.example'] } });
    await api.ask('POST', '/admin/companies/acme/rules', adminToken, { name: 'Widen: the Séarch', relayId: '4711' });
    await api.ask('POST', '/admin/companies/acme/rules', adminToken, { name: 'Lists', relayId: '12' });
    key = (await api.ask('POST', '/admin/companies/acme/keys', adminToken, { name: 'ci', role: 'author' })).json.key;
    await publish(contents);
  });
  after(async () => {
    await api.close();
    rmSync(folder, { recursive: true });
  });

  /** Publishes contents, as somebody else could do in the console. */
  async function publish(contents: object): Promise<void> {
    await saveDraft(contents);
    const { revision } = (await api.ask('GET', ruleAt('/draft'), adminToken)).json;
    const { status, text } = await api.ask('POST', ruleAt('/publish'), adminToken, { revision });
    assert.equal(status, 201, text);
  }
  async function saveDraft(contents: object): Promise<void> {
    const { revision } = (await api.ask('GET', ruleAt('/draft'), adminToken)).json;
    assert.equal((await api.ask('PUT', ruleAt('/draft'), adminToken, { revision, contents })).status, 200);
  }
  async function run(words: string, scripted: Scripted = {}) {
    const shown = await relay(words.split(' '), { env: { RELAY_URL: api.url, RELAY_KEY: key }, ...scripted });
    const plain = (text: string) => text.replaceAll(`${folder}/`, '');
    return { exitCode: shown.exitCode, out: plain(shown.out), err: plain(shown.err) };
  }
  const file = join(folder, '4711-widen-the-search.yaml');
  const edit = (from: string, to: string) => writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
  const published = async (relayId = '4711') => (await api.ask('GET', ruleAt('', relayId), adminToken)).json.published;

  it('are written with the schema of this relay', async () => {
    assert.deepEqual(await run(`rules pull acme ${folder}`), {
      exitCode: 0,
      out: '4711-widen-the-search.yaml: new\n',
      err: 'Rule 12 (Lists) has no published version.\n',
    });
    assert.equal(
      readFileSync(file, 'utf8'),
      `# yaml-language-server: $schema=${api.url}/schemas/rule.json

relayId: "4711"
name: "Widen: the Séarch"
version: 1
when: event.priority > 2
variables:
  id: { path: id, missing: refuse }
actions:
  - action: platform_sendAssignment
    platformAssignmentId: \${id}
    sendRadius: "5"
`,
    );
    const schema = await api.ask('GET', '/schemas/rule.json');
    assert.deepEqual([schema.status, schema.json.title], [200, 'A rule of the relay']);
    assert.equal((await run(`rules pull acme ${folder}`)).out, '4711-widen-the-search.yaml: no change\n');
    assert.equal((await run(`rules push acme ${folder}`)).out, '4711-widen-the-search.yaml: the same as version 1\n');
  });

  it('are published after their differences were shown, with a note', async () => {
    edit('sendRadius: "5"', 'sendRadius: 25 # miles');
    const no = await run(`rules push acme ${folder}`, { reply: 'n' });
    assert.deepEqual([no.exitCode, await published()], [2, 1]);
    assert.match(no.err, /^Publish a version of rule 4711\? New events will run it\. y\/N /);
    assert.equal(
      no.out,
      `4711-widen-the-search.yaml: differences to version 1
action 0 platform_sendAssignment
  sendRadius
    - 5
    + 25
There are no events to try the rule on.
`,
    );
    assert.equal((await run(`rules push acme ${file}`)).exitCode, 2);
    const { exitCode, out } = await run(`rules push acme ${folder} --note Wider`, { reply: 'y' });
    assert.match(out, /\nVersion 2 of rule 4711 is published\.\n$/);
    assert.deepEqual([exitCode, await published()], [0, 2]);
    assert.match(readFileSync(file, 'utf8'), /\nversion: 2\n[\s\S]* sendRadius: "25" # miles\n/);
    const { json } = await api.ask('GET', ruleAt('/versions'), adminToken);
    assert.deepEqual([json.versions[0].note, json.versions[0].publishedBy], ['Wider', 'key ci']);
  });

  it('are tried on the last events before they are published', async () => {
    const bodies = [{ id: 'A1', priority: 3 }, { id: 'A2', priority: 1 }, { priority: 5 }].map((event) => JSON.stringify(event));
    for (const [place, body] of bodies.entries()) {
      const facts = { receivedAt: new Date().toISOString(), outcome: 'chain', version: 2, hash: 'h' } as const;
      api.store.events.add({ companyId: 'acme', relayId: '4711', eventId: `e${place}`, bytes: body.length, body, ...facts });
    }
    edit('sendRadius: "25"', 'sendRadius: "26"');
    const { out } = await run(`rules push acme ${folder}`, { reply: 'n' });
    assert.match(out, /\n {4}\+ 26\nThe relay tried the rule on 3 events: 1 event would start a different chain\.\n$/);
    edit('sendRadius: "26"', 'sendRadius: "25"');
  });

  it('are refused if somebody else has published a version in the meantime', async () => {
    await publish(contents);
    edit('sendRadius: "25"', 'sendRadius: "30"');
    const { exitCode, out, err } = await run(`rules push acme ${folder} --yes`);
    assert.deepEqual([exitCode, out, await published()], [1, '', 3]);
    assert.match(
      err,
      /^4711-widen-the-search\.yaml is not published, because admin published version 3 meanwhile\.\n.*rules diff acme 4711 2 3\. /,
    );
    edit('version: 2', 'version: 3');
    assert.equal((await run(`rules push acme ${folder} --yes`)).exitCode, 0);
    assert.equal(await published(), 4);
  });

  it('are overwritten without a question only if their changes are published', async () => {
    await publish(wider);
    assert.equal((await run(`rules pull acme ${folder}`)).out, '4711-widen-the-search.yaml: changed\n');
    assert.match(readFileSync(file, 'utf8'), /\nversion: 5\n[\s\S]* sendRadius: "25" # miles\n/);
    edit('sendRadius: "25"', 'sendRadius: "7"');
    const kept = await run(`rules pull acme ${folder}`, { reply: 'n' });
    assert.deepEqual([kept.exitCode, kept.out], [0, '']);
    assert.match(
      kept.err,
      /^Overwrite the file\? 4711\S* has changes that are not published, and they will be lost\. y\/N 4711\S* is not overwritten\.\n/,
    );
    assert.equal((await run(`rules pull acme ${folder}`)).exitCode, 2);
    assert.match(readFileSync(file, 'utf8'), / sendRadius: "7" # miles\n/);
    assert.equal((await run(`rules pull acme ${folder} --yes`)).out, '4711-widen-the-search.yaml: changed\n');
    assert.match(readFileSync(file, 'utf8'), / sendRadius: "25" # miles\n/);
  });

  it('become drafts; the command says whose draft they replace', async () => {
    edit('sendRadius: "25"', 'sendRadius: "40"');
    assert.match((await run(`rules push acme ${folder} --draft --yes`)).out, /\nThe draft of rule 4711 is saved\.\n$/);
    const { json } = await api.ask('GET', ruleAt('/draft'), adminToken);
    assert.deepEqual([json.contents.actions[0].sendRadius, await published()], ['40', 5]);
    await saveDraft({ ...wider, when: 'event.priority > 4' });
    const { err } = await run(`rules push acme ${folder} --draft`, { reply: 'n' });
    assert.match(
      err,
      /^The draft has changes of admin that are not published\. They will be lost\.\nSave the draft of rule 4711\?/,
    );
  });

  it('create a rule, and get its id', async () => {
    const made = join(folder, 'office.yaml');
    writeFileSync(
      made,
      '# The office\nname: Tell the office\nactions:\n  - { action: sendEmails, emails: [a@acme.example], subject: s, body: b, bodyHtml: b }\n',
    );
    const { exitCode, out } = await run(`rules push acme ${made} --yes`);
    const [, relayId = ''] = /Rule (\d+) is created\..*\nVersion 1 of rule \d+ is published\.\n$/.exec(out) ?? assert.fail(out);
    assert.doesNotMatch(out, /rlt_/);
    assert.deepEqual([exitCode, await published(relayId)], [0, 1]);
    assert.ok(readFileSync(made, 'utf8').startsWith(`# The office\n\nrelayId: "${relayId}"\nname: Tell the office\nactions:\n`));
    assert.equal((await run(`rules push acme ${made}`)).out, 'office.yaml: the same as version 1\n');
    rmSync(made);
  });

  it('are not pushed if one of them has a mistake', async () => {
    writeFileSync(join(folder, 'wrong.yaml'), 'name: Wrong\nactions:\n  - action: sendEmail\n');
    const { exitCode, out, err } = await run(`rules push acme ${folder} --yes`);
    assert.deepEqual([exitCode, out, await published()], [1, '', 5]);
    assert.match(err, /^wrong\.yaml:3:5 \/actions\/0\/action must be one of /);
    rmSync(join(folder, 'wrong.yaml'));
  });

  it('are not overwritten without a question if they cannot be read', async () => {
    writeFileSync(file, 'relayId: "4711\n');
    const { exitCode, err } = await run(`rules pull acme ${folder}`, { reply: 'n' });
    assert.equal(exitCode, 0);
    assert.match(err, /4711-widen-the-search\.yaml is not overwritten\.\n/);
    rmSync(file);
    const other = join(folder, 'empty');
    assert.equal((await run(`rules pull acme ${other}`)).exitCode, 0);
    assert.deepEqual([readdirSync(other).length, existsSync(file)], [2, false]);
  });
});
