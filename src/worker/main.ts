/** `npm run worker`: workflows and effects; as many of these as the load asks for. */

import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { aliveRoutes } from '../api/health.js';
import { createConnectors } from '../connectors/connectors.js';
import { deploymentVersion, linksOf, needed, readConfig } from '../service/config.js';
import { createLog } from '../service/log.js';
import { Metrics } from '../service/metrics.js';
import { runProcess } from '../service/process.js';
import { serveApi } from '../service/server.js';
import { MissingSearchAttributes, registerSearchAttributes, temporalAddress } from '../service/temporal.js';
import { openPostgres } from '../store/postgres.js';
import { createStore } from '../store/store.js';
import { createWorker, installRuntime } from './worker.js';

await runProcess(
  async (closers, stop) => {
    const config = readConfig(process.env);
    const { DATABASE_URL, SMTP_URL } = needed(config, {
      DATABASE_URL: 'the worker reads companies and rules from PostgreSQL (the embedded store is for npm start)',
      SMTP_URL: 'without a mail server nobody could be told of a failure',
    });
    const version = deploymentVersion(config);
    const log = createLog(config.RELAY_LOG_LEVEL);
    installRuntime(log);
    const metrics = new Metrics();
    const store = createStore(await openPostgres(DATABASE_URL));
    closers.add('the store', () => store.close());
    const connectors = createConnectors({
      allowPrivateNetworks: config.RELAY_ALLOW_PRIVATE_NETWORKS ?? false,
      smtpUrl: SMTP_URL,
      mailFrom: config.MAIL_FROM,
    });
    closers.add('the connectors', () => connectors.close());

    const temporal = temporalAddress();
    const connection = await connect();
    closers.add('the connection to Temporal', () => connection.close());
    const worker = await createWorker({
      connection,
      namespace: temporal.namespace,
      taskQueue: config.RELAY_TASK_QUEUE,
      store,
      connectors,
      client: new Client({ connection, namespace: temporal.namespace }),
      metrics,
      links: linksOf(config, temporal.namespace),
      log,
      noticeDigestSeconds: config.RELAY_NOTICE_DIGEST_SECONDS,
      ...(version && { version }),
      ...(config.RELAY_OPERATOR_EMAIL !== undefined && { operatorEmail: config.RELAY_OPERATOR_EMAIL }),
    });
    const running = worker.run();
    closers.add('the worker', async () => {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await running;
    });
    if (config.RELAY_METRICS_PORT !== undefined) {
      const server = await serveApi(aliveRoutes(metrics), {
        host: config.HOST,
        port: config.RELAY_METRICS_PORT,
        variable: 'RELAY_METRICS_PORT',
      });
      closers.add('the metrics', () => server.close());
    }
    log.info({ namespace: temporal.namespace, taskQueue: config.RELAY_TASK_QUEUE, ...version }, 'the worker runs');
    return { running };

    async function connect(): Promise<NativeConnection> {
      for (;;) {
        try {
          const connection = await NativeConnection.connect(temporal.connection);
          await registerSearchAttributes(connection, temporal.namespace);
          return connection;
        } catch (error) {
          if (error instanceof MissingSearchAttributes || stop.aborted) throw error;
          log.warn({ err: error }, 'Temporal cannot be reached; trying again');
          await new Promise((resolve) => setTimeout(resolve, 2_000));
        }
      }
    }
  },
  (line) => process.stderr.write(`${line}\n`),
);
