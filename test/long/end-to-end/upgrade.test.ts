/**
 * An upgrade: chains of the last release continue while its worker and the current worker run, and with the current worker
 * alone. A downgrade: chains of the current worker continue with the release. A chain that the release cannot replay waits, shows
 * why, and continues when the current worker is back. Until there is a release, the recorded histories replace its chains.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import type { ChainResource } from '../../../src/contract/chain-resource.js';
import type { Rule } from '../../../src/contract/rule.js';
import { startMailCatcher } from '../../../src/sandbox/mail/catcher.js';
import { startPlatform } from '../../../src/sandbox/platform/platform.js';
import { freePort } from '../../../src/service/server.js';
import { callsTo } from '../../end-to-end/deployment.js';
import { buildEarlier } from '../../end-to-end/earlier.js';
import { startOfEvent } from '../../end-to-end/event-chains.js';
import { read, recordedNames } from '../../end-to-end/histories.js';
import { type Process, sandbox, startProcess } from '../../end-to-end/process.js';
import { replayOptions } from '../../end-to-end/replays.js';
import { resetToFirst } from '../../end-to-end/resets.js';
import {
  type Action,
  type Call,
  companyAt,
  email,
  eventually,
  replayAll,
  send,
  standardKeyring,
  Unmet,
  udf,
} from '../../end-to-end/stack.js';
import { createDatabase } from '../../store/databases.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** @returns the tag of the last release (undefined if there is no release), or the reason why the tag cannot be found here */
function lastRelease(): { tag?: string } | { unknown: string } {
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
  try {
    if (git('rev-parse', '--is-shallow-repository') === 'true')
      return { unknown: 'this clone is shallow: run git fetch --unshallow --tags' };
    const [tag] = git('tag', '--list', 'v*', '--sort=-version:refname', '--merged', 'HEAD').split('\n');
    return { tag: tag || undefined };
  } catch (error) {
    return { unknown: `git cannot tell: ${String(error).split('\n')[0]}` };
  }
}
const release = lastRelease();

const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

interface Shape {
  name: string;
  rule?: Partial<Rule>;
  /** The pause begins before any worker runs, because a running worker notices a pause only later. */
  isPaused?: boolean;
  /** Causes a fault during the start of the chain. */
  trouble?(subject: Subject): Promise<unknown>;
  actions: Action[];
  /** Waits until another version can take over. */
  until(subject: Subject): Promise<unknown>;
  finish(subject: Subject): Promise<unknown>;
  states: string[];
}

const [known, unknown] = ['1200', '1404'];
const later = { delayInSeconds: '3000' };
const soon = { delayInSeconds: '1' };
const group = { groupId: '501' };

const retriedOnHealedPlatform: Shape['finish'] = async (s) => {
  await s.healPlatform();
  await s.steer('retry', 0);
};

