/**
 * A production-like deployment on this machine: PostgreSQL, the Temporal server, two API processes and two workers. It does not
 * include the ledger. A `Wire` connects two processes. The clock of each process can be set.
 */

import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { withDescendants } from '../../bench/processes.js';
import { Keyring } from '../../src/contract/encryption.js';
import { startTemporal } from '../../src/sandbox/temporal.js';
import { dataConverterOf } from '../../src/service/payloads.js';
import { assertPortFree, freePort } from '../../src/service/server.js';
import { eventually, Unmet } from '../end-to-end/stack.js';
import { PostgresqlServer } from '../postgresql.js';
import type { Entry } from './ledger.js';
import { startWire, type Wire } from './wire.js';

export const names = ['api1', 'api2', 'worker1', 'worker2', 'temporal', 'postgresql'] as const;
export type Name = (typeof names)[number];

/** A process of the deployment, with its child processes. */
export interface Part {
  pids(): number[];
  start(): Promise<void>;
  /** Sends the signal, and waits until the process has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
  log(): string;
}

export type World = Awaited<ReturnType<typeof startWorld>>;

interface Options {
  /** Uses Temporal's full server on PostgreSQL, which is built first; otherwise the dev server. */
  fullServer: boolean;
  say: (line: string) => void;
  /** More variables for the relay's processes. */
  env?: Record<string, string>;
}

const faketime = execFileSync('sh', ['-c', 'find /usr/lib -name libfaketimeMT.so.1 | head -1'], { encoding: 'utf8' }).trim();
const root = fileURLToPath(new URL('../../../', import.meta.url));

