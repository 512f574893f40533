/** `npm start`: everything that a laptop needs in one process, with all state in one directory. */

import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { createApi } from '../api/app.js';
import { Limits } from '../api/limits.js';
import { createConnectors } from '../connectors/connectors.js';
import { type Config, linksOf, readConfig } from '../service/config.js';
import { createLog } from '../service/log.js';
import { Metrics } from '../service/metrics.js';
import { type Closers, runProcess } from '../service/process.js';
import { serveApi } from '../service/server.js';
import { registerSearchAttributes, type TemporalAddress, temporalAddress } from '../service/temporal.js';
import { openEmbedded } from '../store/embedded.js';
import { openPostgres } from '../store/postgres.js';
import { createStore } from '../store/store.js';
import { createWorker, installRuntime } from '../worker/worker.js';
import { openDataDirectory } from './data-directory.js';
import { demo, ensureDemo } from './demo.js';
import { startMailCatcher } from './mail/catcher.js';
import { startPlatform } from './platform/platform.js';
import { assertPortFree } from './ports.js';
import { startTemporal } from './temporal.js';

const say = (line: string) => process.stdout.write(`${line}\n`);

await runProcess(async (closers, signal) => {
  const config = readConfig(process.env);
  const directory = await openDataDirectory(config.RELAY_DATA_DIR);
  closers.add('the data directory', () => directory.release());
  await assertPortFree(config.HOST, config.PORT, 'PORT');

  const log = createLog(
    config.RELAY_LOG_LEVEL,
    pino.destination({ dest: join(directory.path, 'relay.log'), append: true, sync: true }),
  );
  installRuntime(log);
  const store = createStore(
    config.DATABASE_URL ? await openPostgres(config.DATABASE_URL) : await openEmbedded(join(directory.path, 'store')),
  );
  closers.add('the store', () => store.close());

  const platform = await startPlatform({
    host: config.HOST,
    port: config.RELAY_SANDBOX_PORT,
    stateFile: join(directory.path, 'platform.jsonl'),
  });
  closers.add('the pretend platform', () => platform.close());
  const mail = await mailServer(config, directory.path, closers);
  const temporal = await temporalServer(config, directory.path, closers, signal);

  const connection = await NativeConnection.connect(temporal.connection);
  closers.add('the connection to Temporal', () => connection.close());
  await registerSearchAttributes(connection, temporal.namespace);
  const client = new Client({ connection, namespace: temporal.namespace });
  const links = linksOf(config, temporal.namespace, temporal.uiUrl);
  const connectors = createConnectors({
    allowPrivateNetworks: config.RELAY_ALLOW_PRIVATE_NETWORKS ?? true,
    smtpUrl: mail.smtpUrl,
    mailFrom: config.MAIL_FROM,
  });
  closers.add('the connectors', () => connectors.close());
  const shared = {
    store,
    connectors,
    client,
    links,
    log,
    metrics: new Metrics(),
    taskQueue: config.RELAY_TASK_QUEUE,
    noticeDigestSeconds: config.RELAY_NOTICE_DIGEST_SECONDS,
    operatorEmail: config.RELAY_OPERATOR_EMAIL ?? 'operator@relay.example',
  };

  const worker = await createWorker({ ...shared, connection, namespace: temporal.namespace });
  const running = worker.run();
  closers.add('the worker', async () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
  });

  const admin = adminToken(config, directory.path);
  const app = createApi({
    ...shared,
    limits: new Limits({ perMinute: config.RELAY_RATE_LIMIT_PER_MINUTE, log }),
    adminToken: admin.token,
    eager: true,
    retryBudgetSeconds: config.RELAY_RETRY_BUDGET_SECONDS,
    attentionWindowSeconds: config.RELAY_ATTENTION_WINDOW_SECONDS,
  });
  const api = await serveApi(app, { host: config.HOST, port: config.PORT });
  closers.add('the API', () => api.close());

  const hasDemo = await ensureDemo(store, platform.url);
  say('');
  say('The relay is running.');
  say('');
  say(`  API                 ${links.api}`);
  say(`  Temporal Web UI     ${links.webUi ? `${links.webUi}/workflows` : '(TEMPORAL_UI_URL is not set)'}`);
  say(`  Pretend platform    ${platform.url}`);
  say(`  Inbox               ${mail.uiUrl ?? `(mail goes to ${new URL(mail.smtpUrl).host})`}`);
  say(`  Admin token         ${admin.where}`);
  say(`  Log                 ${join(directory.path, 'relay.log')}`);
  if (hasDemo) {
    say('');
    say('Try it: send assignment 1001 to everybody in group 501.');
    say('');
    say(curlLine(links.api));
  }
  say('');
  say('Ctrl-C stops everything; the next start goes on with what is pending.');
  return { running };
}, say);

async function mailServer(config: Config, directory: string, closers: Closers): Promise<{ smtpUrl: string; uiUrl?: string }> {
  if (config.SMTP_URL) return { smtpUrl: config.SMTP_URL };
  const sink = await startMailCatcher({
    host: config.HOST,
    smtpPort: config.RELAY_SMTP_PORT,
    uiPort: config.RELAY_MAIL_UI_PORT,
    directory: join(directory, 'mail'),
  });
  closers.add('the mail sink', () => sink.close());
  return sink;
}

async function temporalServer(
  config: Config,
  directory: string,
  closers: Closers,
  signal: AbortSignal,
): Promise<TemporalAddress & { uiUrl?: string }> {
  const address = temporalAddress();
  if (config.TEMPORAL_ADDRESS) return address;
  const server = await startTemporal({
    dataDir: directory,
    host: config.HOST,
    port: config.RELAY_TEMPORAL_PORT,
    uiPort: config.RELAY_TEMPORAL_UI_PORT,
    namespace: address.namespace,
    say,
    signal,
  });
  closers.add('the Temporal server', () => server.stop());
  return { connection: { address: server.address }, namespace: address.namespace, uiUrl: config.TEMPORAL_UI_URL ?? server.uiUrl };
}

/** RELAY_ADMIN_TOKEN, or one that is made once and kept in the data directory. */
function adminToken(config: Config, directory: string): { token: string; where: string } {
  if (config.RELAY_ADMIN_TOKEN) return { token: config.RELAY_ADMIN_TOKEN, where: 'RELAY_ADMIN_TOKEN' };
  const file = join(directory, 'admin-token');
  try {
    writeFileSync(file, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return { token: readFileSync(file, 'utf8').trim(), where: `in ${file}` };
}

function curlLine(api: string): string {
  const { companyId, relayId, relayAccessToken } = demo;
  const action = { action: 'platform_sendAssignment', relayId, relayAccessToken, platformAssignmentId: '1001', groupId: '501' };
  return `curl -i ${api}/co/${companyId}/relay -H 'Content-Type: application/json' -d '${JSON.stringify([action])}'`;
}