const shapes: Shape[] = [
  {
    name: 'scheduled',
    actions: [udf('T'), udf('T', later)],
    until: (s) => s.is(0, 'done'),
    finish: (s) => s.steer('runNow', 1),
    states: ['done', 'done'],
  },
  {
    name: 'held',
    actions: [send(unknown, group), udf('T'), udf('T', later)],
    until: (s) => s.is(0, 'needs-attention'),
    async finish(s) {
      await s.makeAssignment(unknown);
      await s.steer('retry', 0);
      await s.steer('runNow', 2);
    },
    states: ['done', 'done', 'done'],
  },
  {
    name: 'held-delayed',
    actions: [udf('T'), send(unknown, { ...group, ...soon }), udf('T', soon)],
    until: (s) => s.is(1, 'needs-attention'),
    finish: (s) => s.steer('skip', 1),
    states: ['done', 'skipped', 'done'],
  },
  {
    name: 'outage',
    trouble: (s) => s.breakPlatform({ status: 503, path: 'send' }),
    actions: [send(known, group), udf('T')],
    until: (s) => s.is(0, 'needs-attention'),
    finish: retriedOnHealedPlatform,
    states: ['done', 'done'],
  },
  {
    name: 'paused',
    isPaused: true,
    actions: [udf('T'), udf('T', soon)],
    until: (s) => Promise.all([0, 1].map((index) => s.waits(index))),
    finish: (s) => s.resume(),
    states: ['done', 'done'],
  },
  {
    name: 'e-mail',
    trouble: (s) => s.breakMail({ code: 550, to: 'bad@' }),
    actions: [email(['good@x.example', 'bad@x.example']), send(unknown, group)],
    until: (s) => s.is(1, 'needs-attention'),
    async finish(s) {
      await s.healMail();
      await s.steer('retry', 0);
      await s.is(0, 'done');
      await s.steer('skip', 1);
    },
    states: ['done', 'skipped'],
  },
  {
    name: 'failed',
    rule: { onFailure: 'continue' },
    actions: [send(unknown, group), udf('T')],
    until: (s) => s.ended(),
    async finish(s) {
      await s.makeAssignment(unknown);
      await s.steer('retry', 0);
    },
    states: ['done', 'done'],
  },
  {
    name: 'unknown',
    rule: { onUnknown: 'hold' },
    trouble: (s) => s.breakPlatform({ dropConnection: true, afterActing: true, path: 'send' }),
    actions: [send(known, group), udf('T')],
    until: (s) => s.is(0, 'needs-attention'),
    finish: retriedOnHealedPlatform,
    states: ['done', 'done'],
  },
  {
    name: 'cancelled',
    actions: [send(unknown, group), udf('T', later)],
    until: (s) => s.is(0, 'needs-attention'),
    finish: (s) => s.steer('cancel'),
    states: ['cancelled', 'cancelled'],
  },
  {
    name: 'reset',
    actions: [udf('T'), udf('T', later)],
    async until(s) {
      await s.is(0, 'done');
      await reset(s);
    },
    finish: (s) => s.steer('runNow', 1),
    states: ['done', 'done'],
  },
];

/**
 * The last release before rules with contents. Its workers cannot run the chain of an event: they hold the actions, and report
 * that they are too old.
 */
const withoutContents = '0.1.0';
interface ShapeOfEvent extends Shape {
  /** Causes work for the earlier worker. */
  meet(subject: Subject): Promise<unknown>;
}
const title = { platformAssignmentId: known, cfValue: '${assignment.title}' };
const shapesOfEvent: ShapeOfEvent[] = [
  {
    name: 'scheduled-of-event',
    actions: [udf('T', { ...title, ...later })],
    until: (s) => s.is(0, 'scheduled'),
    meet: (s) => s.steer('runNow', 0),
    finish: (s) => s.steer('retry', 0),
    states: ['done'],
  },
  {
    name: 'held-of-event',
    trouble: (s) => s.breakPlatform({ status: 400, path: 'tickets' }),
    actions: [udf('T', title), udf('T')],
    until: (s) => s.is(0, 'needs-attention'),
    meet: retriedOnHealedPlatform,
    finish: (s) => s.steer('retry', 0),
    states: ['done', 'done'],
  },
];

/**
 * For some releases, a shape of chain whose history the release cannot replay, if the current worker runs the chain. The last
 * action of the shape is held. A release that is not listed can replay all shapes.
 */
const beyondRelease: Record<string, Pick<Shape, 'actions' | 'states'>> = {};

interface World {
  api: string;
  adminToken: string;
  mailUrl: string;
  client: Client;
  taskQueue: string;
}
type Subject = Awaited<ReturnType<typeof subjectOf>>;

const json = { 'content-type': 'application/json' };
const ask = (method: string, url: string, body?: unknown, headers = {}) =>
  fetch(url, { method, headers: { ...json, ...headers }, ...(body !== undefined && { body: JSON.stringify(body) }) });

