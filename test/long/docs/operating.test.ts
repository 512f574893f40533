/**
 * Runs every command of docs/operating.md against a live stack. A comment before each block has its fixture and its checks: `<!--
 * test: held; action done -->`. Each line of a block is one command. It runs in a shell that has run the first block.
 * Commands that only print something share a fixture. Every other command has its own fixture.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { acceptedSchema } from '../../../src/contract/chain-resource.js';
import { rejectionReasons } from '../../../src/contract/problem.js';
import { searchAttributeKeys } from '../../../src/contract/search-attributes.js';
import { findTemporal } from '../../../src/sandbox/temporal-binary.js';
import { findTctl } from '../../docs/tctl.js';
import { type Action, adminToken, eventually, send, startStack, Unmet, udf } from '../../end-to-end/stack.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const text = readFileSync(join(root, 'docs/operating.md'), 'utf8');

interface Block {
  needs: string;
  /** `action done`, `prints done`, `exits 4`. */
  expected: string[];
  commands: string[];
}

/** Every fenced block, with the comment on the line before it. */
function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^(.*)\n```(\w*)\n([\s\S]*?)\n```$/gm)].map(([whole, before = '', language, body = '']) => {
    const [, needs, checks] = /^<!-- test: ([\w-]+)((?:; [^;]+)*) -->$/.exec(before) ?? [];
    assert(
      needs !== undefined && language === 'sh',
      `a block of docs/operating.md has no "<!-- test: … -->", or is no sh: ${whole}`,
    );
    const commands = body
      .replaceAll(/ *\\\n */g, ' ')
      .split('\n')
      .filter((line) => line !== '');
    return { needs, expected: (checks ?? '').split('; ').slice(1), commands };
  });
}

const [setUp, ...blocks] = blocksOf(text);
assert(setUp?.needs === 'set-up');
const { commands: setUpCommands } = setUp;

const tctl = await findTctl();
const programs = mkdtempSync(join(tmpdir(), 'relay-operating-'));
after(() => rmSync(programs, { recursive: true, force: true }));
const main = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
writeFileSync(
  join(programs, 'npx'),
  `#!/bin/sh\n[ "$1" = relay ] || exit 99\nshift\nexec '${process.execPath}' '${main}' "$@"\n`,
  {
    mode: 0o755,
  },
);
symlinkSync(
  await findTemporal({ dataDir: programs, say: (line) => process.stderr.write(`${line}\n`) }),
  join(programs, 'temporal'),
);
if ('path' in tctl) symlinkSync(tctl.path, join(programs, 'tctl'));
mkdirSync(join(programs, '.relay'));
writeFileSync(join(programs, '.relay', 'admin-token'), adminToken);

const stack = await startStack();
/** An API for chains whose holds end after five seconds. */
const hurried = stack.apiWith(stack.keyring, { attentionWindowSeconds: 5 });
writeFileSync(join(programs, '.relay', 'api.json'), JSON.stringify({ url: stack.links.api, pid: process.pid }));
type Company = Awaited<ReturnType<typeof stack.company>>;

/** The fixture of a command: the variables of the reader's shell, and the chains of the command. */
interface Fixture {
  company: Company;
  chains: string[];
  variables: Record<string, string>;
}

/** Waits until commands can find the chain by its search attributes, which Temporal writes a moment later. */
async function listed(query: string): Promise<void> {
  await eventually(query, async () => ((await stack.client.workflow.count(query)).count > 0 ? true : new Unmet(0)));
}

/** Waits until the relay lists the chain. The lists come from rows, which a worker updates about once a second. */
async function inRows({ companyId }: Company, chainId: string, filter: Parameters<typeof stack.store.chains.list>[1]) {
  await eventually('the row of the chain', async () => {
    const { items } = await stack.store.chains.list(companyId, filter, { limit: 100 });
    return items.some((row) => row.chainId === chainId) ? true : new Unmet(items);
  });
}

let batches: Promise<unknown> = Promise.resolve();

/** The dev server runs one batch at a time for a namespace, as the page says. So batches wait for each other. */
async function runWhenFree(command: string, variables: Record<string, string>): Promise<Ran> {
  if (!command.includes(' --query ')) return run(command, variables);
  const ran = batches.then(() =>
    eventually('a batch has started', async () => {
      await noBatchRuns();
      const ended = await run(command, variables);
      return ended.stderr.includes('Max concurrent batch operations') ? new Unmet(ended) : ended;
    }),
  );
  batches = ran.catch(() => {});
  return ran;
}

