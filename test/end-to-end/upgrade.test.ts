/**
 * Upgrades: chains that the worker of an earlier commit began go on beside the current one and without it. Going back: what the
 * current one began goes on with the earlier, but for a chain that this cannot replay: that waits, and shows why, until the
 * current one is back.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { Rule } from '../../src/contract/rule.js';
import { startMailCatcher } from '../../src/sandbox/mail/catcher.js';
import { startPlatform } from '../../src/sandbox/platform/platform.js';
import { freePort } from '../../src/service/server.js';
import { createDatabase } from '../store/databases.js';
import { buildEarlier } from './earlier.js';
import { type Process, startProcess } from './process.js';
import { resetToFirst } from './resets.js';
import { type Action, type Call, companyAt, email, eventually, replayAll, send, Unmet, udf } from './stack.js';

/**
 * Once there are releases: the last one. This is the last commit before payloads are encrypted and large e-mails are in a history
 * once. It sends an e-mail of more than 1 MB in batches, with which the current one cannot go on; nothing else was released then.
 */
const earlier = '3d108ad227508c36d45f2566dad6396f1ce53322';
const root = fileURLToPath(new URL('../../../', import.meta.url));

function reasonToSkip(): string | false {
  if (process.env.RELAY_TEST_DATABASE_URL === undefined) return 'PostgreSQL is not installed';
  try {
    execFileSync('git', ['-C', root, 'cat-file', '-e', `${earlier}^{commit}`], { stdio: 'ignore' });
    return false;
  } catch {
    return `commit ${earlier} is not here: in a shallow clone, run git fetch --unshallow`;
  }
}

const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

interface Shape {
  name: string;
  rule?: Partial<Rule>;
  /** From before any worker runs: one that runs hears of a pause some time later. */
  isPaused?: boolean;
  /** What goes wrong while the chain begins. */
  trouble?(subject: Subject): Promise<unknown>;
  actions: Action[];
  /** Waits until it is where another version goes on with it. */
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

/** With which the earlier worker cannot go on: it would have sent the e-mail in batches. */
const touched: Shape = {
  name: 'touched',
  actions: [
    email(
      ['a', 'b', 'c', 'd'].map((name) => `${name}@x.example`),
      { body: 'x'.repeat(100_000) },
    ),
    send(unknown, group),
  ],
  until: (s) => s.is(1, 'needs-attention'),
  // It has been told to skip already.
  finish: async () => {},
  states: ['done', 'skipped'],
};

interface World {
  api: string;
  adminToken: string;
  mailUrl: string;
  client: Client;
}
type Subject = Awaited<ReturnType<typeof subjectOf>>;

const json = { 'content-type': 'application/json' };
const ask = (method: string, url: string, body?: unknown, headers = {}) =>
  fetch(url, { method, headers: { ...json, ...headers }, ...(body !== undefined && { body: JSON.stringify(body) }) });

/** A company with a rule and a platform of its own, and a chain of that shape. */
async function subjectOf(shape: Shape, { api, adminToken, mailUrl, client }: World) {
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
    read: () => at.read(chainId),
    async steer(verb: string, index?: number) {
      const response = await at.steer(chainId, verb, index);
      assert.equal(response.status, 202, `${shape.name}: ${await response.text()}`);
    },
    async begin() {
      await shape.trouble?.(this);
      ({ chainId, workflowId } = await at.start(shape.actions));
      try {
        await shape.until(this);
      } catch (error) {
        const { pendingActivities, pendingWorkflowTask } = (await this.workflow().describe()).raw;
        throw new Error(`${shape.name} waits for ${JSON.stringify({ pendingActivities, pendingWorkflowTask })}`, {
          cause: error,
        });
      }
    },
    /** Brings it to its end, which must be that of its shape. */
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

/** To the first workflow task of the chain; waits until it waits for the delayed action that was armed before. */
async function reset({ client, workflow }: Subject): Promise<void> {
  await resetToFirst(client, workflow().workflowId);
  await eventually('the reset chain to wait for its delayed action', async () => {
    const { raw } = await workflow().describe();
    return raw.pendingActivities?.some(({ activityType }) => activityType?.name === 'awaitDelayed') || new Unmet(raw);
  });
}

/** Whether it is a failed workflow task, as whoever looks at the chain sees it. */
function isUnreplayable({ workflowTaskFailedEventAttributes: failed }: proto.temporal.api.history.v1.IHistoryEvent): boolean {
  return failed?.cause === proto.temporal.api.enums.v1.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR;
}

const skip = reasonToSkip();

describe('an upgrade', { skip }, async () => {
  if (skip) return;
  const earlierBuild = buildEarlier(earlier);
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
  };

  async function start(main: 'api' | 'worker', databaseUrl: string, dist?: string): Promise<Process> {
    const env = {
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: address,
      RELAY_TASK_QUEUE: taskQueue,
      RELAY_ALLOW_PRIVATE_NETWORKS: 'true',
      RELAY_ADMIN_TOKEN: world.adminToken,
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
  const beyond = await subjectOf(touched, world);
  await end([founder]);
  // An earlier version refuses the schema of a later one: who goes back restores the backup.
  const backup = await createDatabase(database.url);
  closing.push(() => backup.drop());
  const all = (subjects: Subject[], act: (subject: Subject) => Promise<unknown>) => Promise.all(subjects.map(act));

  it('chains go on beside the current worker, and without the earlier one', async () => {
    const [earlierApi, earlierWorker] = await startBoth(database.url, earlierDist);
    await all([...beside, ...without], (subject) => subject.begin());
    await end([earlierApi]);
    const current = await startBoth(database.url);
    await all(beside, (subject) => subject.finish());
    await end([earlierWorker]);
    await all(without, (subject) => subject.finish());
    await all([...back, beyond], (subject) => subject.begin());
    await end(current);
  });

  it('who goes back goes on with all chains but those that the earlier version cannot replay: these wait, and say why', async () => {
    const earlierBoth = await startBoth(backup.url, earlierDist);
    await all(back, (subject) => subject.finish());
    await beyond.workflow().signal('skip', [1]);
    await eventually('a failed workflow task', async () => {
      const { events } = await beyond.workflow().fetchHistory();
      return events?.some(isUnreplayable) || new Unmet(events?.at(-1));
    });
    const { status, raw } = await beyond.workflow().describe();
    assert.deepEqual([status.name, (raw.pendingWorkflowTask?.attempt ?? 0) > 1], ['RUNNING', true]);
    assert.equal((await beyond.read()).partial, true);
    await end(earlierBoth);

    const current = await startBoth(database.url);
    await beyond.finish();
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
    assert.deepEqual(stuck, [beyond.workflow().workflowId], 'no other chain has ever waited for another version');
  });
});
