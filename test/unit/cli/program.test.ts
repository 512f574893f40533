import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import packageJson from '../../../package.json' with { type: 'json' };
import { program } from '../../../src/cli/program.js';
import { processTerminal } from '../../../src/cli/terminal.js';
import { type Asked, problem, type ScriptedAnswer, scripted } from '../../cli/local-api.js';
import { relay } from '../../cli/scripted-terminal.js';

/** Every command by its full name, such as `rules list`. */
const commands = program(processTerminal).relay.commands.flatMap((command) =>
  command.commands.length === 0
    ? [{ name: command.name(), command }]
    : command.commands.map((verb) => ({ name: `${command.name()} ${verb.name()}`, command: verb })),
);

const listed = {
  companyId: 'acme',
  chainId: 'c1',
  workflowId: 'relay:acme:c1',
  status: 'completed',
  receivedAt: '2026-07-01T12:00:00Z',
  assignmentIds: [],
  relayIds: [],
  links: { chain: 'http://127.0.0.1:8080/co/acme/chains/c1' },
};

describe('a command line', () => {
  let answer: (asked: Asked) => ScriptedAnswer = () => ({});
  let server: Awaited<ReturnType<typeof scripted>>;
  before(async () => {
    server = await scripted((asked) => answer(asked));
  });
  after(() => server.close());
  const at = (env: Record<string, string> = {}) => ({ env: { RELAY_URL: server.url, ...env } });

  it('uses each option with one meaning in all commands', () => {
    const types = new Map<string, string>();
    for (const { name, command } of commands) {
      for (const { long, required } of command.options) {
        const kind = required ? 'with a value' : 'without';
        assert.equal(types.get(long ?? '') ?? kind, kind, `${long} of ${name}`);
        types.set(long ?? '', kind);
      }
    }
  });

  it("prints the package's version", async () => {
    assert.deepEqual(await relay(['--version']), { exitCode: 0, out: `${packageJson.version}\n`, err: '' });
  });

  it('has help, with an example for each command', async () => {
    const all = await relay(['--help']);
    assert.equal(all.exitCode, 0);
    for (const { name, command } of commands) {
      assert.ok(all.out.includes(`  ${name}`), name);
      const subject = name.split(' ');
      const one = await relay([...subject, '--help']);
      assert.equal(one.exitCode, 0);
      const [, example = ''] = /\nExample:\n {2}(.+)\n/.exec(one.out) ?? [];
      assert.ok(command.summary() !== '' && one.out.includes(command.summary()), name);
      assert.ok(all.out.includes(command.summary()), name);
      assert.deepEqual(await relay(['help', ...subject]), one);
      assert.ok(example.startsWith(`relay ${name}`) || example.startsWith(`relay ${subject[0]}`));
    }
    const group = await relay(['chains', '--help']);
    assert.match(group.out, /chains list \[companyId\][\s\S]*chains show/);
    assert.doesNotMatch(group.out, /rules/);
  });

  it('has every command and option in the documentation', () => {
    const text = readFileSync(new URL('../../../../docs/command.md', import.meta.url), 'utf8');
    for (const { name, command } of commands) {
      assert.match(text, new RegExp(`\`${name}[ \`]`), name);
      for (const { long } of command.options) assert.ok(text.includes(long ?? assert.fail(name)), long);
    }
  });

  it('exits with 2 if it is wrong, says how to correct it, and sends nothing', async () => {
    for (const [words, said] of [
      [[], /Usage: relay <command>/],
      [['chian'], /Unknown command chian; did you mean chains\?\n/],
      [['mend'], /Unknown command mend; did you mean chains mend\?\n/],
      [['toString'], /Unknown command toString/],
      [['rules'], /relay rules has list, show, create, set, enable, disable, delete, versions, diff, .*, test\./],
      [['rules', 'enalbe', 'acme', '4711'], /no enalbe; did you mean enable\?/],
      [['rules', 'lsit'], /did you mean list\?/],
      [['chains', 'show', 'acme'], /<chainId> is missing\.\nUsage: relay chains show <companyId> <chainId>/],
      [['health', 'now'], /too many arguments\.\nUsage: relay health/],
      [['companies', '--foo'], /Unknown option '--foo'\.\nUsage: relay companies list/],
      [
        ['companies', 'set', 'acme', '--notify-emial', 'x'],
        /Unknown option '--notify-emial'; did you mean --notify-email\?\nUsage/,
      ],
      [['rules', 'list', 'acme', 'more'], /too many arguments\.\nUsage: relay rules list <companyId>/],
      [['bulk', 'rtry', 'acme'], /no rtry; did you mean retry\?/],
      [['companies', 'set', 'acme', '--platform-token'], /--platform-token <token>' argument missing/],
      [['audit', '--limit', '0'], /--limit must be a whole number/],
      [['companies', '--url', 'nowhere'], /--url must be a URL/],
      [['companies', 'show', '..'], /"\.\." is not an id/],
      [['retry', 'acme', 'c1', '-1'], /index must be a whole number/],
      [['retry', 'acme', 'c1', 'first'], /index must be a whole number/],
      [['reschedule', 'acme', 'c1', '0', 'soon'], /time must be a number of seconds/],
      [['tokens', 'rotate', 'acme', '1', '--grace', 'x'], /--grace must be a duration .* or always/],
      [['keys', 'create', 'acme'], /needs a --name/],
      [['rules', 'set', 'acme', '1'], /Say what to change/],
      [['send', 'acme', '/no/such/file'], /cannot be read: the file does not exist/],
      [['send', 'acme', '-', '--wait'], /--wait must read the chain: set RELAY_ADMIN_TOKEN/],
      [['send', 'acme', '-', '--idempotency-key', 'a\nb'], /--idempotency-key must be/],
    ] as const) {
      const { exitCode, err } = await relay(words, at());
      assert.equal(exitCode, 2, words.join(' '));
      assert.match(err, said);
    }
    assert.deepEqual(server.asked, []);
  });

  it('never echoes a secret', async () => {
    for (const words of [
      ['companies', 'set', 'acme', '--platform-tokn=s3cret'],
      ['companies', 'set', 'acme', 's3cret'],
      ['send', 'acme', '-', 'more', '--token', 's3cret'],
    ]) {
      const { out, err } = await relay(words, at());
      assert.doesNotMatch(out + err, /s3cret/);
    }
  });

  it('may omit `list`, and accepts options anywhere', async () => {
    answer = () => ({ body: { items: [] } });
    for (const words of [
      ['chains', 'acme'],
      ['chains', 'list', 'acme'],
      ['--url', server.url, 'chains', '--limit', '50', 'acme'],
      ['chains', 'acme', '--limit=50'],
    ]) {
      server.asked.length = 0;
      assert.equal((await relay(words, at())).exitCode, 0);
      assert.deepEqual(
        server.asked.map(({ method, path }) => `${method} ${path}`),
        ['GET /co/acme/chains?limit=50'],
      );
    }
  });

  it('exits with 1 if the API refuses, with every mistake and what to do', async () => {
    const errors = [
      { pointer: '/name', detail: 'is required' },
      { pointer: '/notify/emails/0', detail: 'is no e-mail address' },
    ];
    for (const [refusal, env, said] of [
      [
        problem(400, 'Invalid body', '/name is required; /notify/emails/0 is no e-mail address', errors),
        { RELAY_KEY: 'k' },
        'Invalid body (400)\n  /name             is required\n  /notify/emails/0  is no e-mail address\n',
      ],
      [
        problem(404, 'Not found', 'There is no company acme.'),
        { RELAY_KEY: 'k' },
        'Not found (404): There is no company acme.\nList what exists: npx relay companies list, rules list ' +
          '<companyId>, chains list <companyId>.\n',
      ],
      [
        { ...problem(503, 'Temporal cannot be reached', 'Nothing has run.'), headers: { 'Retry-After': '10' } },
        { RELAY_KEY: 'k' },
        'Temporal cannot be reached (503): Nothing has run.\nTry again in 10 seconds.\n',
      ],
      [problem(401, 'Not authorized', 'x'), {}, /Set RELAY_ADMIN_TOKEN, or RELAY_KEY/],
      [
        problem(401, 'Not authorized', 'x'),
        { RELAY_KEY: 's3cret' },
        /refused the key in RELAY_KEY\. A key is valid for its own company only/,
      ],
      [
        problem(401, 'Not authorized', 'x'),
        { RELAY_ADMIN_TOKEN: 's3cret' },
        /The token in RELAY_ADMIN_TOKEN is not an admin token of the relay at http\S+\. Set RELAY_ADMIN_TOKEN .* RELAY_DATA_DIR/,
      ],
    ] as const) {
      answer = () => refusal;
      const { exitCode, out, err } = await relay(['companies', 'show', 'acme'], at(env));
      assert.deepEqual([exitCode, out], [1, '']);
      if (typeof said === 'string') assert.equal(err, `${said}More: ${server.url}/problems/x\n`);
      else assert.match(err, said);
      assert.doesNotMatch(err, /s3cret/);
      const asJson = await relay(['companies', 'show', 'acme', '--json'], at(env));
      assert.deepEqual([asJson.exitCode, asJson.out, JSON.parse(asJson.err)], [1, '', refusal.body]);
    }
  });

  it('says what to do after a known refusal', async () => {
    const body = { type: '/problems/key-name-taken', title: 'Key name taken', status: 409, detail: 'It is.' };
    answer = () => ({ status: 409, body });
    const { err } = await relay(['keys', 'create', 'acme', '--name', 'desk'], at());
    assert.match(
      err,
      /^Key name taken \(409\): It is\.\nChoose another name, [^\n]*\nMore: http:\S+\/problems\/key-name-taken\n$/,
    );
  });

  it('exits with 3 without an answer, and says which address it called and how to start', async () => {
    const gone = await scripted(() => ({}));
    await gone.close();
    const { exitCode, err } = await relay(['companies'], { env: { RELAY_URL: gone.url } });
    assert.equal(exitCode, 3);
    assert.equal(
      err,
      `The relay's API cannot be reached at ${gone.url}: no process listens there.\nStart a relay here with \`npm ` +
        `start\`, or set the address of a relay with --url or RELAY_URL.\n`,
    );
    answer = () => ({ body: 'hello' });
    assert.equal((await relay(['companies'], at())).exitCode, 3);
  });

  it("prints the API's answer unchanged with --json, and nothing else on standard output", async () => {
    const text = '{ "companies": [ ],\n "more": 1 }';
    answer = () => ({ body: text });
    assert.deepEqual(await relay(['companies', '--json'], at()), { exitCode: 0, out: `${text}\n`, err: '' });
    assert.deepEqual(await relay(['companies'], at()), {
      exitCode: 0,
      out: '',
      err: 'There is no company yet. Create one: npx relay companies set <companyId> --name <name> --notify-email <address>\n',
    });
  });

  it('reads lists page by page', async () => {
    const all = Array.from({ length: 450 }, (_, n) => ({ ...listed, chainId: `c${n}` }));
    answer = ({ path }) => {
      const query = new URL(path, server.url).searchParams;
      const from = Number(query.get('cursor') ?? 0);
      const to = from + Number(query.get('limit'));
      return { body: { items: all.slice(from, to), ...(to < all.length && { nextCursor: String(to) }) } };
    };
    for (const [options, lines, more] of [
      [[], 50, true],
      [['--limit', '3'], 3, true],
      [['--limit', '250'], 250, true],
      [['--limit', '1000'], 450, false],
      [['--all'], 450, false],
    ] as const) {
      const { out, err } = await relay(['chains', 'acme', ...options], at());
      assert.equal(out.trimEnd().split('\n').length, lines + 1);
      assert.equal(err, more ? 'There are more items: use --limit <n> or --all.\n' : '');
    }
    const parts = (await relay(['chains', 'acme', '--all', '--json'], at())).out.trimEnd().split('\n');
    assert.deepEqual(
      parts.flatMap((part) => JSON.parse(part).items),
      all,
    );
  });

  it('prints colours and cuts lines on a terminal only', async () => {
    answer = () => ({
      body: { items: [{ ...listed, status: 'failed', summary: 'x'.repeat(80) }] },
    });
    const line = async (columns?: number, env?: Record<string, string>) =>
      (await relay(['chains', 'acme'], { ...at(env), ...(columns !== undefined && { columns }) })).out.split('\n')[1] ?? '';
    assert.match((await line(60)).replaceAll('\u001b', '<'), /^c1 +<\[31mfailed +<\[0m.*…$/);
    assert.match(await line(60, { NO_COLOR: '1' }), /^c1 +failed +2026.*…$/);
    assert.equal((await line(60, { NO_COLOR: '1' })).length, 60);
    assert.match(await line(), /^c1 +failed +2026.*x{80}$/);
  });
});