async function noBatchRuns(): Promise<void> {
  await eventually('no batch runs', async () => {
    const { operationInfo } = await stack.client.workflowService.listBatchOperations({
      namespace: stack.client.options.namespace,
    });
    return operationInfo.every(({ closeTime }) => closeTime) ? true : new Unmet(operationInfo);
  });
}

function missingAssignment(): string {
  return String(Math.floor(Math.random() * 1e12));
}

/** A ticket update, a send, and another ticket update. */
function around(assignment: string): Action[] {
  return [udf(`t-${assignment}`), send(assignment, { groupId: '501' }), udf(`t-${assignment}`)];
}

/** Starts chains that are held for an assignment that was missing on the platform. Then creates this assignment. */
async function held(count: number): Promise<Fixture> {
  const company = await stack.company();
  const assignment = missingAssignment();
  const chains: string[] = [];
  for (let n = 0; n < count; n += 1) {
    chains.push((await company.start(around(assignment))).chainId);
  }
  for (const chainId of chains) {
    await company.action(chainId, 1, 'needs-attention');
    await listed(`RelayChainId = '${chainId}' AND RelayNeedsAttention = true`);
    await inRows(company, chainId, { status: 'needs-attention' });
  }
  await stack.assignment({ id: assignment });
  return { company, chains, variables: { CHAIN: chains[0] ?? '', INDEX: '1', ASSIGNMENT: assignment } };
}

async function givenUp(): Promise<Fixture> {
  const company = await stack.company();
  const { relayId, relayAccessToken } = company;
  const assignment = missingAssignment();
  const body = JSON.stringify(around(assignment).map((action) => ({ relayId, relayAccessToken, ...action })));
  const headers = { 'content-type': 'application/json' };
  const accepted = await hurried.request(`/co/${company.companyId}/relay`, { method: 'POST', headers, body });
  const { chainId } = acceptedSchema.parse(await accepted.json());
  await company.ended(chainId);
  await listed(`RelayChainId = '${chainId}' AND ExecutionStatus = 'Failed'`);
  await inRows(company, chainId, { status: 'failed' });
  await stack.assignment({ id: assignment });
  return { company, chains: [chainId], variables: { CHAIN: chainId, INDEX: '1', ASSIGNMENT: assignment } };
}

async function pauseOf({ companyId }: Company): Promise<string[]> {
  return (await stack.store.pauses.current(companyId)).map(({ what }) => what);
}

const fixtures: Record<string, () => Promise<Fixture>> = {
  held: () => held(1),
  'many-held': () => held(3),
  'given-up': givenUp,
  /** A chain whose second action is due in an hour. */
  async scheduled() {
    const company = await stack.company();
    const assignment = await stack.assignment();
    const { chainId } = await company.start([udf('T'), send(assignment, { groupId: '501', delayInSeconds: '3600' })]);
    await company.action(chainId, 0, 'done'); // Before its first workflow task has ended, a chain cannot be reset.
    await company.action(chainId, 1, 'scheduled');
    await listed(`RelayChainId = '${chainId}' AND WorkflowType = 'RuleChain'`);
    return { company, chains: [chainId], variables: { CHAIN: chainId, INDEX: '1', ASSIGNMENT: assignment } };
  },
  async company() {
    return { company: await stack.company(), chains: [], variables: {} };
  },
  /** An open chain that Temporal does not know. */
  async forgotten() {
    const company = await stack.company();
    const { companyId, relayId } = company;
    const chainId = 'c-lost';
    const ids = { relayIds: [relayId], assignmentIds: [], ticketIds: [] };
    await stack.store.chains.collect([{ companyId, chainId, status: 'running', receivedAt: new Date().toISOString(), ...ids }]);
    await stack.store.chains.forget([{ companyId, chainId }]);
    return { company, chains: [], variables: { CHAIN: chainId } };
  },
  /** A rule whose token leaked. The rule already has a newer token. */
  async rotated() {
    const company = await stack.company();
    const actor = { kind: 'admin' } as const;
    await stack.store.tokens.rotate(company.companyId, company.relayId, 3600, actor);
    return { company, chains: [], variables: {} };
  },
  async key() {
    const company = await stack.company();
    const made = await stack.store.keys.create(company.companyId, 'console', { kind: 'admin' });
    assert(typeof made === 'object');
    return { company, chains: [], variables: { KEY_ID: made.keyId } };
  },
  /** A request that was refused because its rule was disabled. The rule is enabled again. */
  async rejected() {
    const company = await stack.company();
    const actor = { kind: 'admin' } as const;
    const enable = (enabled: boolean) =>
      stack.store.rules.update(company.companyId, company.relayId, (rule) => ({ ...rule, enabled }), actor);
    await enable(false);
    assert.equal((await company.post([udf('T')])).status, 401);
    await enable(true);
    // The relay stores the refused request a moment after it has answered.
    const { rejectedId } = await eventually('the rejected request', async () => {
      const { items } = await stack.store.rejected.list(company.companyId, { limit: 1 });
      return items[0] ?? new Unmet(items);
    });
    return { company, chains: [], variables: { REJECTED_ID: rejectedId } };
  },
  /** A chain that waits for its paused platform. */
  async paused() {
    const company = await stack.company();
    await stack.store.pauses.begin(company.companyId, { what: 'platform' }, { kind: 'admin' });
    const assignment = await stack.assignment();
    const { chainId } = await company.start([send(assignment, { groupId: '501' })]);
    await listed(`RelayChainId = '${chainId}' AND RelayPaused = true`);
    await inRows(company, chainId, { paused: true });
    return { company, chains: [chainId], variables: { CHAIN: chainId, INDEX: '0', ASSIGNMENT: assignment } };
  },
};

