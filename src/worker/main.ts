#!/usr/bin/env node
/** `npm run worker`: runs workflows and effects. Start as many processes as the load needs. */

import { NativeConnection } from '@temporalio/worker';
import { Hono } from 'hono';
import packageJson from '../../package.json' with { type: 'json' };
import { openParts, runProcess } from '../process/process.js';
import { again, serveEarly } from '../service/again.js';
import { needed, readConfig, StartError } from '../service/config.js';
import { guardMetrics } from '../service/metrics-access.js';
import { createLog, healthRoutes } from '../service/telemetry.js';
import { reach, registerSearchAttributes, temporalAddress } from '../service/temporal.js';
import { openPostgres } from '../store/postgres.js';
import { keepWatching } from './watch.js';
import { installRuntime, startWorker } from './worker.js';

await runProcess(async (closers, stop) => {
  const config = readConfig(process.env);
  const { DATABASE_URL, SMTP_URL } = needed(config, {
    DATABASE_URL: 'the worker reads companies and rules from PostgreSQL (the embedded store is for npm start)',
    SMTP_URL: 'without a mail server the relay could not notify anybody about a failure',
  });
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = config;
  const deployment = deploymentName && buildId ? { deploymentName, buildId } : undefined;
  if (!deployment && (deploymentName || buildId))
    throw new StartError(
      'TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID make a versioned worker together: set both, or none',
    );
  const log = createLog(config.RELAY_LOG_LEVEL);
  const sdkMetrics = await installRuntime(log);
  const temporal = temporalAddress();
  const connect = () => reach(temporal, () => NativeConnection.connect(temporal.connection), { log, stop });
  const { HOST: host, RELAY_METRICS_PORT: port } = config;
  const server = port === undefined ? undefined : await serveEarly({ host, port, variable: 'RELAY_METRICS_PORT' });
  const database = await again(() => openPostgres(DATABASE_URL), { log, stop });
  const parts = await openParts(closers, { config, log, database, temporal, connect, smtpUrl: SMTP_URL, sdkMetrics, stop });
  await reach(temporal, () => registerSearchAttributes(parts.client), { log, stop });
  // The connection from `openParts` stays open: without any connection, the SDK would restart its runtime.
  const start = async () => {
    const connection = await NativeConnection.connect(temporal.connection);
    return startWorker({ ...parts, connection, version: deployment }).catch(async (error) => {
      await connection.close(); // after a failure, the SDK creates no second worker on this connection
      throw error;
    });
  };
  const worker = await reach(temporal, start, { log, stop });
  closers.add('the worker', worker.stop);
  closers.add('the quiet rules', keepWatching(parts));
  if (server) {
    const guard = guardMetrics(config.RELAY_METRICS_TOKEN, config.RELAY_ADMIN_TOKEN);
    server.serve(new Hono().use('/metrics', guard).route('/', healthRoutes(parts)));
    closers.add('the metrics', server.close);
  }
  const { version } = packageJson;
  const { namespace, taskQueue } = parts;
  log.info({ version, namespace, taskQueue, ...deployment }, 'the worker runs');
  return worker;
});
