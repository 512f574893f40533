/**
 * The Temporal dev server of an all-in-one relay: a separate process with its database in the data directory. If the relay is
 * killed, the server keeps running, and the next relay finds the server by its pid file.
 */

import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { z } from 'zod';
import { StartError } from '../service/config.js';
import { assertPortFree, authority, freePort } from '../service/server.js';
import { reasonOf } from '../service/temporal.js';
import { commandLine, endProcess, isRunning, lastLineOf, startOf } from './processes.js';
import { findTemporal, type Search, withoutTemporal } from './temporal-binary.js';

const atSchema = z.object({ host: z.string(), port: z.number(), uiPort: z.number(), namespace: z.string() });
type At = z.infer<typeof atSchema>;

const runSchema = atSchema.extend({ pid: z.number(), start: z.string() });
type Run = z.infer<typeof runSchema>;

const startMs = 60_000;

/** `dynamicConfig` has more settings of the server, such as `limit.historyCount.error`. */
type Options = At & { dynamicConfig?: Record<string, number> } & Pick<Search, 'dataDir' | 'say' | 'signal'>;

/** Starts the server like `startTemporal`. If the server breaks, restarts it on the same ports. */
export async function keepTemporal(options: Options) {
  let server = await startTemporal(options);
  const stopped = new AbortController();
  const { signal } = stopped;
  const keep = async () => {
    for (let waitMs = 2_000; ; ) {
      await sleep(waitMs, undefined, { signal });
      const trouble = await troubleOf(server.run, signal);
      signal.throwIfAborted();
      if (trouble === undefined) continue;
      options.say(`the Temporal server ${trouble}: restarting it`);
      await server.stop();
      try {
        server = await startTemporal({ ...options, port: server.run.port, uiPort: server.run.uiPort, signal });
        waitMs = 2_000;
      } catch (error) {
        signal.throwIfAborted();
        waitMs = 30_000;
        options.say(`${reasonOf(error)}; next try in ${waitMs / 1000} s`);
      }
    }
  };
  const kept = keep().catch(() => {}); // ends only with `stop`
  return {
    ...server,
    async stop() {
      stopped.abort();
      await kept;
      await server.stop();
    },
  };
}

/**
 * The reason why the server is broken. Undefined if the server works, or is only slow. In the CLI before 1.9, one cancelled query
 * makes every later SQLite request fail with `interrupted`.
 * @param signal - ends the check
 */
export async function troubleOf(run: Run, signal?: AbortSignal): Promise<string | undefined> {
  if (!isRunning(run)) return 'has ended';
  const connection = connect(run);
  const given = AbortSignal.any([AbortSignal.timeout(20_000), ...(signal ? [signal] : [])]);
  try {
    // Asks for a list, because it comes from the database. A single namespace may come from memory.
    await connection.withAbortSignal(given, () => connection.workflowService.listNamespaces({ pageSize: 1 }));
    return undefined;
  } catch (error) {
    return reasonOf(error).includes('interrupted (9)') ? 'cannot read its database' : undefined;
  } finally {
    await connection.close();
  }
}

/**
 * @param options.port and `uiPort`: 0 means any free port
 * @param options.signal stops the search, download, build or wait for the server, and ends the processes of these steps
 * @throws StartError if a port is in use, no program is found, or the server does not start
 */
export async function startTemporal(options: Options) {
  const { host, namespace, say, signal } = options;
  const dataDir = realpathSync(options.dataDir);
  const left = leftBehind(dataDir);
  if (left !== undefined) {
    const serves = (['port', 'uiPort'] as const).every((name) => [left[name], 0].includes(options[name]));
    const asWanted = serves && left.host === host && left.namespace === namespace;
    if (asWanted && (await untilReady(left, 20_000, signal))) return server(left, dataDir, true);
    // Two servers with the same database would corrupt it.
    say('ending the Temporal server of an earlier run');
    await endProcess(left);
    signal?.throwIfAborted();
  }

  if (options.port !== 0) await assertPortFree(host, options.port, 'RELAY_TEMPORAL_PORT');
  if (options.uiPort !== 0) await assertPortFree(host, options.uiPort, 'RELAY_TEMPORAL_UI_PORT');
  const [port, uiPort] = [options.port || (await freePort(host)), options.uiPort || (await freePort(host))];
  const program = await findTemporal({ dataDir, say, signal });
  signal?.throwIfAborted();

  const log = join(dataDir, 'temporal.log');
  const run = launch(program, { host, port, uiPort, namespace }, dataDir, log, options);
  const started = server(run, dataDir, false);
  if (await untilReady(run, startMs, signal)) return started;
  const why = isRunning(run) ? `no answer within ${startMs / 1000} s` : lastLineOf(readFileSync(log, 'utf8'));
  await started.stop();
  signal?.throwIfAborted();
  throw new StartError(`the Temporal server did not start (${why}): see ${log}`);
}

