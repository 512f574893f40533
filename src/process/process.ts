/** The life of a process, and the composition root: what the API, the worker and the all-in-one process are made of. */

import { Client, Connection } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { Links } from '../chain/chain.js';
import { createConnectors } from '../connectors/connectors.js';
import { again } from '../service/again.js';
import { type Config, StartError } from '../service/config.js';
import { dataConverterOf } from '../service/payloads.js';
import { type Log, Metrics } from '../service/telemetry.js';
import { reasonOf, type TemporalAddress } from '../service/temporal.js';
import { startTracing } from '../service/tracing.js';
import type { Database } from '../store/database.js';
import { createStore } from '../store/store.js';

/** What has been started, to be stopped last in first out. */
export class Closers {
  readonly #closers: [name: string, close: () => unknown][] = [];

  add(name: string, close: () => unknown): void {
    this.#closers.push([name, close]);
  }

  /** Stops everything; one that fails to stop does not keep the others from it. */
  async close(report: (name: string, error: unknown) => void): Promise<void> {
    for (const [name, close] of this.#closers.splice(0).reverse())
      await Promise.resolve()
        .then(close)
        .catch((error: unknown) => report(name, error));
  }
}

/**
 * Runs a process until SIGINT or SIGTERM, or until what it runs ends. Exit code: 0 when it was asked to stop, otherwise 1.
 * A StartError is said in one line, every other error with its stack.
 * @param start - starts everything; `running` settles only when something went wrong.
 */
export async function runProcess(
  start: (closers: Closers, stop: AbortSignal) => Promise<{ running: Promise<unknown> }>,
  say: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): Promise<void> {
  const closers = new Closers();
  const stop = new AbortController();
  const asked = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve()));
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (!stop.signal.aborted) say('stopping…');
      stop.abort(name);
    });
  }
  let code = 0;
  try {
    const { running } = await start(closers, stop.signal);
    await Promise.race([running, asked]);
    if (!stop.signal.aborted) throw new Error('ended without being asked to');
  } catch (error) {
    if (!stop.signal.aborted) {
      code = 1;
      say(error instanceof Error && !(error instanceof StartError) ? (error.stack ?? error.message) : reasonOf(error));
    }
  }
  await closers.close((name, error) => say(`${name} did not stop cleanly: ${reasonOf(error)}`));
  process.exit(code);
}

interface PartsOptions<TemporalConnection> {
  config: Config;
  log: Log;
  database: Database;
  temporal: TemporalAddress;
  connect: () => TemporalConnection | Promise<TemporalConnection>;
  smtpUrl?: string; // the operator's own
  sdkMetrics?: string; // where `installRuntime` says
  stop: AbortSignal; // of the process
}

/** Opens everything else; `closers` closes it, the database too, also where a later part cannot be opened. */
export async function openParts<TemporalConnection extends Connection | NativeConnection>(
  closers: Closers,
  { config, log, database, temporal: { namespace, uiUrl }, connect, smtpUrl, sdkMetrics, stop }: PartsOptions<TemporalConnection>,
) {
  const { RELAY_ENCRYPTION_KEYS: keyring, RELAY_SECRET: secret } = config;
  const tracing = await startTracing(log);
  closers.add('the traces', () => tracing?.close());
  const store = createStore(database, { keyring, secret });
  closers.add('the store', () => store.close());
  const refused = await again(() => store.pepperHashes(), { log, stop });
  if (refused > 0)
    log.error(
      { refused },
      'tokens and keys were hashed with another RELAY_SECRET: set that one, or rotate them: they match nothing',
    );
  const { RELAY_ALLOW_PRIVATE_NETWORKS: allowPrivateNetworks = false, MAIL_FROM: mailFrom } = config;
  const connectors = createConnectors({ allowPrivateNetworks, smtpUrl, mailFrom });
  closers.add('the connectors', () => connectors.close());
  const connection = await connect();
  // The client's own ends with the process: were it closed before, a call that it tries again would throw where nobody can catch it.
  if (!(connection instanceof Connection)) closers.add('the connection to Temporal', () => connection.close());
  return {
    log,
    stop,
    metrics: new Metrics(sdkMetrics),
    tracing,
    database,
    keyring,
    secret,
    store,
    connectors,
    connection,
    client: new Client({ connection, namespace, dataConverter: dataConverterOf(keyring) }),
    namespace,
    taskQueue: config.RELAY_TASK_QUEUE,
    links: linksOf(config, namespace, uiUrl),
    operatorEmail: config.RELAY_OPERATOR_EMAIL,
    metricsToken: config.RELAY_METRICS_TOKEN,
    retryBudgetSeconds: config.RELAY_RETRY_BUDGET_SECONDS,
    attentionWindowSeconds: config.RELAY_ATTENTION_WINDOW_SECONDS,
    noticeDigestSeconds: config.RELAY_NOTICE_DIGEST_SECONDS,
  };
}

export function linksOf(config: Config, namespace: string, webUi = config.TEMPORAL_UI_URL): Links {
  const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST;
  return {
    api: (config.RELAY_PUBLIC_URL ?? `http://${host}:${config.PORT}`).replace(/\/+$/, ''),
    webUi: webUi && `${webUi.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}`,
  };
}