/** Fixtures that commands share if they only print something. */
const shared = new Map<string, Promise<Fixture>>();

function fixtureFor({ needs, expected }: Block): Promise<Fixture> {
  const make = fixtures[needs] ?? assert.fail(`there is no fixture ${needs}`);
  const onlyPrints = expected.every((words) => /^(prints|exits) /.test(words));
  if (!onlyPrints || needs === 'rejected') return make(); // `rejected resend` only prints, but it uses up its fixture.
  const known = shared.get(needs) ?? make();
  shared.set(needs, known);
  return known;
}

/** The checks that a block may name. If a block names no check, each command must succeed and print something. */
const outcomes: Record<string, (fixture: Fixture, wanted: string) => Promise<unknown>> = {
  action: ({ company, chains, variables }, state) =>
    Promise.all(
      chains.map((chainId) =>
        company.until(chainId, ({ actions }) => actions[Number(variables.INDEX)]?.state === state, `the action to be ${state}`),
      ),
    ),
  chain: ({ company, chains }, status) =>
    Promise.all(chains.map((chainId) => company.until(chainId, (chain) => chain.status === status, `the chain to be ${status}`))),
  'due-in': ({ company, chains, variables }, seconds) =>
    company.until(
      chains[0] ?? '',
      ({ actions }) => Date.parse(actions[Number(variables.INDEX)]?.runAt ?? '') - Date.now() <= Number(seconds) * 1000,
      `the action to be due in ${seconds} s`,
    ),
  runs: ({ company, chains }, count) =>
    eventually(`${count} runs`, async () => {
      const query = `WorkflowId = 'relay:${company.companyId}:${chains[0]}'`;
      const runs = (await stack.client.workflow.count(query)).count;
      return runs === Number(count) ? true : new Unmet(runs);
    }),
  paused: async ({ company }, what) => assert.deepEqual(await pauseOf(company), what === 'nothing' ? [] : [what]),
  tokens: async ({ company }, count) => {
    const tokens = await stack.store.tokens.list(company.companyId, company.relayId);
    assert.equal(tokens?.filter(({ state }) => state === 'active').length, Number(count));
  },
  keys: async ({ company }, count) => assert.equal((await stack.store.keys.list(company.companyId))?.length, Number(count)),
  'old-token': async ({ company }, status) => assert.equal((await company.post([udf('T')])).status, Number(status)),
};

