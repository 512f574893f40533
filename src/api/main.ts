#!/usr/bin/env node
/** `npm run api` starts the API without a worker. All state is in PostgreSQL and Temporal. */

import { setTimeout as sleep } from 'node:timers/promises';
import packageJson from '../../package.json' with { type: 'json' };
import { apiUrl, openParts, runProcess } from '../process/process.js';
import { again, serveEarly } from '../service/again.js';
import { needed, readConfig } from '../service/config.js';
import { createLog } from '../service/telemetry.js';
import { lazyConnection, reach, registerSearchAttributes, temporalAddress } from '../service/temporal.js';
import { openPostgres } from '../store/postgres.js';
import { countUnattended } from '../temporal/unattended.js';
import { createApi } from './app.js';
import { Limits, limitsOf } from './limits.js';
import { quotasOf } from './quotas.js';
import { keepUptime } from './uptime.js';

await runProcess(async (closers, stop) => {
  const config = readConfig(process.env);
  const { HOST: host, PORT: port } = config;
  const { DATABASE_URL, RELAY_ADMIN_TOKEN } = needed(config, {
    DATABASE_URL: 'the API keeps companies and rules in PostgreSQL (the embedded store is for npm start)',
    RELAY_ADMIN_TOKEN: 'it is the token for the admin API; make a token with: openssl rand -hex 32',
  });
  const log = createLog(config.RELAY_LOG_LEVEL);
  const temporal = temporalAddress();
  const publicHost = new URL(apiUrl(config)).hostname;
  const server = await serveEarly({ host, port, publicHost, maxConnections: config.RELAY_MAX_CONNECTIONS });
  const database = await again(() => openPostgres(DATABASE_URL), { log, stop });
  const connect = () => lazyConnection(temporal);
  const parts = await openParts(closers, { config, log, database, temporal, connect, smtpUrl: config.SMTP_URL, stop });
  const limits = new Limits({ ...limitsOf(config), shared: database, log });
  server.serve(createApi({ ...parts, closers, limits, quotas: quotasOf(config), adminToken: RELAY_ADMIN_TOKEN, eager: false }));
  closers.add('the API', server.close);
  // The API closes only after this time, in which load balancers stop sending requests to this process.
  closers.add('the balancers', () => sleep(config.RELAY_DRAIN_SECONDS * 1000));
  log.info({ version: packageJson.version, host, port }, 'the API listens');

  // Requests get 503 until the search attributes are registered.
  const known = reach(temporal, () => registerSearchAttributes(parts.client), { log, stop });
  const running = known.then(() => {
    log.info('Temporal can be reached');
    closers.add('the counts', countUnattended(parts));
    closers.add('the uptime', keepUptime(parts));
    return new Promise(() => {});
  });
  return { running };
});