/** A company with its own rule and platform, and a chain of this shape. */
async function subjectOf(shape: Shape, { api, adminToken, mailUrl, client, taskQueue }: World) {
  const platform = await startPlatform({ host: '127.0.0.1', port: 0 });
  closing.push(() => platform.close());
  const makeAssignment = (id: string) => ask('POST', `${platform.url}/control/assignments`, { id });
  await makeAssignment(known);
  const companyId = `${shape.name}-${randomUUID().slice(0, 8)}`;
  const admin = (method: string, path: string, body?: unknown) =>
    ask(method, `${api}/admin/companies/${companyId}${path}`, body, { authorization: `Bearer ${adminToken}` });
  const system = { kind: 'http', baseUrl: platform.url };
  const company = { name: 'Test company', notify: { emails: [`a@${companyId}.example`] }, platform: system, ticketing: system };
  assert.equal((await admin('PUT', '', company)).status, 201);
  const made = await admin('POST', '/rules', { name: 'Test rule', ...shape.rule });
  assert.equal(made.status, 201);
  if (shape.isPaused) assert.equal((await admin('PUT', '/pause', {})).status, 200);
  const { relayId, relayAccessToken } = JSON.parse(await made.text());
  const at = companyAt(api, adminToken, { companyId, relayId, relayAccessToken });
  let [chainId, workflowId] = ['', ''];
  return {
    client,
    makeAssignment,
    workflow: () => client.workflow.getHandle(workflowId),
    breakPlatform: (failure: unknown) => ask('PUT', `${platform.url}/control/fail`, failure),
    healPlatform: () => ask('DELETE', `${platform.url}/control/fail`),
    breakMail: (failure: unknown) => ask('PUT', `${mailUrl}/control/fail`, failure),
    healMail: () => ask('DELETE', `${mailUrl}/control/fail`),
    resume: () => admin('DELETE', '/pause'),
    is: (index: number, state: Parameters<typeof at.action>[2]) => at.action(chainId, index, state),
    waits: (index: number) => at.until(chainId, ({ actions }) => actions[index]?.pausedSince !== undefined, `${index} to wait`),
    ended: () => at.ended(chainId),
    readWithoutWorker: () => at.read(chainId, { partial: true }),
    async steer(verb: string, index?: number) {
      const response = await at.steer(chainId, verb, index);
      assert.equal(response.status, 202, `${shape.name}: ${await response.text()}`);
    },
    async begin() {
      await shape.trouble?.(this);
      const start = () => startOfEvent({ client, taskQueue }, { companyId, relayId }, shape.actions);
      ({ chainId, workflowId } = await ('meet' in shape ? start() : at.start(shape.actions)));
      try {
        await shape.until(this);
      } catch (error) {
        const { pendingActivities, pendingWorkflowTask } = (await this.workflow().describe()).raw;
        throw new Error(`${shape.name} waits for ${JSON.stringify({ pendingActivities, pendingWorkflowTask })}`, {
          cause: error,
        });
      }
    },
    /** An earlier worker holds the action, and has no effect. */
    async isOutdated() {
      const outdated = ({ actions: [action] }: ChainResource) =>
        action?.state === 'needs-attention' && /update its workers, then retry/.test(action.error?.message ?? '');
      await at.until(chainId, outdated, 'the action to wait for newer workers');
      assert(!platform.state.tickets.has('T'));
    },
    /** Brings the chain to its end. The states at the end must be those of the shape. */
    async finish() {
      await shape.finish(this);
      const isWanted = (actions: { state: string }[]) => `${actions.map(({ state }) => state)}` === `${shape.states}`;
      const wanted = `${shape.name} to close with ${shape.states}`;
      await at.until(chainId, ({ closedAt, actions }) => closedAt !== undefined && isWanted(actions), wanted);
      const calls: Call[] = JSON.parse(await (await ask('GET', `${platform.url}/journal`)).text());
      const done = calls.filter(({ method, status = 0 }) => method !== 'GET' && status < 300);
      const indexes = shape.states.flatMap((state, index) =>
        state === 'done' && shape.actions[index]?.action !== 'sendEmails' ? index : [],
      );
      const keys = new Set(done.map(({ idempotencyKey }) => idempotencyKey));
      assert.deepEqual([...keys].sort(), indexes.map((index) => `${workflowId}/${index}`).sort());
    },
  };
}

/** Resets the chain to its first workflow task. Returns when the chain is waiting for its earlier delayed action. */
async function reset({ client, workflow }: Subject): Promise<void> {
  await resetToFirst(client, workflow().workflowId);
  await eventually('the reset chain to wait for its delayed action', async () => {
    const { raw } = await workflow().describe();
    return raw.pendingActivities?.some(({ activityType }) => activityType?.name === 'awaitDelayed') || new Unmet(raw);
  });
}

/** Whether the event says that a worker could not replay the chain. */
function isUnreplayable({ workflowTaskFailedEventAttributes: failed }: proto.temporal.api.history.v1.IHistoryEvent): boolean {
  return failed?.cause === proto.temporal.api.enums.v1.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR;
}

if ('unknown' in release) it('an upgrade', { skip: release.unknown }, () => {});
else if (release.tag === undefined) describe('an upgrade to the first release', replayRecorded);
else if (process.env.RELAY_TEST_DATABASE_URL === undefined) it('an upgrade', { skip: 'PostgreSQL is not installed' }, () => {});
else {
  const { tag } = release;
  describe(`an upgrade from ${tag}`, () => upgradeFrom(tag));
}