const pidFile = (dataDir: string) => join(dataDir, 'temporal.pid');
const databaseFile = (dataDir: string) => join(dataDir, 'temporal.db');

/** Returns the server that an earlier relay started, if that server still runs and uses this database. */
function leftBehind(dataDir: string): Run | undefined {
  try {
    const run = runSchema.parse(JSON.parse(readFileSync(pidFile(dataDir), 'utf8')));
    const command = commandLine(run.pid);
    return isRunning(run) && command.includes('start-dev') && command.includes(databaseFile(dataDir)) ? run : undefined;
  } catch {
    return undefined;
  }
}

/** The server gets its own process group, because Ctrl-C must not end the server before the workers have ended. */
function launch(program: string, at: At, dataDir: string, logFile: string, { dynamicConfig = {} }: Options): Run {
  const settings = [
    ...['--ip', at.host, '--port', `${at.port}`, '--ui-port', `${at.uiPort}`, '--namespace', at.namespace],
    ...['--db-filename', databaseFile(dataDir), '--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=1'],
    ...['--dynamic-config-value', 'matching.enableFairness=true'],
    // Without this setting, the server would call a host of temporal.io to check its version.
    ...['--dynamic-config-value', 'frontend.enableServerVersionCheck=false'],
    ...Object.entries(dynamicConfig).flatMap(([name, value]) => ['--dynamic-config-value', `${name}=${value}`]),
    ...['--log-level', 'warn', '--color', 'never'],
  ];
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.old`);
  const log = openSync(logFile, 'w', 0o600);
  const env = withoutTemporal(process.env);
  const child = spawn(program, ['server', 'start-dev', ...settings], { detached: true, stdio: ['ignore', log, log], env });
  closeSync(log);
  child.on('error', () => {}).unref();
  const { pid = -1 } = child;
  const run = { ...at, pid, start: startOf(pid) ?? '' };
  writeFileSync(pidFile(dataDir), JSON.stringify(run), { mode: 0o600 });
  return run;
}

/** Whether the server answers within `ms`. Returns false immediately if the server's process ends or `signal` aborts. */
async function untilReady(run: Run, ms: number, signal?: AbortSignal): Promise<boolean> {
  const connection = connect(run);
  const ask = () =>
    connection.withDeadline(Date.now() + 2000, () => connection.workflowService.describeNamespace({ namespace: run.namespace }));
  try {
    for (const deadline = Date.now() + ms; Date.now() < deadline && isRunning(run) && !signal?.aborted; await sleep(100)) {
      const answer = await ask().catch(() => undefined);
      if (answer !== undefined) return !signal?.aborted;
    }
    return false;
  } finally {
    await connection.close();
  }
}

function connect({ host, port }: Run): Connection {
  return Connection.lazy({
    address: authority(host, port),
    // Calls to this machine must not go to a proxy from the environment.
    channelArgs: { 'grpc.enable_http_proxy': 0, 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 500 },
    interceptors: [], // The SDK's own interceptors would retry each call.
  });
}

/** @param adopted - whether an earlier relay started the server */
function server(run: Run, dataDir: string, adopted: boolean) {
  return {
    run,
    address: authority(run.host, run.port),
    uiUrl: `http://${authority(run.host, run.uiPort)}`,
    adopted,
    async stop() {
      await endProcess(run);
      rmSync(pidFile(dataDir), { force: true });
    },
  };
}