export async function startWorld(options: Options) {
  const closing: (() => unknown)[] = [];
  const close = async () => {
    for (let end = closing.pop(); end; end = closing.pop()) await end();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close().finally(() => process.exit(130)));
  try {
    return { ...(await build(options, closing)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function build({ fullServer, say, env: more = {} }: Options, closing: (() => unknown)[]) {
  const directory = mkdtempSync(join(tmpdir(), 'relay-faults-'));
  chmodSync(directory, 0o755); // PostgreSQL runs as another user.
  closing.push(() => rmSync(directory, { recursive: true, force: true }));
  const keptLogs = mkdtempSync(join(tmpdir(), 'relay-faults-logs-'));
  say(`logs: ${keptLogs}`);

  /** The folder for databases. If it is a separate file system, nothing else is affected when it is full. */
  const disk = join(directory, 'disk');
  mkdirSync(disk);
  const isMounted = mountMemory(disk);
  if (isMounted) closing.push(() => execFileSync('umount', ['--lazy', disk]));

  /** The environment of a process with a settable clock, and the function that sets it. */
  function clock(name: Name) {
    const file = join(directory, `clock-${name}`);
    const set = (seconds: number) => writeFileSync(file, seconds < 0 ? `${seconds}` : `+${seconds}`);
    set(0);
    const env: Record<string, string> = faketime
      ? {
          LD_PRELOAD: faketime,
          FAKETIME_TIMESTAMP_FILE: file,
          FAKETIME_CACHE_DURATION: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
          DONT_FAKE_MONOTONIC: '1',
          NO_FAKE_STAT: '1',
        }
      : {};
    return { set, env };
  }
  const clocks = Object.fromEntries(names.map((name) => [name, clock(name)])) as Record<Name, ReturnType<typeof clock>>;

  const ledger = await startLedger(closing);
  const postgresql = new PostgresqlServer(join(disk, 'postgresql'), await freePort('127.0.0.1'), clocks.postgresql.env);
  const parts: Partial<Record<Name, Part>> = { postgresql };
  await postgresql.start();
  closing.push(() => postgresql.end('SIGKILL'));
  const temporalPort = await temporalsPort();
  parts.temporal = fullServer
    ? await fullTemporal(temporalPort, postgresql.port, join(keptLogs, 'temporal'))
    : // The file is not on the disk that becomes full, because SQLite would not recover from a full disk.
      await devTemporal(temporalPort, mkdtempSync(join(directory, 'temporal-')), say);
  say(`starting Temporal${fullServer ? ' on PostgreSQL' : ' (dev server)'}`);
  await parts.temporal.start();
  closing.push(() => parts.temporal?.end('SIGKILL'));

  const wires: Record<'database' | 'temporal' | 'platform' | 'mail', Wire> = {
    database: await startWire('127.0.0.1', postgresql.port),
    temporal: await startWire('127.0.0.1', temporalPort),
    platform: await startWire('127.0.0.1', ledger.http),
    mail: await startWire('127.0.0.1', ledger.smtp),
  };
  closing.push(() => Object.values(wires).map((wire) => wire.close()));

  await postgresql.query('CREATE DATABASE relay');
  const keys = `faults:${randomBytes(32).toString('base64')}`;
  const adminToken = randomUUID();
  const taskQueue = `faults-${randomUUID()}`;
  const relay = async (name: Name, main: 'api' | 'worker', older?: string): Promise<Part & { url: string }> => {
    const port = String(await freePort('127.0.0.1'));
    const url = `http://127.0.0.1:${port}`;
    const env = {
      ...clocks[name].env,
      DATABASE_URL: `postgres://postgres@127.0.0.1:${wires.database.port}/relay`,
      TEMPORAL_ADDRESS: `127.0.0.1:${wires.temporal.port}`,
      SMTP_URL: `smtp://127.0.0.1:${wires.mail.port}`,
      RELAY_TASK_QUEUE: taskQueue,
      RELAY_ADMIN_TOKEN: adminToken,
      RELAY_ENCRYPTION_KEYS: keys,
      RELAY_SECRET: adminToken,
      RELAY_ALLOW_PRIVATE_NETWORKS: 'true',
      RELAY_RATE_LIMIT_PER_MINUTE: '1000000',
      RELAY_READS_PER_MINUTE: '1000000',
      RELAY_STEERING_PER_MINUTE: '1000000',
      RELAY_NOTICE_DIGEST_SECONDS: '20',
      ...(main === 'api' ? { PORT: port } : { RELAY_METRICS_PORT: port }),
      ...more,
    };
    const args = ['--enable-source-maps', join(older ?? join(root, 'dist'), 'src', main, 'main.js')];
    const log = join(keptLogs, older ? `${name}-older` : name);
    const ready = async () => (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(1000) })).ok;
    return { ...processPart({ name, file: process.execPath, args, env, log, ready }), url };
  };
  const [api1, api2] = [await relay('api1', 'api'), await relay('api2', 'api')];
  const [worker1, worker2] = [await relay('worker1', 'worker'), await relay('worker2', 'worker')];
  const ours = { api1, api2, worker1, worker2 };
  for (const part of Object.values(ours)) {
    await part.start();
    closing.push(() => part.end('SIGKILL'));
  }
  // A configuration for `prometheus --config.file`. dashboard.ts draws the data that this Prometheus collects.
  const targets = Object.values(ours).map(({ url }) => new URL(url).host);
  const scrape = { job_name: 'relay', scrape_interval: '5s', static_configs: [{ targets }] };
  writeFileSync(join(keptLogs, 'prometheus.yml'), JSON.stringify({ scrape_configs: [scrape] }));
  for (const { url } of Object.values(ours))
    await eventually(`${url} to be ready`, async () => {
      const answer = await fetch(`${url}/readyz`);
      return answer.ok || new Unmet(await answer.text());
    });

  const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
  /** Repeats the request, each time to a random one of the two APIs, until one answers. So it must be safe to repeat. */
  const ask = async (method: string, path: string, body?: unknown) => {
    for (;;) {
      const { url } = Math.random() < 0.5 ? api1 : api2;
      const request = { method, headers, body: JSON.stringify(body), signal: AbortSignal.timeout(15_000) };
      try {
        const answer = await fetch(url + path, request);
        const text = await answer.text();
        if (answer.status < 500 && answer.status !== 429) return { status: answer.status, body: JSON.parse(text || '{}') };
      } catch {
        // This API is down.
      }
      await sleep(1000);
    }
  };
  const system = { kind: 'http', baseUrl: `http://127.0.0.1:${wires.platform.port}` };
  const company = { name: 'Faults', notify: { emails: ['contact@faults.example'] }, platform: system, ticketing: system };
  await ask('PUT', '/admin/companies/faults', company);
  const rules: Record<string, { relayId: string; relayAccessToken: string }> = {};
  for (const onFailure of ['hold', 'continue'])
    rules[onFailure] = (await ask('POST', '/admin/companies/faults/rules', { name: onFailure, onFailure })).body;

  const keyring = new Keyring(keys);
  const connection = await Connection.connect({ address: `127.0.0.1:${temporalPort}` });
  closing.push(() => connection.close());
  return {
    parts: { ...ours, temporal: parts.temporal, postgresql } satisfies Record<Name, Part>,
    urls: Object.fromEntries(Object.entries(ours).map(([name, { url }]) => [name, url])) as Record<keyof typeof ours, string>,
    wires,
    clocks,
    /** The reason why the clocks cannot be set, or why the disk cannot be filled. */
    missing: {
      clocks: faketime ? undefined : 'libfaketime is not installed (Debian: apt-get install faketime)',
      disk: isMounted ? undefined : 'a file system cannot be mounted here: it needs root',
    },
    disk,
    postgresql,
    ledger,
    rules,
    ask,
    relay,
    client: new Client({ connection, dataConverter: dataConverterOf(keyring) }),
    keyring,
    taskQueue,
  };
}

function mountMemory(directory: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4g,mode=755', 'relay-faults', directory], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function startLedger(closing: (() => unknown)[]) {
  const child = fork(fileURLToPath(new URL('ledger.js', import.meta.url)));
  closing.push(() => child.disconnect());
  const [{ http, smtp }] = (await once(child, 'message')) as [Record<'http' | 'smtp', number>];
  const url = `http://127.0.0.1:${http}`;
  return {
    http,
    smtp,
    entries: async (): Promise<Entry[]> => JSON.parse(await (await fetch(`${url}/ledger`)).text()),
    breakMail: (breaks: boolean) => fetch(`${url}/mail`, { method: 'PUT', body: JSON.stringify({ breaks }) }),
  };
}

interface Command {
  name: string;
  file: string;
  args: string[];
  env: Record<string, string>;
  log: string;
  ready: () => Promise<boolean>;
}

export function processPart({ name, file, args, env, log, ready }: Command): Part {
  let child: ChildProcess | undefined;
  return {
    pids: () => (child?.pid === undefined ? [] : withDescendants([child.pid])),
    async start() {
      appendFileSync(log, `--- started ${new Date().toISOString()}\n`);
      const output = openSync(log, 'a');
      child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', output, output] });
      closeSync(output);
      const started = child;
      await eventually(`${name} to start`, async () => {
        if (started.exitCode !== null) throw new Error(`${name} ended with ${started.exitCode}: see ${log}`);
        return (await ready().catch(() => false)) || new Unmet(`see ${log}`);
      });
    },
    async end(signal) {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
    log: () => (existsSync(log) ? readFileSync(log, 'utf8') : ''),
  };
}

/** A port for the full server, which also uses the next nine. All are below 32768, because it stores ports as signed 16 bits. */
async function temporalsPort(): Promise<number> {
  const port = 20_000 + 10 * Math.floor(Math.random() * 1200);
  return assertPortFree('127.0.0.1', port, 'PORT').then(() => port, temporalsPort);
}

/** Whether the Temporal server answers a request about its namespace. */
async function temporalReady(port: number): Promise<boolean> {
  const connection = await Connection.connect({ address: `127.0.0.1:${port}`, connectTimeout: 2000 });
  try {
    await connection.withDeadline(Date.now() + 2000, () =>
      connection.workflowService.describeNamespace({ namespace: 'default' }),
    );
    return true;
  } finally {
    await connection.close();
  }
}

async function fullTemporal(port: number, postgresPort: number, log: string): Promise<Part> {
  const env = { PGHOST: '127.0.0.1', PGPORT: String(postgresPort), PGUSER: 'postgres', PGPASSWORD: 'none' };
  const script = join(root, 'bench/temporal-postgresql.sh');
  const part = (...more: string[]) =>
    processPart({ name: 'temporal', file: script, args: [String(port), ...more], env, log, ready: () => temporalReady(port) });
  let running = part();
  let starts = 0;
  return {
    pids: () => running.pids(),
    async start() {
      if (starts > 0) running = part('again');
      starts += 1;
      await running.start();
    },
    end: (signal) => running.end(signal),
    log: () => running.log(),
  };
}

async function devTemporal(port: number, dataDir: string, say: (line: string) => void): Promise<Part> {
  const pid = (): number | undefined => {
    const file = join(dataDir, 'temporal.pid');
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).pid : undefined;
  };
  return {
    pids: () => [pid() ?? []].flat(),
    async start() {
      await startTemporal({ dataDir, host: '127.0.0.1', port, uiPort: 0, namespace: 'default', say });
    },
    async end(signal) {
      const running = pid();
      if (running === undefined) return;
      process.kill(running, signal);
      await eventually('the dev server to end', async () => !existsSync(`/proc/${running}`) || new Unmet(running));
    },
    log: () => readFileSync(join(dataDir, 'temporal.log'), 'utf8'),
  };
}
