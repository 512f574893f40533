/** `npm run api`: the API on its own; state is in PostgreSQL and Temporal. */

import { Client, Connection } from '@temporalio/client';
import { createConnectors } from '../connectors/connectors.js';
import { linksOf, needed, readConfig } from '../service/config.js';
import { createLog } from '../service/log.js';
import { Metrics } from '../service/metrics.js';
import { runProcess } from '../service/process.js';
import { serveApi } from '../service/server.js';
import { MissingSearchAttributes, registerSearchAttributes, temporalAddress } from '../service/temporal.js';
import { openPostgres } from '../store/postgres.js';
import { createStore } from '../store/store.js';
import { createApi } from './app.js';
import { Limits } from './limits.js';

await runProcess(
  async (closers, stop) => {
    const config = readConfig(process.env);
    const { DATABASE_URL, RELAY_ADMIN_TOKEN } = needed(config, {
      DATABASE_URL: 'the API keeps companies and rules in PostgreSQL (the embedded store is for npm start)',
      RELAY_ADMIN_TOKEN: 'it is the key to the admin API; make one with: openssl rand -hex 32',
    });
    const log = createLog(config.RELAY_LOG_LEVEL);
    const database = await openPostgres(DATABASE_URL);
    const store = createStore(database);
    closers.add('the store', () => store.close());
    // A dry run asks the platform; mail is the worker's business.
    const connectors = createConnectors({
      allowPrivateNetworks: config.RELAY_ALLOW_PRIVATE_NETWORKS ?? false,
      mailFrom: config.MAIL_FROM,
    });
    closers.add('the connectors', () => connectors.close());

    const temporal = temporalAddress();
    const connection = Connection.lazy(temporal.connection);
    closers.add('the connection to Temporal', () => connection.close());
    const client = new Client({ connection, namespace: temporal.namespace });

    const app = createApi({
      metrics: new Metrics(),
      store,
      connectors,
      client,
      log,
      limits: new Limits({ perMinute: config.RELAY_RATE_LIMIT_PER_MINUTE, shared: database, log }),
      adminToken: RELAY_ADMIN_TOKEN,
      links: linksOf(config, temporal.namespace),
      taskQueue: config.RELAY_TASK_QUEUE,
      eager: false,
      retryBudgetSeconds: config.RELAY_RETRY_BUDGET_SECONDS,
      attentionWindowSeconds: config.RELAY_ATTENTION_WINDOW_SECONDS,
      ...(config.RELAY_OPERATOR_EMAIL !== undefined && { operatorEmail: config.RELAY_OPERATOR_EMAIL }),
    });
    const server = await serveApi(app, { host: config.HOST, port: config.PORT });
    closers.add('the API', () => server.close());
    log.info({ host: config.HOST, port: config.PORT }, 'the API listens');
    return { running: knowsSearchAttributes() };

    /** Goes on trying while Temporal cannot be reached: requests are answered with 503 meanwhile. */
    async function knowsSearchAttributes(): Promise<never> {
      while (!stop.aborted) {
        try {
          await registerSearchAttributes(connection, temporal.namespace);
          log.info('Temporal can be reached');
          break;
        } catch (error) {
          if (error instanceof MissingSearchAttributes) throw error;
          log.warn({ err: error }, 'Temporal cannot be reached; trying again');
          await new Promise((resolve) => setTimeout(resolve, 2_000));
        }
      }
      return new Promise(() => {});
    }
  },
  (line) => process.stderr.write(`${line}\n`),
);
