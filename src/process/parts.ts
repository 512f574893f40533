/**
 * The composition root: what the API, the worker and the all-in-one process are made of, opened in the same order from the
 * same configuration. What they differ in, each hands in.
 */

import { Client, type Connection } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { createConnectors } from '../connectors/connectors.js';
import { type Config, linksOf } from '../service/config.js';
import type { Log } from '../service/telemetry.js';
import { Metrics } from '../service/telemetry.js';
import type { TemporalAddress } from '../service/temporal.js';
import type { Database } from '../store/database.js';
import { createStore } from '../store/store.js';
import type { Closers } from './run.js';

interface PartsOptions<TemporalConnection> {
  config: Config;
  log: Log;
  openDatabase: () => Promise<Database>;
  temporal: TemporalAddress;
  connect: () => TemporalConnection | Promise<TemporalConnection>;
  /** Absent: no e-mail is sent by this process, or only through the companies' own mail servers. */
  smtpUrl?: string;
}

/**
 * Opens everything; `closers` closes it, also where a later part cannot be opened.
 * @returns the parts under the names that the options of the API and the worker have
 */
export async function openParts<TemporalConnection extends Connection | NativeConnection>(
  closers: Closers,
  { config, log, openDatabase, temporal, connect, smtpUrl }: PartsOptions<TemporalConnection>,
) {
  const database = await openDatabase();
  const store = createStore(database);
  closers.add('the store', () => store.close());
  const connectors = createConnectors({
    allowPrivateNetworks: config.RELAY_ALLOW_PRIVATE_NETWORKS ?? false,
    smtpUrl,
    mailFrom: config.MAIL_FROM,
  });
  closers.add('the connectors', () => connectors.close());
  const connection = await connect();
  closers.add('the connection to Temporal', () => connection.close());
  const { namespace } = temporal;
  return {
    log,
    metrics: new Metrics(),
    database,
    store,
    connectors,
    connection,
    client: new Client({ connection, namespace }),
    namespace,
    taskQueue: config.RELAY_TASK_QUEUE,
    links: linksOf(config, namespace, temporal.uiUrl),
    operatorEmail: config.RELAY_OPERATOR_EMAIL,
    retryBudgetSeconds: config.RELAY_RETRY_BUDGET_SECONDS,
    attentionWindowSeconds: config.RELAY_ATTENTION_WINDOW_SECONDS,
    noticeDigestSeconds: config.RELAY_NOTICE_DIGEST_SECONDS,
  };
}
