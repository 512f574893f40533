/** The log, the metrics and the health check of every process. */

import { setTimeout as sleep } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';
import type { Client } from '@temporalio/client';
import { Hono, type MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { pino } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { noticeKinds } from '../contract/notices.js';

export type Log = pino.Logger;

/** Writes JSON lines, by default to standard output. Never logs a token, password, e-mail address or body. */
export function createLog(level: string, destination?: pino.DestinationStream): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (facts) => withoutSecrets(facts, shownInLog) },
      // Hides e-mail addresses in texts, and users and passwords in URLs.
      hooks: { streamWrite: (line) => (line.includes('@') ? line.replace(word, hideAddress) : line) },
    },
    destination,
  );
}

/** The values of these fields are never logged, at the top level or one level below. */
const secretFacts = new Set(['authorization', 'cookie', 'password', 'secret', 'token', 'relayAccessToken']);

/** Replaces pino's `redact`, which takes seven times as long as all other work for a line. */
const withoutSecrets = (facts: object, shown: (value: unknown) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, secretFacts.has(name) ? '…' : shown(value)]));

/** Finds an escape sequence, the user in a URL, or a possible e-mail address in a line of JSON, in linear time. */
const word = /\\(?:u[\da-fA-F]{4}|.)|\/\/[^\s"/]*@|[\p{L}\p{N}.!#$%&'*+=?^_{|}~@-]+/gu;
const hideAddress = (text: string) => (!text.startsWith('\\') && /^\/\/|.@[\p{L}\p{N}]/u.test(text) ? '…' : text);

/** The log omits the messages of these errors, because such a message may quote outside systems. Temporal has the whole failure. */
const quoting = ['ConnectorError', 'ApplicationFailure', 'ActivityFailure', 'ChildWorkflowFailure', 'WorkflowFailedError'];

/** The error without the statements, parameters and rows that database drivers add. */
function shownInLog(value: unknown): unknown {
  if (!isNativeError(value))
    return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
      ? withoutSecrets(value, (inner) => inner)
      : value;
  const { name, message, stack = '', cause } = value;
  const frames = stack.slice(Math.max(0, stack.search(/^ +at /m)));
  const quotes = quoting.includes(name);
  return {
    name,
    type: failureType(value),
    ...('code' in value && { code: value.code }),
    ...(!quotes && { message }),
    ...(frames.trimStart().startsWith('at ') && { stack: frames }),
    ...(cause !== undefined && { cause: shownInLog(cause) }),
  };
}

/** Metrics for Prometheus; see docs/telemetry.md. Labels come from our code, never from a company, so there are few labels. */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests = this.#histogram(
    'relay_http_request_duration_seconds',
    'Requests to the API by method, route and status.',
    ['method', 'route', 'status'],
  );
  readonly accepted = this.#counter('relay_accepted_requests_total', 'Requests that were accepted as new chains.');
  readonly events = this.#counter(
    'relay_rule_events_total',
    'Events of rules with contents by outcome: chain, repeated (answered as before), not-applicable or refused.',
    ['outcome'],
  );
  readonly refused = this.#counter(
    'relay_refused_requests_total',
    'Refused requests of known senders by reason and result: kept, or dropped because there were too many.',
    ['reason', 'result'],
  );
  readonly failedAuthentications = this.#counter(
    'relay_failed_authentications_total',
    'Requests that were refused because authentication failed, by reason.',
    ['reason'],
  );
  readonly boundsMet = this.#counter(
    'relay_bounds_met_total',
    'Requests that were refused, and effects that wait, because of a limit in docs/limits.md, by the name of the limit.',
    ['bound'],
  );
  readonly activities = this.#counter(
    'relay_activities_total',
    'Attempts at activities by result: ok, skipped, or the type of the failure.',
    ['activity', 'result'],
  );
  readonly lostEvents = this.#counter(
    'relay_lost_event_copies_total',
    'Events that ran, but whose copy is lost, because too many copies waited for the database, or the database refused a copy.',
  );
  readonly lostRows = this.#counter(
    'relay_lost_chain_rows_total',
    'Rows of chains that the database refused. Lists and search do not show these chains.',
  );
  /** Has buckets up to three days, which is the default attention window. */
  readonly effectDelay = this.#histogram(
    'relay_effect_delay_seconds',
    'Time from the due time of an action to the end of its effect, with all waits, retries and holds.',
    ['activity'],
    [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600, 21_600, 86_400, 259_200],
  );
  readonly troubles = this.#counter(
    'relay_action_troubles_total',
    'Actions by the kind of their notice: needs-attention, failed, partly-failed, gave-up, recovered.',
    ['kind'],
  );
  readonly notices = this.#counter(
    'relay_notices_total',
    'Attempts to deliver a notice, by kind and result: delivered; silent, if its cause is silenced; joined, if a digest contains ' +
      'the notice; undelivered, if no contact got the notice, or a contact may still get it.',
    ['kind', 'result'],
  );
  readonly noticeMessages = this.#counter(
    'relay_notice_messages_total',
    'Delivered messages with notices, one for each contact, by channel: mail or webhook.',
    ['channel'],
  );
  readonly collectorLag = this.#gauge(
    'relay_collector_lag_seconds',
    'How late the closed chains of Temporal reach the database.',
  );
  readonly forgotten = this.#gauge(
    'relay_forgotten_chains',
    'Chains that Temporal has lost, found within the last day. These chains do not run.',
  );
  readonly retention = this.#gauge(
    'relay_retention_seconds',
    'How long Temporal keeps a closed chain; 0 until a worker has read this time from Temporal.',
  );
  readonly needingAttention = this.#gauge(
    'relay_chains_needing_attention',
    'Open chains with an action that is held; NaN if Temporal does not answer.',
  );
  readonly oldestUnattended = this.#gauge(
    'relay_oldest_unattended_seconds',
    'How long the oldest open chain in this state has needed attention, with an error of 10 %; 0 if no chain needs attention.',
  );
  readonly noticesOverdue = this.#gauge(
    'relay_notices_overdue',
    'Notices that the relay has tried to deliver for more than ten minutes; NaN if Temporal does not answer.',
  );

  /** @param sdk - the URL of the Temporal SDK's metrics of this process; absent if the process has no worker. */
  constructor(private readonly sdk?: string) {
    collectDefaultMetrics({ register: this.registry });
    // Starts these counters at 0, so that the first event shows as an increase.
    for (const kind of noticeKinds) this.troubles.inc({ kind }, 0);
  }

  get middleware(): MiddlewareHandler {
    return async (c, next) => {
      const end = this.#requests.startTimer({ method: c.req.method });
      await next();
      end({ route: routePath(c, -1), status: c.res.status });
    };
  }

  /** Metrics of this process and of the SDK, in Prometheus' text format. */
  async text(): Promise<string> {
    const sdk = async (url: string) => (await fetch(url, { signal: AbortSignal.timeout(sdkTimeoutMs) })).text();
    const parts = [this.registry.metrics()];
    if (this.sdk) parts.push(sdk(this.sdk).catch(() => '')); // During a shutdown, the SDK's port closes first.
    return (await Promise.all(parts)).join('');
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[] = []) {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #histogram<Label extends string>(name: string, help: string, labelNames: Label[], buckets?: number[]) {
    return new Histogram({ name, help, labelNames, registers: [this.registry], ...(buckets && { buckets }) });
  }

  /** The value is NaN until the first count. */
  #gauge(name: string, help: string) {
    const gauge = new Gauge({ name, help, registers: [this.registry] });
    gauge.set(Number.NaN);
    return gauge;
  }
}

