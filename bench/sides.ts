/**
 * The two sides of the bench as processes: the relay as users start it, and Temporal without the relay. Each row restarts both
 * sides.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, cpSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import pg from 'pg';
import { freePort } from '../src/service/server.js';

/** `clear`: the relay without encryption at rest. `before`: another checkout of the relay. `lists`: the relay without events. */
export type SideName = 'relay' | 'bare' | 'clear' | 'before' | 'lists';

export interface Surroundings {
  /** The folder for logs and data. */
  directory: string;
  temporalAddress: string;
  connection: Connection;
  platformUrl: string;
  smtpUrl: string;
  /** The file with the bundled workflows of the bare side. */
  bareBundle: string;
  /** The URL of PostgreSQL for the relay. If unset, the relay uses PGlite. */
  databaseUrl?: string;
  /** The checkout for the side `before`. */
  before?: string;
  /** Runs API and worker as two processes. */
  separate: boolean;
}

export interface Side {
  name: SideName;
  /** The base URL: chains are POSTed to `/co/{companyId}/relay` below it. */
  url: string;
  /** The name of the task queue, of its namespace and of the database. Each start has its own, so it finds no earlier chains. */
  taskQueue: string;
  databaseUrl: string; // empty for PGlite
  pids: number[];
  stop(): Promise<void>;
}

/** Each of the two companies of the relay has a rule with this id and token. The bare side ignores them. */
export const rule = { relayId: '1', relayAccessToken: 'token-of-the-bench' };

/** The rule for events. Its contents make the same three sends from an event as the other rows POST in a list. */
export const eventRule = { ...rule, relayId: '2' };
const contents = {
  actions: [0, 1, 2].map((place) => ({
    action: 'platform_sendAssignment',
    platformAssignmentId: `\${event.ids[${place}]}`,
    groupId: '501',
  })),
};

export const adminToken = randomBytes(24).toString('hex');
/** The relay's keys, to read the memos of its workflows. */
export const encryptionKeys = `1:${randomBytes(32).toString('base64')}`;
const secrets = {
  RELAY_ENCRYPTION_KEYS: encryptionKeys,
  RELAY_SECRET: randomBytes(32).toString('hex'),
};

/** @param withEvents - creates the rule with contents, too. Otherwise both sides have the same company and rule. */
export async function startSide(name: SideName, at: Surroundings, withEvents = false): Promise<Side> {
  const port = await freePort('127.0.0.1');
  const url = `http://127.0.0.1:${port}`;
  const taskQueue = `bench-${name}-${randomBytes(6).toString('hex')}`;
  const workflowExecutionRetentionPeriod = msToTs('1 day');
  await at.connection.workflowService.registerNamespace({ namespace: taskQueue, workflowExecutionRetentionPeriod });
  const databaseUrl = at.databaseUrl === undefined ? '' : await databaseFor(taskQueue, at.databaseUrl);
  const [dataDir, made] = [taskQueue, name === 'before' ? name : 'relay'].map((folder) => join(at.directory, folder)) as [
    string,
    string,
  ];
  if (existsSync(made)) cpSync(made, dataDir, { recursive: true });
  const variables: Record<string, string> = {
    PORT: `${port}`,
    TEMPORAL_ADDRESS: at.temporalAddress,
    TEMPORAL_NAMESPACE: taskQueue,
    SMTP_URL: at.smtpUrl,
    // For the bare side only.
    PLATFORM_URL: at.platformUrl,
    TASK_QUEUE: taskQueue,
    WORKFLOW_BUNDLE: at.bareBundle,
    // For the relay only: the limits are so high that a bench never reaches them.
    RELAY_TASK_QUEUE: taskQueue,
    RELAY_DATA_DIR: dataDir,
    RELAY_SANDBOX_PORT: `${await freePort('127.0.0.1')}`,
    RELAY_ADMIN_TOKEN: adminToken,
    RELAY_RATE_LIMIT_PER_MINUTE: '1000000',
    RELAY_ACTIONS_PER_DAY: '1000000000',
    RELAY_RECIPIENTS_PER_DAY: '1000000000',
    RELAY_OPEN_CHAINS: '1000000000',
    RELAY_ALLOW_PRIVATE_NETWORKS: 'true',
    DATABASE_URL: databaseUrl,
    RELAY_ALLOW_PLAIN_STORAGE: 'true',
    ...(name !== 'bare' && name !== 'clear' && secrets),
  };
  const processes = commandsOf(name, at.separate).map(([script, ...args], index) => {
    const log = join(at.directory, `${taskQueue}-${index}.log`);
    const output = openSync(log, 'w');
    const build = name === 'before' ? join(at.before ?? '', 'dist') : fileURLToPath(new URL('..', import.meta.url));
    const path = join(build, script ?? '');
    const child = spawn(process.execPath, ['--enable-source-maps', path, ...args], {
      env: { ...process.env, ...variables },
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    return { child, log };
  });
  const stop = async () => void (await Promise.all(processes.map(({ child }) => end(child))));
  try {
    await untilReady(url, processes);
    if (name !== 'bare') for (const company of ['bench', 'neighbour']) await setUp(url, company, at.platformUrl, withEvents);
  } catch (error) {
    await stop();
    throw error;
  }
  return { name, url, taskQueue, databaseUrl, pids: processes.flatMap(({ child }) => child.pid ?? []), stop };
}

/** Creates a database in the server of this URL. @returns its URL */
async function databaseFor(name: string, serverUrl: string): Promise<string> {
  const server = new pg.Client({ connectionString: serverUrl });
  await server.connect();
  await server.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
  await server.end();
  return new URL(`/${name}`, serverUrl).href;
}

/** Scripts below `dist/` with their arguments. */
function commandsOf(name: SideName, separate: boolean): string[][] {
  if (name !== 'bare') return separate ? [['src/api/main.js'], ['src/worker/main.js']] : [['src/sandbox/start.js']];
  return (separate ? [['api'], ['worker']] : [['api', 'worker']]).map((roles) => ['bench/bare/main.js', ...roles]);
}

async function untilReady(url: string, processes: { child: ChildProcess; log: string }[]): Promise<void> {
  for (const deadline = Date.now() + 120_000; ; await sleep(100)) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    const failed = processes.find(({ child }) => child.exitCode !== null) ?? (Date.now() > deadline ? processes[0] : undefined);
    if (failed) throw new Error(`a process did not start; it said: ${readFileSync(failed.log, 'utf8').trim().slice(-2000)}`);
  }
}

/** Creates a company and its rule if they do not exist yet. */
async function setUp(url: string, company: string, platformUrl: string, withEvents: boolean): Promise<void> {
  const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
  const ask = async (method: string, path: string, body: unknown) => {
    const answer = await fetch(`${url}/admin/companies/${path}`, { method, headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok && answer.status !== 409) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`);
  };
  const platform = { kind: 'http', baseUrl: platformUrl };
  await ask('PUT', company, { name: company, notify: { emails: ['admin@bench.example'] }, platform });
  await ask('POST', `${company}/rules`, { name: 'Bench', ...rule });
  if (!withEvents) return;
  await ask('POST', `${company}/rules`, { name: 'Bench of events', ...eventRule });
  await ask('PUT', `${company}/rules/2/draft`, { revision: 0, contents }); // 409 if an earlier row saved the draft
  await ask('POST', `${company}/rules/2/publish`, { revision: 1 });
}

/** Sends SIGTERM, then SIGKILL after ten seconds. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await closed;
  clearTimeout(timer);
}