// The commands do not disturb each other, and mostly wait.
describe('docs/operating.md', { concurrency: 3 }, () => {
  it('names at the top every variable that its commands use', () => {
    const set = setUpCommands.flatMap((line) => [...line.matchAll(/(?:^|\s)([A-Z_]+)=/g)].map(([, name]) => name));
    const used = blocks.flatMap(({ commands }) =>
      commands.flatMap((line) => [...line.matchAll(/\$\{?([A-Z_]+)/g)].map(([, name]) => name)),
    );
    assert.deepEqual(
      [...new Set(used)].filter((name) => !set.includes(name)),
      [],
    );
  });

  it('explains each search attribute', () => {
    for (const { name } of searchAttributeKeys) assert.match(text, new RegExp(`^- \`${name}\` `, 'm'));
  });

  it('says what to do for each reason of a refused request', () => {
    for (const reason of rejectionReasons) assert(text.includes(`\`${reason}\``), reason);
  });

  it('says what to do for each failure type in the sources', () => {
    const types = ['activities', 'workflows'].flatMap((folder) =>
      readdirSync(join(root, 'src', folder), { recursive: true, encoding: 'utf8' }).flatMap((file) => {
        if (!file.endsWith('.ts')) return [];
        const source = readFileSync(join(root, 'src', folder, file), 'utf8');
        return [...source.matchAll(/(?:\btype: |\? |\?\? |: |Failure\(|mistake\(|[^(]+, )'((?:[A-Z][a-z]+){1,3})'/g)].map(
          ([, type]) => type,
        );
      }),
    );
    const failures = types.filter((type) =>
      /(Error|Mistake|Failed|Ended|Cancelled|Unknown|Delivered|Ordinary|Timeout|^Paused)$/.test(type ?? ''),
    );
    assert(failures.includes('PlatformError') && failures.includes('OutcomeUnknown'), failures.join());
    for (const type of new Set(failures)) assert(text.includes(`\`${type}\``), type);
  });

  it('says correctly that temporal and tctl report success for a second cancel, and relay does not', async () => {
    const { company, variables } = await (fixtures.scheduled ?? assert.fail())();
    const inCompany = { COMPANY: company.companyId, ...variables };
    const times = async (command: string) => [(await run(command, inCompany)).code, (await run(command, inCompany)).code];
    const chain = '"relay:$COMPANY:$CHAIN"';
    // Action 0 has ended, but its chain must still be open, because a signal to a closed chain fails.
    assert.deepEqual(await times(`temporal workflow signal -w ${chain} --name cancelAction -i '[0]'`), [0, 0]);
    await company.steer(variables.CHAIN ?? '', 'cancel', 1);
    await company.ended(variables.CHAIN ?? '');
    assert.deepEqual(await times(`temporal workflow cancel -w ${chain}`), [0, 0]);
    if ('path' in tctl) assert.deepEqual(await times(`tctl wf cancel -w ${chain}`), [0, 0]);
    assert.deepEqual(await times('npx relay cancel "$COMPANY" "$CHAIN" 1'), [1, 1]);
  });

  for (const block of blocks) {
    const { needs, expected, commands } = block;
    for (const command of commands) {
      const skip = 'missing' in tctl && /^tctl\b/.test(command) ? tctl.missing : false;
      it(`${command}${expected.map((words) => `, then ${words}`).join('')} (${needs})`, { skip }, async () => {
        const fixture = await fixtureFor(block);
        const { company } = fixture;
        const oldest = (await stack.store.tokens.list(company.companyId, company.relayId))?.at(-1);
        const variables: Record<string, string> = {
          COMPANY: company.companyId,
          RELAY_ID: company.relayId,
          TOKEN_ID: oldest?.tokenId ?? '',
          TASK_QUEUE: stack.taskQueue,
          REASON: 'PlatformError',
          ...fixture.variables,
        };
        const { code, stdout, stderr } = await runWhenFree(command, variables);
        const said = `exit code ${code}\n${stdout}\n${stderr}`;
        const exits = expected.find((words) => words.startsWith('exits '));
        assert.equal(code, exits ? Number(exits.slice(6)) : 0, said);
        if (expected.length === 0) assert.notEqual(stdout, '', said);
        for (const words of expected) {
          const [, subject = '', wanted = ''] = /^(\S+) (.*)$/.exec(words) ?? [];
          if (subject === 'exits') continue;
          if (subject === 'prints')
            assert(
              stdout.includes(wanted.replace(/^\$(\w+)$/, (_, name: string) => variables[name] ?? '')),
              `${wanted} in ${said}`,
            );
          else await (outcomes[subject] ?? assert.fail(`there is no outcome ${subject}`))(fixture, wanted);
        }
      });
    }
  }
});

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command as the reader does, after the first block, against a relay on non-default ports. */
function run(command: string, variables: Record<string, string>): Promise<Ran> {
  const env = {
    PATH: `${programs}:${process.env.PATH}`,
    HOME: programs,
    NO_COLOR: '1',
    PORT: new URL(stack.links.api).port,
    RELAY_TEMPORAL_PORT: stack.temporalAddress.split(':').at(-1),
  };
  const values = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'`);
  const script = [...setUpCommands, ...values, command].join('\n');
  return new Promise((resolve) => {
    execFile('/bin/sh', ['-e', '-c', script], { env, cwd: programs, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
    });
  });
}