const sdkTimeoutMs = 2_000;

export function failureType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'type' in error && typeof error.type === 'string' ? error.type : error.name;
}

const healthTimeoutMs = 3_000;

export interface HealthOptions {
  client: Client;
  store: { ping(): Promise<void> };
  metrics: Metrics;
  stop?: AbortSignal; // aborts when the process stops; `/readyz` then answers 503
}

export function healthRoutes({ client, store, metrics, stop }: HealthOptions): Hono {
  const unreached = 'cannot be reached';
  const state = (check: Promise<unknown>) => {
    const checked = check.then(() => 'ok').catch(() => unreached);
    return Promise.race([checked, sleep(healthTimeoutMs, unreached, { ref: false })]);
  };
  const look = () => {
    const { namespace } = client.options;
    return Promise.all([
      state(client.withDeadline(Date.now() + healthTimeoutMs, () => client.workflowService.describeNamespace({ namespace }))),
      state(store.ping()),
    ]);
  };
  // Anybody may call `/readyz`, so `/readyz` checks the systems only once a second.
  let last: { at: number; looked: ReturnType<typeof look> } | undefined;
  const reached = () => {
    if (!last || performance.now() - last.at > 1000) last = { at: performance.now(), looked: look() };
    return last.looked;
  };
  return new Hono()
    .get('/healthz', (c) => c.json({ status: 'ok' }))
    .get('/readyz', async (c) => {
      const [temporal, database] = await reached();
      const ready = temporal === 'ok' && database === 'ok' ? 'ready' : 'not ready';
      const status = stop?.aborted ? 'stopping' : ready;
      return c.json({ status, temporal, database }, status === 'ready' ? 200 : 503);
    })
    .get('/metrics', async (c) => c.body(await metrics.text(), 200, { 'Content-Type': metrics.registry.contentType }));
}
