/**
 * `npm start`: the whole relay in one process, with its state in one directory. HOST sets the address of the API only: the
 * sandbox and the Temporal server have no authentication, so only this machine can reach them.
 */

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { msToTs } from '@temporalio/common/lib/time.js';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { createApi } from '../api/app.js';
import { Limits, limitsOf } from '../api/limits.js';
import { quotasOf } from '../api/quotas.js';
import { keepUptime } from '../api/uptime.js';
import { Keyring } from '../contract/encryption.js';
import { isLoopback } from '../contract/loopback.js';
import { apiUrl, type Closers, openParts, runProcess } from '../process/process.js';
import { type Config, readConfig } from '../service/config.js';
import { assertPortFree, serveHttp } from '../service/server.js';
import { createLog } from '../service/telemetry.js';
import { reach, registerSearchAttributes, temporalAddress } from '../service/temporal.js';
import { openEmbedded } from '../store/embedded.js';
import { openPostgres } from '../store/postgres.js';
import { countUnattended } from '../temporal/unattended.js';
import { keepWatching } from '../worker/watch.js';
import { installRuntime, startWorker } from '../worker/worker.js';
import { openDataDirectory } from './data-directory.js';
import { type Demo, ensureDemo } from './demo.js';
import { startMailCatcher } from './mail/catcher.js';
import { startPlatform } from './platform/platform.js';
import { keepTemporal } from './temporal.js';
import { findTemporal } from './temporal-binary.js';
import { simulatorsAt } from './vendors/simulators.js';
import { startWebUi } from './web-ui.js';

const say = (line: string) => process.stdout.write(`${line}\n`);
const loopback = '127.0.0.1';
process.umask(0o077); // Only the owner can read the files in the data directory, including Temporal's files.

const retentionMs = 30 * 86_400_000; // The server's own default is one day.

await runProcess(async (closers, stop) => {
  // Connectors may call this machine, because the demo platform runs here.
  const standard = { RELAY_ALLOW_PRIVATE_NETWORKS: true, RELAY_OPERATOR_EMAIL: 'operator@relay.example' };
  const given: Config = { ...standard, ...readConfig(process.env) };
  const { HOST: host, PORT: port } = given;
  const directory = await openDataDirectory(given.RELAY_DATA_DIR);
  closers.add('the data directory', directory.release);
  await assertPortFree(host, port, 'PORT');
  const inDirectory = (name: string) => join(directory.path, name);
  const random = (encoding: 'hex' | 'base64') => randomBytes(32).toString(encoding);
  const madeKeys = () => new Keyring(kept(inDirectory('encryption-keys'), () => `1:${random('base64')}`));
  const keyring = given.RELAY_ENCRYPTION_KEYS ?? madeKeys();
  const RELAY_SECRET = given.RELAY_SECRET ?? kept(inDirectory('secret'), () => random('hex'));
  const config = { ...given, RELAY_ENCRYPTION_KEYS: keyring, RELAY_SECRET };
  const log = createLog(config.RELAY_LOG_LEVEL, pino.destination({ dest: inDirectory('relay.log'), append: true, sync: true }));
  const sdkMetrics = await installRuntime(log);

  const stateFile = inDirectory('platform.jsonl');
  const platform = await startPlatform({ host: loopback, port: config.RELAY_SANDBOX_PORT, stateFile });
  closers.add('the demo platform', platform.close);
  const mail = await mailServer(config, inDirectory('mail'), closers);
  const refusal = demoRefusal(config);
  // In a trial on one machine, the Web UI needs no sign-in: whoever can read the data can read the keys beside it.
  const isTrial = refusal === undefined && !given.RELAY_ENCRYPTION_KEYS && isLoopback(new URL(apiUrl(config)).hostname);
  const temporal = await temporalServer(config, isTrial, directory.path, closers, stop);
  const database = await (config.DATABASE_URL ? openPostgres(config.DATABASE_URL) : openEmbedded(inDirectory('store')));
  const connect = () => reach(temporal, () => NativeConnection.connect(temporal.connection));
  const parts = await openParts(closers, { config, log, database, temporal, connect, smtpUrl: mail.smtpUrl, sdkMetrics, stop });
  await reach(temporal, () => registerSearchAttributes(parts.client));
  if (!config.TEMPORAL_ADDRESS)
    await parts.client.workflowService.updateNamespace({
      namespace: temporal.namespace,
      config: { workflowExecutionRetentionTtl: msToTs(retentionMs) },
    });
  const worker = await startWorker(parts);
  closers.add('the worker', worker.stop);
  const tokenFile = inDirectory('admin-token');
  const adminToken = config.RELAY_ADMIN_TOKEN || kept(tokenFile, () => randomBytes(24).toString('hex'));
  const limits = new Limits({ ...limitsOf(config), log });
  const { links } = parts;
  const publicHost = new URL(links.api).hostname;
  const own = { closers, limits, quotas: quotasOf(config), adminToken, eager: true };
  // A relay that others can reach, or that has real data or mail, offers no simulators.
  const app = createApi({ ...parts, ...own, ...(refusal === undefined && { simulators: simulatorsAt(platform.url) }) });
  const api = await serveHttp(app, { host, port, publicHost, maxConnections: config.RELAY_MAX_CONNECTIONS });
  closers.add('the API', api.close);
  closers.add('the counts', countUnattended(parts));
  closers.add('the uptime', keepUptime(parts));
  closers.add('the quiet rules', keepWatching(parts));
  // The `relay` command sends the directory's admin token to this address only.
  writeFileSync(inDirectory('api.json'), JSON.stringify({ url: api.url, pid: process.pid }));
  closers.add('api.json', () => rmSync(inDirectory('api.json'), { force: true }));

  const command = inDirectory('temporal');
  const { address } = temporal.connection;
  if (!config.TEMPORAL_ADDRESS && address) {
    const program = await findTemporal({ dataDir: directory.path, say, signal: stop });
    const token = config.RELAY_ADMIN_TOKEN ? '$RELAY_ADMIN_TOKEN' : `$(cat ${quoted(tokenFile)})`;
    const target = { address, namespace: temporal.namespace, codecUrl: `${links.api}/codec`, token };
    writeFileSync(command, temporalCommand(program, target), { mode: 0o700 });
  }

  const demo = refusal === undefined ? await ensureDemo(parts.store, platform.url, directory.path) : undefined;
  if (demo) platform.state.rule = { url: `${api.url}/co/${demo.companyId}/relay`, token: demo.relayAccessToken };
  say(`
The relay is running.

  API                 ${links.api}
  Console             ${links.api}/
  Temporal Web UI     ${links.webUi ? `${links.webUi}/workflows` : '(TEMPORAL_UI_URL is not set)'}
  Temporal command    ${config.TEMPORAL_ADDRESS ? 'your own' : command}
  Demo platform       ${platform.url}
  Vendors' simulators ${platform.url}/vendors
  Inbox               ${mail.uiUrl ?? `(mail goes to ${new URL(mail.smtpUrl).host})`}
  Admin token         ${config.RELAY_ADMIN_TOKEN ? 'RELAY_ADMIN_TOKEN' : `in ${tokenFile}`}
  Log                 ${inDirectory('relay.log')}
${demo ? tryIt(links.api, demo) : noDemo(refusal)}
Ctrl-C stops everything. The next start continues open chains.`);
  return worker;
}, say);

