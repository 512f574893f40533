/**
 * The whole relay in the test's process: real Temporal server, store, API, worker, demo platform, mail catcher. Each test file
 * has its own stack. All stacks use one Temporal server, each with its own task queue, and one PGlite, which each stack empties
 * first.
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import type { z } from 'zod';
import { createApi } from '../../src/api/app.js';
import { Limits, type Use } from '../../src/api/limits.js';
import type { ApiOptions } from '../../src/api/route.js';
import { type Chain, chainWorkflowId } from '../../src/chain/chain.js';
import { createConnectors } from '../../src/connectors/connectors.js';
import { type ActionResource, acceptedSchema, type ChainResource, chainSchema } from '../../src/contract/chain-resource.js';
import { Keyring } from '../../src/contract/encryption.js';
import type { Rule } from '../../src/contract/rule.js';
import { Closers } from '../../src/process/process.js';
import { startMailCatcher } from '../../src/sandbox/mail/catcher.js';
import { startPlatform } from '../../src/sandbox/platform/platform.js';
import { startTemporal } from '../../src/sandbox/temporal.js';
import { serveEarly } from '../../src/service/again.js';
import { dataConverterOf } from '../../src/service/payloads.js';
import { createLog, type Log, Metrics } from '../../src/service/telemetry.js';
import { registerSearchAttributes } from '../../src/service/temporal.js';
import type { Tracing } from '../../src/service/tracing.js';
import type { NoticeBudget } from '../../src/store/notices.js';
import { createStore } from '../../src/store/store.js';
import { installRuntime, startWorker } from '../../src/worker/worker.js';
import { extent } from '../extent.js';
import { endlessUses } from '../hostile/api.js';
import { openEmptied } from '../store/emptied.js';
import { replayOptions } from './replays.js';
import '../workflows/main-thread.js';

export const adminToken = 'admin-token-of-the-tests';
export const actor = { kind: 'admin' } as const;

/** All stacks use these keys, because they share a server. The recorded histories that are encrypted use the same keys. */
export const standardKeyring = new Keyring(`tests:${Buffer.alloc(32, 1).toString('base64')}`);

export interface StackOptions {
  keyring?: Keyring | null; // null: no encryption
  secret?: string; // RELAY_SECRET
  webUi?: string; // the URL of Temporal's Web UI
  isSecond?: boolean; // another stack of the same process already logs the SDK's messages
  retryBudgetSeconds?: number;
  attentionWindowSeconds?: number;
  rateLimitPerMinute?: number;
  uses?: Partial<Record<Use, number>>; // limits per minute and key; {}: the default limits; undefined: no limits
  noticeDigestSeconds?: number;
  noticeBudget?: NoticeBudget;
  recipientsPerDay?: number;
  tracing?: (log: Log) => Promise<Tracing | undefined>;
}

export type Action = Record<string, unknown>;
export type Stack = Awaited<ReturnType<typeof startStack>>;

