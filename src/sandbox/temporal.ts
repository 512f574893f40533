/**
 * The Temporal dev server of an all-in-one relay: a process of its own, with its database in the data directory. A relay that
 * is killed leaves its server running; the next one finds it by its pid file and takes it over.
 */

import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { z } from 'zod';
import { StartError } from '../service/config.js';
import { assertPortFree, authority, freePort } from '../service/server.js';
import { commandLine, endProcess, isRunning, lastLineOf, startOf } from './processes.js';
import { findTemporal, withoutTemporal } from './temporal-binary.js';

interface TemporalOptions {
  /** A directory that this process alone uses. */
  dataDir: string;
  host: string;
  /** 0 takes any free one, as with `uiPort`. */
  port: number;
  uiPort: number;
  namespace: string;
  /** Gets a line on what is going on while it takes long. */
  say: (line: string) => void;
  /** Ends the search, a download, a build or the wait for the server, and leaves nothing running. */
  signal?: AbortSignal;
}

export interface TemporalServer {
  /** `host:port` for a client on this machine. */
  address: string;
  uiUrl: string;
  /** An earlier relay started it and was killed. */
  adopted: boolean;
  /** Ends the server, adopted or not. */
  stop(): Promise<void>;
}

const runSchema = z.object({
  pid: z.number(),
  start: z.string(),
  host: z.string(),
  port: z.number(),
  uiPort: z.number(),
  namespace: z.string(),
});
type Run = z.infer<typeof runSchema>;

/** A first start makes the schema; on a busy machine that takes a while. */
const startMs = 60_000;
const adoptMs = 20_000;

interface Files {
  database: string;
  /** Which process serves the database. */
  pid: string;
  log: string;
}

/** @throws StartError when a port is taken, no program can be had, or the server does not come up */
export async function startTemporal(options: TemporalOptions): Promise<TemporalServer> {
  const { host, namespace, say, signal } = options;
  const inData = (name: string) => join(realpathSync(options.dataDir), name);
  const files = { database: inData('temporal.db'), pid: inData('temporal.pid'), log: inData('temporal.log') };

  const left = leftBehind(files);
  if (left !== undefined) {
    if (serves(left, options) && (await untilReady(left, adoptMs, signal))) return server(left, files, true);
    // Two servers on one database would spoil it.
    say('ending the Temporal server that an earlier run left behind');
    await endProcess(left);
    signal?.throwIfAborted();
  }

  const port = options.port || (await freePort(host));
  const uiPort = options.uiPort || (await freePort(host));
  await assertPortFree(host, port, 'RELAY_TEMPORAL_PORT');
  await assertPortFree(host, uiPort, 'RELAY_TEMPORAL_UI_PORT');
  const program = await findTemporal({ dataDir: options.dataDir, say, signal });
  signal?.throwIfAborted();

  const run = launch(program, { host, port, uiPort, namespace }, files);
  if (await untilReady(run, startMs, signal)) return server(run, files, false);
  const ended = !isRunning(run);
  await server(run, files, false).stop();
  signal?.throwIfAborted();
  const why = ended ? lastLineOf(readFileSync(files.log, 'utf8')) : `no answer within ${startMs / 1000} s`;
  throw new StartError(`the Temporal server did not start (${why}): see ${files.log}`);
}

/** The server of an earlier run, if it lives and is on this database. */
function leftBehind(files: Files): Run | undefined {
  try {
    const run = runSchema.parse(JSON.parse(readFileSync(files.pid, 'utf8')));
    const command = commandLine(run.pid);
    return isRunning(run) && command.includes('start-dev') && command.includes(files.database) ? run : undefined;
  } catch {
    return undefined;
  }
}

function serves(run: Run, { host, port, uiPort, namespace }: TemporalOptions): boolean {
  return run.host === host && run.namespace === namespace && [run.port, 0].includes(port) && [run.uiPort, 0].includes(uiPort);
}

/** Starts the server in a process group of its own, so that a Ctrl-C does not take it before its workers. */
function launch(program: string, at: { host: string; port: number; uiPort: number; namespace: string }, files: Files): Run {
  const settings = [
    ...['--ip', at.host, '--port', `${at.port}`, '--ui-port', `${at.uiPort}`, '--namespace', at.namespace],
    ...['--db-filename', files.database, '--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=1'],
    ...['--dynamic-config-value', 'matching.enableFairness=true'],
    // It asks the maker's host for news of later versions.
    ...['--dynamic-config-value', 'frontend.enableServerVersionCheck=false'],
    ...['--log-level', 'warn', '--color', 'never'],
  ];
  if (existsSync(files.log)) renameSync(files.log, `${files.log}.old`);
  const log = openSync(files.log, 'w', 0o600);
  const child = spawn(program, ['server', 'start-dev', ...settings], {
    detached: true,
    stdio: ['ignore', log, log],
    env: withoutTemporal(process.env),
  });
  closeSync(log);
  child.on('error', () => {});
  child.unref();
  const run = { ...at, pid: child.pid ?? -1, start: startOf(child.pid ?? -1) ?? '' };
  writeFileSync(files.pid, JSON.stringify(run), { mode: 0o600 });
  return run;
}

/** Whether it answers within `ms` milliseconds; false at once when its process ends or `signal` aborts. */
async function untilReady(run: Run, ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  const connection = Connection.lazy({
    address: authority(run.host, run.port),
    // A proxy from the environment is not for this machine's own ports.
    channelArgs: { 'grpc.enable_http_proxy': 0, 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 500 },
  });
  const { namespace } = run;
  const answers = () =>
    connection.withDeadline(Date.now() + 2000, () => connection.workflowService.describeNamespace({ namespace }));
  try {
    for (const deadline = Date.now() + ms; Date.now() < deadline && isRunning(run) && !signal?.aborted; await sleep(100)) {
      const ready = await answers().then(
        () => true,
        () => false,
      );
      if (ready) return !signal?.aborted;
    }
    return false;
  } finally {
    await connection.close();
  }
}

function server(run: Run, files: Files, adopted: boolean): TemporalServer {
  return {
    address: authority(run.host, run.port),
    uiUrl: `http://${authority(run.host, run.uiPort)}`,
    adopted,
    async stop() {
      await endProcess(run);
      rmSync(files.pid, { force: true });
    },
  };
}
