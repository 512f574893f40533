/** Starts and stops a process. Creates the parts that the API, the worker and the all-in-one process share. */

import { Client, Connection } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { Links } from '../chain/chain.js';
import { createConnectors } from '../connectors/connectors.js';
import { createOpenId } from '../connectors/openid.js';
import { again } from '../service/again.js';
import { type Config, StartError } from '../service/config.js';
import { dataConverterOf } from '../service/payloads.js';
import { authority } from '../service/server.js';
import { type Log, Metrics } from '../service/telemetry.js';
import { reasonOf, type TemporalAddress } from '../service/temporal.js';
import { startTracing } from '../service/tracing.js';
import type { Database } from '../store/database.js';
import { createStore, type Losses } from '../store/store.js';

export class Closers {
  readonly #closers: [name: string, close: () => unknown][] = [];

  add(name: string, close: () => unknown): void {
    this.#closers.push([name, close]);
  }

  /** Calls all closers, in reverse order. If a closer fails, still calls the other closers. */
  async close(report: (name: string, error: unknown) => void): Promise<void> {
    for (const [name, close] of this.#closers.splice(0).reverse())
      await Promise.resolve()
        .then(close)
        .catch((error: unknown) => report(name, error));
  }
}

/** Runs until SIGINT or SIGTERM (exit code 0), or until `running` settles (exit code 1). Prints a StartError as one line. */
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
    if (!stop.signal.aborted) throw new Error('the process ended although nobody stopped it');
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
  smtpUrl?: string; // the operator's mail server
  sdkMetrics?: string; // the URL that `installRuntime` returns
  stop: AbortSignal; // aborts when the process stops
}

/** Registers all parts and the database in `closers`, so that the caller can close them even if a later part fails to open. */
export async function openParts<TemporalConnection extends Connection | NativeConnection>(
  closers: Closers,
  { config, log, database, temporal, connect, smtpUrl, sdkMetrics, stop }: PartsOptions<TemporalConnection>,
) {
  const { namespace } = temporal;
  const { RELAY_ENCRYPTION_KEYS: keyring, RELAY_SECRET: secret } = config;
  const tracing = await startTracing(log);
  closers.add('the traces', () => tracing?.close());
  const metrics = new Metrics(sdkMetrics);
  const losses: Losses = {
    lostEvent: () => metrics.lostEvents.inc(),
    lostRow({ companyId, chainId }, error) {
      metrics.lostRows.inc();
      log.error({ companyId, chainId }, `the row of a chain is lost, because the database refused it: ${reasonOf(error)}`);
    },
  };
  const store = createStore(database, { keyring, secret }, losses);
  closers.add('the store', () => store.close());
  const refused = await again(() => store.pepperHashes(), { log, stop });
  const otherSecret = 'they were hashed with another RELAY_SECRET: set the other secret, or rotate these tokens and keys';
  if (refused > 0) log.error({ refused }, `some tokens and keys do not work, because ${otherSecret}`);
  if (!keyring) log.warn('RELAY_ENCRYPTION_KEYS is not set: data is stored unencrypted');
  else if (await again(() => store.encryption.hasPlainSettings(), { log, stop }))
    log.warn('some company settings are unencrypted, because they were stored without keys: run relay encryption rotate');
  const { RELAY_ALLOW_PRIVATE_NETWORKS: allowPrivateNetworks = false, MAIL_FROM: mailFrom } = config;
  const connectors = createConnectors({ allowPrivateNetworks, smtpUrl, mailFrom });
  closers.add('the connectors', () => connectors.close());
  const connection = await connect();
  // A client's `Connection` stays open. After a close, a pending retry would throw an error that no code can catch.
  if (!(connection instanceof Connection)) closers.add('the connection to Temporal', () => connection.close());
  return {
    log,
    stop,
    metrics,
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
    ...webUiOf(config, temporal),
    openId: createOpenId(config, apiUrl(config)),
    operatorEmail: config.RELAY_OPERATOR_EMAIL,
    metricsToken: config.RELAY_METRICS_TOKEN,
    retryBudgetSeconds: config.RELAY_RETRY_BUDGET_SECONDS,
    attentionWindowSeconds: config.RELAY_ATTENTION_WINDOW_SECONDS,
    recipientsPerDay: config.RELAY_RECIPIENTS_PER_DAY,
    noticeDigestSeconds: config.RELAY_NOTICE_DIGEST_SECONDS,
    noticeBudget: { notices: config.RELAY_NOTICES_PER_TEN_MINUTES, seconds: 600 },
  };
}

/** The address where people reach the API. */
export function apiUrl({ RELAY_PUBLIC_URL, HOST, PORT }: Config): string {
  return (RELAY_PUBLIC_URL ?? `http://${authority(HOST, PORT)}`).replace(/\/+$/, '');
}

/** `links` are URLs for people. `webUi` is set if the Web UI needs an API session to decrypt data. */
function webUiOf(config: Config, { namespace, uiUrl = config.TEMPORAL_UI_URL, decodes }: TemporalAddress) {
  const api = apiUrl(config);
  const webUi = uiUrl && `${uiUrl.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}`;
  const links: Links = { api, webUi: webUi && !decodes ? `${api}/web-ui` : webUi };
  return { links, webUi: decodes ? undefined : webUi };
}