/** Starts everything, and stops it after the file's tests. */
export async function startStack({
  retryBudgetSeconds = 1,
  attentionWindowSeconds = 600,
  rateLimitPerMinute = 10_000,
  uses = endlessUses,
  noticeDigestSeconds = 60,
  noticeBudget = { notices: 1000, seconds: 600 },
  recipientsPerDay = 50_000,
  keyring: givenKeyring = standardKeyring,
  secret,
  webUi = 'http://127.0.0.1:8233',
  isSecond = false,
  tracing: startTracing = async () => undefined,
}: StackOptions = {}) {
  const closers = new Closers();
  const keyring = givenKeyring ?? undefined;
  const taskQueue = `test-${randomUUID()}`;
  after(async () => {
    try {
      await worker.stop();
      await replayAll(client, taskQueue, keyring);
    } finally {
      await closers.close((name, error) => process.stderr.write(`${name}: ${String(error)}\n`));
    }
  });
  const directory = mkdtempSync(join(tmpdir(), 'relay-stack-'));
  closers.add('the directory', () => rmSync(directory, { recursive: true, force: true }));
  const logFile = join(directory, 'log');
  const log = createLog('trace', pino.destination({ dest: logFile, sync: true }));
  const sdkMetrics = isSecond ? undefined : await installRuntime(log);

  const database = await openEmptied();
  const store = createStore(database);
  closers.add('the store', () => store.close());
  const platform = await startPlatform({ host: '127.0.0.1', port: 0 });
  closers.add('the platform', () => platform.close());
  const mail = await startMailCatcher({ host: '127.0.0.1', smtpPort: 0, uiPort: 0 });
  closers.add('the mail catcher', () => mail.close());
  const { address, directory: temporalDirectory } = await temporalServer(closers);
  const connection = await NativeConnection.connect({ address });
  closers.add('the connection', () => connection.close());
  const clientOf = (keys: Keyring | undefined) => new Client({ connection, dataConverter: dataConverterOf(keys) });
  const client = clientOf(keyring);
  await registerSearchAttributes(client);

  const api = await serveEarly({ host: '127.0.0.1', port: 0 });
  closers.add('the API', () => api.close());
  const links = { api: api.url, webUi: `${api.url}/web-ui` };
  const connectors = createConnectors({
    allowPrivateNetworks: true,
    smtpUrl: mail.smtpUrl,
    mailFrom: 'Relay <relay@relay.example>',
  });
  closers.add('the connectors', () => connectors.close());
  const metrics = new Metrics(sdkMetrics);
  const tracing = await startTracing(log);
  closers.add('the traces', () => tracing?.close());
  const operatorEmail = 'operator@relay.example';
  const shared = { keyring, secret, store, connectors, client, taskQueue, links, operatorEmail, log, metrics, tracing };
  const start = (keys = keyring) =>
    startWorker({
      ...shared,
      keyring: keys,
      client: clientOf(keys),
      connection,
      namespace: 'default',
      noticeDigestSeconds,
      noticeBudget,
      recipientsPerDay,
    });
  let worker = await start();
  closers.add('the worker', () => worker.stop());

  const apiWith = (keys: Keyring | undefined, { eager = false, ...more }: Partial<ApiOptions> = {}) =>
    createApi({
      ...shared,
      keyring: keys,
      client: clientOf(keys),
      limits: new Limits({ perMinute: rateLimitPerMinute, uses, log }),
      adminToken,
      webUi: `${webUi}/namespaces/default`,
      eager,
      retryBudgetSeconds,
      attentionWindowSeconds,
      ...more,
    });
  api.serve(apiWith(keyring, { eager: true }));

  const json = async <Body>(url: string, init?: RequestInit): Promise<Body> => (await fetch(url, init)).json() as Promise<Body>;
  const control = (path: string, body: unknown, method = 'PUT') =>
    fetch(`${platform.url}/control/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  return {
    client,
    store,
    database,
    links,
    mail,
    platform,
    taskQueue,
    connectors,
    temporalAddress: address,
    temporalDirectory,
    keyring,
    metrics,
    log,
    /** The log so far. */
    logged: () => readFileSync(logFile, 'utf8'),
    stopWorker: () => worker.stop(),
    /** @param keys - the keys after the restart */
    async restartWorker(keys = keyring) {
      worker = await start(keys);
    },
    /** Starts a second API with these keys and settings. */
    apiWith,

    /** Creates a company with one rule, for one test. */
    async company(rule: Partial<Rule> = {}) {
      const companyId = `c-${randomUUID().slice(0, 8)}`;
      const notify = { emails: [`admin@${companyId}.example`] };
      const system = { kind: 'http', baseUrl: platform.url } as const;
      await store.companies.put(
        companyId,
        () => ({ companyId, name: 'Test company', timeZone: 'UTC', notify, platform: system, ticketing: system }),
        actor,
      );
      const made = await store.rules.create(
        companyId,
        { name: 'Test rule', onFailure: 'hold', onUnknown: 'resend', ...rule },
        actor,
      );
      assert(typeof made === 'object');
      return this.companyOf({ companyId, relayId: made.rule.relayId, relayAccessToken: made.relayAccessToken });
    },

    /** Functions that send requests for an existing company and one of its rules. */
    companyOf(rule: RuleOfCompany) {
      const { companyId, relayId } = rule;
      return {
        ...companyAt(links.api, adminToken, rule),
        /**
         * Starts a chain of two actions. The first action is held, for at most this time. The time is in the input of the chain.
         */
        async startHeld(attentionWindowSeconds: number): Promise<string> {
          const chainId = randomUUID();
          const chain: Chain = {
            companyId,
            chainId,
            receivedAt: new Date().toISOString(),
            retryBudgetSeconds: 1,
            attentionWindowSeconds,
            actions: [
              { index: 0, relayId, action: 'platform_sendAssignment', assignmentId: '404404', groupIds: ['501'] },
              { index: 1, relayId, action: 'ticket_updateUDF', ticketId: 'T', field: 'F', value: 'v', comment: 'behind' },
            ],
          };
          await client.workflow.start('RuleChain', { workflowId: chainWorkflowId(chain), taskQueue, args: [chain] });
          return chainId;
        },
      };
    },

    /** Creates an assignment for one test. It is a draft, unless `facts` say otherwise. */
    async assignment(facts: Record<string, unknown> = {}): Promise<string> {
      const id = String(Math.floor(Math.random() * 1e12));
      await control('assignments', { id, ...facts }, 'POST');
      return id;
    },
    setStatus: (id: string, status: string) => control(`assignments/${id}/status`, { status }, 'POST'),
    /** Makes the platform fail until `heal`. */
    breakPlatform: (failure: Record<string, unknown>) => control('fail', failure),
    heal: () => fetch(`${platform.url}/control/fail`, { method: 'DELETE' }),
    breakMail: (failure: Record<string, unknown>) =>
      fetch(`${mail.uiUrl}/control/fail`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(failure),
      }),
    healMail: () => fetch(`${mail.uiUrl}/control/fail`, { method: 'DELETE' }),

    /** The calls that the platform got about these ids, in order. */
    async calls(...ids: string[]): Promise<Call[]> {
      const all = await json<Call[]>(`${platform.url}/journal`);
      return all.filter(({ path }) => ids.some((id) => path.split('/').includes(id)));
    },
    /** The number of effects that the platform got for an id. Repeated calls have the same key, and count once. */
    async effects(id: string): Promise<number> {
      return new Set((await this.calls(id)).map(({ idempotencyKey }) => idempotencyKey)).size;
    },
    /** The messages to an address, oldest first. */
    async inbox(address: string): Promise<Mail[]> {
      const { messages } = await json<{ messages: Mail[] }>(
        `${mail.uiUrl}/api/v1/search?query=${encodeURIComponent(`to:"${address}"`)}`,
      );
      return messages.reverse();
    },
    /** Waits for this number of messages to an address. */
    async mails(address: string, count: number): Promise<Mail[]> {
      return eventually(`${count} messages to ${address}`, async () => {
        const messages = await this.inbox(address);
        return messages.length >= count ? messages : new Unmet(messages.map(({ Subject }) => Subject));
      });
    },
    text: (message: Mail): Promise<{ Text: string; HTML: string }> => json(`${mail.uiUrl}/api/v1/message/${message.ID}`),
  };
}

export interface RuleOfCompany {
  companyId: string;
  relayId: string;
  relayAccessToken: string;
}

/** Functions that send requests to an API, for an existing company and one of its rules. */
export function companyAt(api: string, token: string, { companyId, relayId, relayAccessToken }: RuleOfCompany) {
  const url = `${api}/co/${companyId}`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

  const shown = (chainId: string) => fetch(`${url}/chains/${chainId}`, { headers });
  return {
    companyId,
    relayId,
    relayAccessToken,
    admin: `admin@${companyId}.example`,
    /** POSTs actions, to which the rule and its token are added. */
    async post(actions: Action[], more: Record<string, string> = {}): Promise<Response> {
      const body = JSON.stringify(actions.map((action) => ({ relayId, relayAccessToken, ...action })));
      return fetch(`${url}/relay`, { method: 'POST', headers: { 'content-type': 'application/json', ...more }, body });
    },
    /** POSTs actions, which must be accepted. */
    async start(actions: Action[]): Promise<z.infer<typeof acceptedSchema>> {
      const response = await this.post(actions);
      assert.equal(response.status, 202, await response.clone().text());
      return acceptedSchema.parse(await response.json());
    },
    /** @param partial - whether the test reads the chain without workers. */
    read(chainId: string, { partial = false } = {}): Promise<ChainResource> {
      return this.until(chainId, () => true, partial ? 'a partial answer' : 'a worker to answer', { partial });
    },
    /**
     * Waits until the chain meets the condition. If the worker of a busy machine answers too late, the API returns only how the
     * chain began. Such an answer counts only if the test reads without workers.
     */
    async until(
      chainId: string,
      wanted: (chain: ChainResource) => boolean,
      what: string,
      { partial = false } = {},
    ): Promise<ChainResource> {
      return eventually(what, async () => {
        // The server may close an idle connection at the moment when it is used again.
        const response = await shown(chainId).catch((error: unknown) => new Unmet(String(error)));
        if (response instanceof Unmet) return response;
        if (response.status === 503) return new Unmet(await response.text()); // The answer has a `Retry-After`.
        assert.equal(response.status, 200, await response.clone().text());
        const chain = chainSchema.parse(await response.json());
        return (chain.partial ?? false) === partial && wanted(chain) ? chain : new Unmet(chain);
      });
    },
    /** Waits until the chain has closed. */
    ended(chainId: string): Promise<ChainResource> {
      return this.until(chainId, ({ closedAt }) => closedAt !== undefined, 'the chain to close');
    },
    /** Waits until an action is in a state. */
    action(chainId: string, index: number, state: ActionResource['state']): Promise<ChainResource> {
      return this.until(chainId, ({ actions }) => actions[index]?.state === state, `action ${index} to be ${state}`);
    },
    steer(chainId: string, verb: string, index?: number, body?: unknown): Promise<Response> {
      const path = index === undefined ? verb : `actions/${index}/${verb}`;
      return fetch(`${url}/chains/${chainId}/${path}`, { method: 'POST', headers, body: JSON.stringify(body ?? {}) });
    },
  };
}

export interface Call {
  method: string;
  path: string;
  idempotencyKey?: string;
  body?: Record<string, unknown>;
  status?: number;
  repeat: boolean;
  at: string;
}

export interface Mail {
  ID: string;
  MessageID: string;
  Subject: string;
  To: { Address: string }[];
  Created: string;
}

/** Means that a condition is not met yet. `seen` is what the test has observed instead. */
export class Unmet {
  constructor(readonly seen: unknown) {}
}

/**
 * Waits at most three minutes for a condition. A busy machine may need two minutes. In a test of an upgrade, a task may be lost
 * on its way to the earlier version's worker, and Temporal may need two minutes to send it again. Polls often at first, then
 * twice a second, because each poll of a chain is a query for the server and the worker. A condition that is not met is `Unmet`,
 * never `false`.
 */
export async function eventually<Value extends object | string | number | true | undefined>(
  what: string,
  check: () => Promise<Value | Unmet>,
): Promise<Value> {
  const began = Date.now();
  for (;;) {
    const value = await check();
    if (!(value instanceof Unmet)) return value;
    const waited = Date.now() - began;
    if (waited > 180_000) assert.fail(`waited in vain for ${what}; last seen: ${JSON.stringify(value.seen, undefined, 1)}`);
    await sleep(Math.min(100 + waited / 5, 500));
  }
}

/** Repeats a request for a decision while the answer is 503. On a busy machine the API may exceed its time limit. */
export function decided(decide: () => Promise<Response>): Promise<Response> {
  return eventually('an answer other than 503', async () => {
    const response = await decide();
    return response.status === 503 ? new Unmet(await response.text()) : response;
  });
}

/**
 * Returns a history as a worker gets it, with the id of its own run. After a reset, the server's history has the id of the
 * earlier run.
 */
export async function replayable(client: Client, workflowId: string, runId?: string) {
  const handle = client.workflow.getHandle(workflowId, runId);
  const history = await handle.fetchHistory();
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  if (started) started.originalExecutionRunId = runId ?? (await handle.describe()).runId;
  return history;
}

/** A stack replays at most this number of histories. This is enough, because many chains of a test file are alike. */
const mostReplayed = extent(60, 200);

/** Checks that every history replays. Otherwise a restarted worker could not continue the chain. */
export async function replayAll(client: Client, taskQueue: string, keyring: Keyring | undefined): Promise<void> {
  const query = `TaskQueue = '${taskQueue}'`;
  const oneOf = Math.ceil((await client.workflow.count(query)).count / mostReplayed);
  async function* histories() {
    let place = 0;
    for await (const { workflowId, runId } of client.workflow.list({ query }))
      if (place++ % oneOf === 0)
        yield { workflowId: `${workflowId} ${runId}`, history: await replayable(client, workflowId, runId) };
  }
  for await (const { workflowId, error } of Worker.runReplayHistories(replayOptions(keyring), histories()))
    assert.equal(error, undefined, `${workflowId} does not replay: ${error?.message}`);
}

/** The server that `npm test` started for all files, or a new one for this file. */
async function temporalServer(closers: Closers): Promise<{ address: string; directory: string }> {
  const { RELAY_TEST_TEMPORAL_ADDRESS: address, RELAY_TEST_TEMPORAL_DIRECTORY: directory } = process.env;
  if (address && directory) return { address, directory };
  const dataDir = mkdtempSync(join(tmpdir(), 'relay-temporal-'));
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const server = await startTemporal({ dataDir, host: '127.0.0.1', port: 0, uiPort: 0, namespace: 'default', say });
  closers.add('Temporal', async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return { address: server.address, directory: dataDir };
}

/** Every text in a value, including bytes. */
export function readable(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.values(value).map(readable).join('\n');
}

/** An e-mail action to these addresses. */
export function email(emails: string[], more: Action = {}): Action {
  return { action: 'sendEmails', emails, subject: 'Subject', body: 'Text', bodyHtml: '<p>Text</p>', ...more };
}

/** A send of the assignment. */
export function send(platformAssignmentId: string, more: Action = {}): Action {
  return { action: 'platform_sendAssignment', platformAssignmentId, ...more };
}

/** A ticket update. */
export function udf(externalSystemTicketId: string, more: Action = {}): Action {
  return { action: 'ticket_updateUDF', externalSystemTicketId, cfName: 'Field', cfValue: 'value', ...more };
}