async function mailServer(config: Config, directory: string, closers: Closers): Promise<{ smtpUrl: string; uiUrl?: string }> {
  const { SMTP_URL: smtpUrl, RELAY_SMTP_PORT: smtpPort, RELAY_MAIL_UI_PORT: uiPort } = config;
  if (smtpUrl) return { smtpUrl };
  const catcher = await startMailCatcher({ host: loopback, smtpPort, uiPort, directory });
  closers.add('the mail catcher', catcher.close);
  return catcher;
}

type Ready = Config & { RELAY_ENCRYPTION_KEYS: Keyring };

async function temporalServer(config: Ready, isTrial: boolean, dataDir: string, closers: Closers, signal: AbortSignal) {
  const address = temporalAddress();
  if (config.TEMPORAL_ADDRESS) return address;
  const { RELAY_TEMPORAL_PORT: port, RELAY_TEMPORAL_UI_PORT: uiPort } = config;
  const { namespace } = address;
  const server = await keepTemporal({ dataDir, host: loopback, port, uiPort: 0, namespace, say, signal });
  closers.add('the Temporal server', server.stop);
  const { TEMPORAL_UI_URL, RELAY_ENCRYPTION_KEYS: keyring } = config;
  const decodes = isTrial && !TEMPORAL_UI_URL;
  const codec = decodes ? keyring : `${apiUrl(config)}/codec`;
  const webUi = await startWebUi({ upstream: server.uiUrl, codec, host: loopback, port: uiPort });
  closers.add('the Web UI', webUi.close);
  return { connection: { address: server.address }, namespace, uiUrl: TEMPORAL_UI_URL ?? webUi.url, decodes };
}

type Target = Record<'address' | 'namespace' | 'codecUrl' | 'token', string>;

/** A script that runs the `temporal` command. `token` is a shell expression, so the script does not contain the admin token. */
function temporalCommand(program: string, { address, namespace, codecUrl, token }: Target): string {
  const settings = { ADDRESS: quoted(address), NAMESPACE: quoted(namespace), CODEC_ENDPOINT: quoted(codecUrl) };
  const exports = Object.entries({ ...settings, CODEC_AUTH: `"Bearer ${token}"` });
  return `#!/bin/sh\n${exports.map(([name, text]) => `export TEMPORAL_${name}=${text}\n`).join('')}exec ${quoted(program)} "$@"\n`;
}

/** Quotes the text as one word of a shell command. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns the secret in the file. Creates the file, for its owner only, if it does not exist. */
function kept(file: string, make: () => string): string {
  if (!existsSync(file)) writeFileSync(file, `${make()}\n`, { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

/** Returns the reason if there must be no demo: its token, which is in a file, would let others send e-mails to real people. */
function demoRefusal({ DATABASE_URL, HOST, SMTP_URL }: Config): string | undefined {
  if (DATABASE_URL) return 'DATABASE_URL is set';
  if (!isLoopback(HOST)) return 'HOST is not a loopback address';
  return SMTP_URL && !isLoopback(new URL(SMTP_URL).hostname) ? 'SMTP_URL is a real mail server' : undefined;
}

function tryIt(api: string, { companyId, relayId, relayAccessToken, examples }: Demo): string {
  const action = { action: 'platform_sendAssignment', relayId, relayAccessToken, platformAssignmentId: '1001', groupId: '501' };
  const post = `curl -i ${api}/co/${companyId}/relay -H 'Content-Type: application/json'`;
  return `  Examples            ${examples}
  Sign in             as admin@demo.example; the inbox gets the link

Try it: send assignment 1001 to group 501.

${post} -d '${JSON.stringify([action])}'
`;
}

function noDemo(refusal = 'its rule was deleted or disabled, or has another token'): string {
  return `
There is no demo company, because ${refusal}. Create your own:

npx relay companies set acme --name Acme --platform-url https://platform.acme.example
npx relay rules create acme --name "First rule"
`;
}
