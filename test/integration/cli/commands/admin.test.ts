/** Companies, rules, tokens, keys and audit, against the real admin API. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Hono } from 'hono';
import { adminRoutes } from '../../../../src/api/app.js';
import { Callers, createGuard } from '../../../../src/api/bearer-authentication.js';
import { answerProblems } from '../../../../src/api/problems.js';
import { appOf } from '../../../../src/api/route.js';
import { createStore, type Store } from '../../../../src/store/store.js';
import { type LocalApi, serve } from '../../../cli/local-api.js';
import { relay, type Scripted } from '../../../cli/scripted-terminal.js';
import { forgetful } from '../../../hostile/api.js';
import { openEmptied } from '../../../store/emptied.js';

describe('admin commands', () => {
  const directory = mkdtempSync(join(tmpdir(), 'relay-cli-'));
  const unexpected: Error[] = [];
  let store: Store;
  let api: LocalApi;
  before(async () => {
    store = createStore(await openEmptied());
    const app = answerProblems(new Hono(), (error) => unexpected.push(error));
    api = await serve(
      app.route(
        '/',
        appOf(
          adminRoutes({ store, client: forgetful, links: { api: '' }, taskQueue: 'q' }),
          createGuard(new Callers({ adminToken: 'the-admin-token', store, links: { api: '' } })),
        ),
      ),
    );
    writeFileSync(join(directory, 'admin-token'), 'the-admin-token\n');
    writeFileSync(join(directory, 'api.json'), JSON.stringify({ url: api.url, pid: process.pid }));
  });
  after(async () => {
    await api.close();
    await store.close();
    rmSync(directory, { recursive: true });
    assert.deepEqual(unexpected, []);
  });

  /** On the API's own machine the command reads the token from the data directory. */
  async function run(words: string, scripted: Scripted = {}) {
    const shown = await relay(words.match(/"[^"]*"|\S+/g)?.map((word) => word.replaceAll('"', '')) ?? [], {
      ...scripted,
      env: { RELAY_URL: api.url, RELAY_DATA_DIR: directory, ...scripted.env },
    });
    assert.doesNotMatch(shown.out + shown.err, /s3cret|the-admin-token/);
    return shown;
  }
  async function succeed(words: string, scripted: Scripted = {}): Promise<string> {
    const { exitCode, out, err } = await run(words, scripted);
    assert.deepEqual([exitCode, err], [0, ''], `${words}: ${err}`);
    return out;
  }
  const shownValue = (name: string, out: string) => new RegExp(`^ *${name} +(\\S+)$`, 'm').exec(out)?.[1] ?? assert.fail(out);

  it('create a company and change it, field by field', async () => {
    assert.match((await run('companies')).err, /There is no company yet/);
    const refused = await run('companies set acme --time-zone Europe/Berlin');
    assert.deepEqual([refused.exitCode, /add --name/.test(refused.err)], [2, true]);
    const nobody = await run('companies set acme --name "Acme Field"');
    assert.equal(nobody.exitCode, 1);
    assert.match(nobody.err, /^Invalid input \(400\)\n {2}\/notify {2}must name a contact/);

    const made = await succeed(
      'companies set acme --name "Acme Field" --time-zone Europe/Berlin --notify-email a@acme.example --notify-email ' +
        'b@acme.example --notify-webhook https://hooks.example.com/s3cret ' +
        '--platform-url https://p.acme.example/api --platform-token s3cret',
    );
    assert.match(made, /^Company acme is created\.[\s\S]*relay rules create acme/);
    await succeed('companies set acme --notify-email c@acme.example --mail-from relay@acme.example');
    await succeed('companies set acme --platform-url https://p.acme.example/v2');
    const stored = await store.companies.get('acme');
    assert.deepEqual(stored && [stored.name, stored.timeZone, stored.notify, stored.platform, stored.mail], [
      'Acme Field',
      'Europe/Berlin',
      { emails: ['c@acme.example'], webhookUrl: 'https://hooks.example.com/s3cret' },
      { kind: 'http', baseUrl: 'https://p.acme.example/v2', auth: { type: 'bearer', token: 's3cret' } },
      { from: 'relay@acme.example' },
    ]);
    const moved = await run('companies set acme --platform-url https://elsewhere.example');
    assert.match(moved.err, /\/platform\/auth +must be entered again, because the stored secret belongs to another address/);

    await succeed('companies set acme --platform-token s3cret-2 --mail-from office@acme.example --file -', {
      stdin: '{"mail": {"from": "file@acme.example", "replyTo": "help@acme.example"}}',
    });
    const changed = await store.companies.get('acme');
    assert.deepEqual(
      [changed?.platform, changed?.mail],
      [
        { kind: 'http', baseUrl: 'https://p.acme.example/v2', auth: { type: 'bearer', token: 's3cret-2' } },
        { from: 'office@acme.example', replyTo: 'help@acme.example' },
      ],
    );

    await succeed('companies set acme --file -', { stdin: '{"platform": null, "timeZone": "UTC"}' });
    const shown = await succeed('companies show acme');
    assert.match(shown, /^timeZone +UTC$/m);
    assert.match(shown, /^notify\.webhookUrl +https:\/\/hooks\.example\.com\/\*\*\*$/m);
    assert.doesNotMatch(shown, /platform/);
    assert.match(await succeed('companies'), /^COMPANY +NAME +TIME ZONE +CHANGED\nacme +Acme Field +UTC +\d{4}-/);
    assert.equal(JSON.parse(await succeed('companies show acme --json')).companyId, 'acme');
    for (const [stdin, said] of [
      ['{"platform": {"token": "s3cret"', /^Standard input is not JSON/],
      ['["s3cret"]', /^Standard input must be a JSON object/],
    ] as const) {
      const { exitCode, err } = await run('companies set acme --file -', { stdin });
      assert.equal(exitCode, 2);
      assert.match(err, said);
    }
  });

  it('create a rule, and show its token once, in a ready curl command', async () => {
    const out = await succeed('rules create acme --name "Bob\'s rule" --on-failure continue');
    const relayId = shownValue('relayId', out);
    const relayAccessToken = shownValue('relayAccessToken', out);
    const [, url, body] = /^curl -i (\S+) -H 'Content-Type: application\/json' -d '(.*)'$/m.exec(out) ?? assert.fail(out);
    assert.equal(url, `${api.url}/co/acme/relay`);
    const [action] = JSON.parse(body ?? '');
    assert.deepEqual([action.relayId, action.relayAccessToken, action.emails], [relayId, relayAccessToken, ['c@acme.example']]);
    assert.ok((await store.tokens.authenticate('acme', [{ relayId, relayAccessToken }])).ok);
    assert.ok(!(await succeed(`rules show acme ${relayId}`)).includes(relayAccessToken));

    const taken = await succeed(
      'rules create acme --name Old --relay-id 4711 --token s3cret-token-of-old --notify-email d@acme.example',
    );
    assert.match(taken, /insert the token[\s\S]*"relayAccessToken":"<RELAY_ACCESS_TOKEN>","emails":\["d@acme\.example"\]/);
    assert.ok((await store.tokens.authenticate('acme', [{ relayId: '4711', relayAccessToken: 's3cret-token-of-old' }])).ok);
    assert.match((await run('rules create acme --name Old --relay-id 4711')).err, /already has a rule/);
    assert.equal((await run('rules create nobody --name x')).exitCode, 1);
    assert.match(await succeed('rules acme'), /^RULE +NAME[\s\S]*Bob's rule +yes +continue +resend/);
  });

  it('change, disable, enable and delete a rule', async () => {
    await succeed('rules set acme 4711 --name New --on-unknown hold --notify-webhook https://hooks.example.com/s3cret');
    const rule = await store.rules.get('acme', '4711');
    assert.deepEqual(rule && [rule.name, rule.onUnknown, rule.notify], [
      'New',
      'hold',
      { emails: ['d@acme.example'], webhookUrl: 'https://hooks.example.com/s3cret' },
    ]);
    await succeed('rules set acme 4711 --file -', { stdin: '{"notify": null}' });
    assert.equal((await store.rules.get('acme', '4711'))?.notify, undefined);
    await succeed('rules disable acme 4711');
    assert.match(await succeed('rules acme'), /New +no /);
    assert.match(await succeed('rules enable acme 4711'), /^enabled +true$/m);
    const unsure = await run('rules delete acme 4711');
    assert.deepEqual([unsure.exitCode, /--yes/.test(unsure.err)], [2, true]);
    for (const reply of ['n', '', 'yess']) assert.equal((await run('rules delete acme 4711', { reply })).exitCode, 2);
    const { exitCode, err } = await run('rules delete acme 4711', { reply: 'y' });
    assert.deepEqual([exitCode, err], [0, 'Delete rule 4711 of company acme with its tokens? This cannot be undone. y/N ']);
    assert.equal((await run('rules show acme 4711')).exitCode, 1);
  });

  it('rotate, list and revoke tokens', async () => {
    await succeed('rules create acme --name Tokens --relay-id 12 --token token-of-old-times');
    const out = await succeed('tokens rotate acme 12 --grace 1h');
    const relayAccessToken = shownValue('relayAccessToken', out);
    assert.match(out, /The older tokens expire at the latest at \d{4}-/);
    for (const token of ['token-of-old-times', relayAccessToken])
      assert.ok((await store.tokens.authenticate('acme', [{ relayId: '12', relayAccessToken: token }])).ok);
    assert.match(await succeed('tokens rotate acme 12'), /The older tokens have expired/);
    assert.equal(
      (await store.tokens.authenticate('acme', [{ relayId: '12', relayAccessToken: 'token-of-old-times' }])).ok,
      false,
    );
    const [, first = ''] = (await succeed('tokens acme 12')).split('\n');
    assert.match(first, /^\w+ +active +\d{4}-/);
    await succeed(`tokens revoke acme 12 ${first.split(' ')[0]} --yes`);
    assert.match(await succeed('tokens list acme 12'), /^\w+ +revoked/m);
  });

  it('create, list and delete keys, which do not open admin routes', async () => {
    const out = await succeed('keys create acme --name console');
    const key = shownValue('key', out);
    assert.match(await succeed('keys acme'), /^\w+ +console/m);
    const refused = await run('companies', { env: { RELAY_KEY: key } });
    assert.equal(refused.exitCode, 1);
    assert.match(refused.err, /refused the key in RELAY_KEY/);
    assert.ok(!refused.err.includes(key));
    await succeed(`keys delete acme ${shownValue('keyId', out)} --yes`);
    assert.doesNotMatch(await succeed('keys acme'), /console/);
  });

  it('list the audit log, and delete a company', async () => {
    assert.match(await succeed('audit acme --limit 200'), /admin +rule\.create +acme +.*relayId 12/);
    await succeed('companies delete acme --yes');
    assert.match((await run('companies show acme')).err, /^Not found \(404\)/);
    assert.match(await succeed('audit'), /company\.delete +acme/);
  });
});