/** Replays the chains that this version recorded before its release. */
function replayRecorded(): void {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  it(`the chains that test/histories/${version} has recorded continue`, async () => {
    const { History } = proto.temporal.api.history.v1;
    const names = recordedNames().filter((name) => name.startsWith(`${version}/`));
    assert(names.length > 0, `nothing is recorded in test/histories/${version}`);
    const histories = names.map((name) => ({ workflowId: name, history: History.decode(read(name)) }));
    let replayed = 0;
    for await (const { workflowId, error } of Worker.runReplayHistories(replayOptions(standardKeyring), histories)) {
      assert.ifError(error && new Error(`${workflowId}: ${error.message}`));
      replayed += 1;
    }
    assert.equal(replayed, names.length);
  });
}

async function upgradeFrom(tag: string): Promise<void> {
  const earlierBuild = buildEarlier(tag);
  closing.push(earlierBuild.remove);
  const earlierDist = earlierBuild.dist;
  const taskQueue = randomUUID();
  const mail = await startMailCatcher({ host: '127.0.0.1', smtpPort: 0, uiPort: 0 });
  closing.push(() => mail.close());
  const address = process.env.RELAY_TEST_TEMPORAL_ADDRESS ?? '';
  const connection = await Connection.connect({ address });
  closing.push(() => connection.close());
  const port = await freePort('127.0.0.1');
  const world = {
    api: `http://127.0.0.1:${port}`,
    adminToken: randomUUID(),
    mailUrl: mail.uiUrl,
    client: new Client({ connection }),
    taskQueue,
  };

  async function start(main: 'api' | 'worker', databaseUrl: string, dist?: string): Promise<Process> {
    const env = {
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: address,
      RELAY_TASK_QUEUE: taskQueue,
      RELAY_ALLOW_PRIVATE_NETWORKS: 'true',
      RELAY_ADMIN_TOKEN: world.adminToken,
      RELAY_ALLOW_PLAIN_STORAGE: 'true', // The histories are replayed without keys.
      RELAY_RETRY_BUDGET_SECONDS: '1',
      RELAY_NOTICE_DIGEST_SECONDS: '3',
      SMTP_URL: mail.smtpUrl,
      PORT: String(port),
    };
    const started = startProcess(`${main}/main.js`, env, dist);
    closing.push(() => started.end('SIGKILL'));
    await started.says(main === 'api' ? 'Temporal can be reached' : 'the worker runs');
    return started;
  }
  const startBoth = (databaseUrl: string, dist?: string) =>
    Promise.all([start('api', databaseUrl, dist), start('worker', databaseUrl, dist)]);
  const end = async (processes: Process[]) => {
    for (const one of processes) assert.equal(await one.end('SIGTERM'), 0, one.output());
  };

  const database = await createDatabase();
  closing.push(() => database.drop());
  const founder = await start('api', database.url, earlierDist);
  const found = () => Promise.all(shapes.map((shape) => subjectOf(shape, world)));
  const [beside, without, back] = [await found(), await found(), await found()];
  const touched = beyondRelease[tag.slice(1)];
  const beyond =
    touched &&
    (await subjectOf(
      {
        ...touched,
        name: 'beyond',
        until: (s) => s.is(touched.states.length - 1, 'needs-attention'),
        finish: async () => {}, // The skip is already requested.
      },
      world,
    ));
  const newer = tag.slice(1) === withoutContents ? shapesOfEvent : [];
  const ofEvent = await Promise.all(newer.map(async (shape) => ({ ...shape, subject: await subjectOf(shape, world) })));
  await end([founder]);
  // An earlier version refuses a later schema, so a downgrade restores the backup.
  const backup = await createDatabase(database.url);
  closing.push(() => backup.drop());
  const subjects = (some: readonly { subject: Subject }[]) => some.map(({ subject }) => subject);
  const all = (subjects: Subject[], act: (subject: Subject) => Promise<unknown>) => Promise.all(subjects.map(act));

  it('chains continue with both workers, and with the current worker alone', async () => {
    const [earlierApi, earlierWorker] = await startBoth(database.url, earlierDist);
    await all([...beside, ...without], (subject) => subject.begin());
    await end([earlierApi]);
    const current = await startBoth(database.url);
    await all(beside, (subject) => subject.finish());
    await end([earlierWorker]);
    await all(without, (subject) => subject.finish());
    await all(beyond ? [...back, beyond] : back, (subject) => subject.begin());
    await all(subjects(ofEvent), (subject) => subject.begin());
    await end(current);
  });

  it('a downgrade continues all chains that the earlier version can replay; all other chains wait, and say why', async () => {
    const earlierBoth = await startBoth(backup.url, earlierDist);
    await all(back, (subject) => subject.finish());
    await Promise.all(ofEvent.map(({ meet, subject }) => meet(subject)));
    await all(subjects(ofEvent), (subject) => subject.isOutdated());
    if (touched && beyond) {
      await beyond.workflow().signal('skip', [touched.states.length - 1]);
      await eventually('a failed workflow task', async () => {
        const { events } = await beyond.workflow().fetchHistory();
        return events?.some(isUnreplayable) || new Unmet(events?.at(-1));
      });
      const { status, raw } = await beyond.workflow().describe();
      assert.deepEqual([status.name, (raw.pendingWorkflowTask?.attempt ?? 0) > 1], ['RUNNING', true]);
      await beyond.readWithoutWorker();
    }
    await end(earlierBoth);

    const current = await startBoth(database.url);
    await beyond?.finish();
    await all(subjects(ofEvent), (subject) => subject.finish());
    await eventually('everything to be closed', async () => {
      const query = `TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`;
      const open = [];
      for await (const { workflowId } of world.client.workflow.list({ query })) open.push(workflowId);
      return open.length === 0 ? true : new Unmet(open);
    });
    await end(current);
    await replayAll(world.client, taskQueue, undefined);
    const stuck = [];
    for await (const { workflowId, runId } of world.client.workflow.list({ query: `TaskQueue = '${taskQueue}'` })) {
      const { events } = await world.client.workflow.getHandle(workflowId, runId).fetchHistory();
      if (events?.some(isUnreplayable)) stuck.push(workflowId);
    }
    assert.deepEqual(stuck, beyond ? [beyond.workflow().workflowId] : [], 'no other chain has ever waited for another version');
  });

  it('npm start continues with the data directory of the release, and with its keys', async () => {
    const { directory, ports, start: startAll } = await sandbox();
    const env = { TEMPORAL_ADDRESS: address, RELAY_TASK_QUEUE: randomUUID() };
    const file = (name: string) => join(directory, 'data', name);
    const before = startAll(env, earlierDist);
    await before.says('Ctrl-C');
    const call = callsTo(`http://127.0.0.1:${ports.PORT}`, readFileSync(file('admin-token'), 'utf8').trim());
    const ticketing = { kind: 'http', baseUrl: `http://127.0.0.1:${ports.RELAY_SANDBOX_PORT}` };
    await call('PUT', '/admin/companies/acme', { name: 'Acme', notify: { emails: ['ada@acme.example'] }, ticketing });
    const { relayId, relayAccessToken } = await call('POST', '/admin/companies/acme/rules', { name: 'Rule' });
    const { chainId } = await call('POST', '/co/acme/relay', [{ relayId, relayAccessToken, ...udf('T', later) }]);
    assert.equal(await before.end('SIGTERM'), 0);
    const keys = () => readFileSync(file('secret'), 'utf8') + readFileSync(file('encryption-keys'), 'utf8');
    const made = keys();
    for (const turn of ['first', 'second']) {
      const now = startAll(env);
      await now.says('Ctrl-C');
      for (const name of ['secret', 'encryption-keys']) assert.equal(statSync(file(name)).mode & 0o777, 0o600);
      assert.equal(keys(), made);
      assert.equal((await call('GET', '/admin/companies/acme')).notify.emails[0], 'ada@acme.example');
      if (turn === 'second') await call('POST', '/co/acme/relay', [{ relayId, relayAccessToken, ...udf('T') }]);
      if (turn === 'second') await call('POST', `/co/acme/chains/${chainId}/actions/0/runNow`, {});
      await eventually('the chain', async () => {
        const { actions } = await call('GET', `/co/acme/chains/${chainId}`);
        return actions[0].state === (turn === 'second' ? 'done' : 'scheduled') ? true : new Unmet(actions);
      });
      assert.equal(await now.end('SIGTERM'), 0);
    }
  });
}
