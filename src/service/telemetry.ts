/** What every process tells about itself: its log, what it has counted, and whether it can do its work. */

import { setTimeout as sleep } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';
import type { Client } from '@temporalio/client';
import { Hono, type MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { pino } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { noticeKinds } from '../contract/notices.js';

export type Log = pino.Logger;

/** JSON lines, on standard output unless said otherwise. Never a token, a password, an e-mail address or a body. */
export function createLog(level: string, destination?: pino.DestinationStream): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (facts) => withoutSecrets(facts, shownInLog),
      },
      // What is left in a text: e-mail addresses, and users and passwords in URLs.
      hooks: { streamWrite: (line) => (line.includes('@') ? line.replace(word, hideAddress) : line) },
    },
    destination,
  );
}

/** Facts that are never to be logged, should they be handed to the log all the same: there, or one level below. */
const secretFacts = new Set(['authorization', 'cookie', 'password', 'secret', 'token', 'relayAccessToken']);

/** What pino's `redact` does, which takes seven times as long as all else about a line. */
function withoutSecrets(facts: object, shown: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, secretFacts.has(name) ? '…' : shown(value)]));
}

/** Of a line of JSON: an escape, the user in a URL, or all that an e-mail address can consist of. Takes each character once. */
const word = /\\(?:u[\da-fA-F]{4}|.)|\/\/[^\s"/]*@|[\p{L}\p{N}.!#$%&'*+=?^_{|}~@-]+/gu;
const hideAddress = (text: string) => (!text.startsWith('\\') && /^\/\/|.@[\p{L}\p{N}]/u.test(text) ? '…' : text);

/** Their messages quote what an outside system said, or the data of an event: the failure in Temporal has it all. */
const quoting = ['ConnectorError', 'ApplicationFailure', 'ActivityFailure', 'ChildWorkflowFailure', 'WorkflowFailedError'];

/** Errors with nothing but what tells where they come from: drivers add statements, parameters and rows. */
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

/**
 * For Prometheus; docs/telemetry.md has the table. Labels are names from our own code, never a company or an id: their number is
 * bounded.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests = this.#histogram(
    'relay_http_request_duration_seconds',
    'Requests to the API by method, route and status.',
    ['method', 'route', 'status'],
  );
  readonly accepted = this.#counter('relay_accepted_requests_total', 'Requests that were accepted as new chains.');
  readonly refused = this.#counter(
    'relay_refused_requests_total',
    'Refused requests of known senders by reason and result: kept, or dropped where there were too many.',
    ['reason', 'result'],
  );
  readonly failedAuthentications = this.#counter(
    'relay_failed_authentications_total',
    'Requests that were not let in, by reason.',
    ['reason'],
  );
  readonly boundsMet = this.#counter(
    'relay_bounds_met_total',
    'Requests that were refused, and effects that wait, because a bound of docs/limits.md was met, by its name.',
    ['bound'],
  );
  readonly activities = this.#counter(
    'relay_activities_total',
    'Attempts at activities by result: ok, skipped, or the type of the failure.',
    ['activity', 'result'],
  );
  /** From ten milliseconds to three days, the standard attention window. */
  readonly effectDelay = this.#histogram(
    'relay_effect_delay_seconds',
    'Time from when an action was due to when an effect of it was done, with all waits, retries and holds.',
    ['activity'],
    [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600, 21_600, 86_400, 259_200],
  );
  readonly troubles = this.#counter(
    'relay_action_troubles_total',
    'Actions by what people are told of them: needs-attention, failed, partly-failed, gave-up, recovered.',
    ['kind'],
  );
  readonly notices = this.#counter(
    'relay_notices_total',
    'Attempts at notices by kind and result: delivered, silent, or undelivered where a contact that may still be ' +
      'reached, or everybody, has not got it.',
    ['kind', 'result'],
  );
  readonly needingAttention = this.#gauge(
    'relay_chains_needing_attention',
    'Open chains with an action that is held; NaN where Temporal does not say.',
  );
  readonly oldestUnattended = this.#gauge(
    'relay_oldest_unattended_seconds',
    'For how long the chain that has needed attention longest has needed it, to a tenth; 0: none does.',
  );
  readonly noticesOverdue = this.#gauge(
    'relay_notices_overdue',
    'Notices that have been on their way for more than ten minutes; NaN where Temporal does not say.',
  );

  /** @param sdk - where the Temporal SDK of this process tells its own, in the same format; absent: it runs no worker. */
  constructor(private readonly sdk?: string) {
    collectDefaultMetrics({ register: this.registry });
    // What is rare is seen to rise from 0.
    for (const kind of noticeKinds) this.troubles.inc({ kind }, 0);
  }

  get middleware(): MiddlewareHandler {
    return async (c, next) => {
      const end = this.#requests.startTimer({ method: c.req.method });
      await next();
      end({ route: routePath(c, -1), status: c.res.status });
    };
  }

  /** All of this process, and the SDK's, in the text format of Prometheus. */
  async text(): Promise<string> {
    const sdk = async (url: string) => (await fetch(url, { signal: AbortSignal.timeout(sdkTimeoutMs) })).text();
    const parts = [this.registry.metrics()];
    if (this.sdk) parts.push(sdk(this.sdk).catch(() => '')); // It is gone while the process stops.
    return (await Promise.all(parts)).join('');
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[] = []) {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #histogram<Label extends string>(name: string, help: string, labelNames: Label[], buckets?: number[]) {
    return new Histogram({ name, help, labelNames, registers: [this.registry], ...(buckets && { buckets }) });
  }

  /** Not known until it has been counted. */
  #gauge(name: string, help: string) {
    const gauge = new Gauge({ name, help, registers: [this.registry] });
    gauge.set(Number.NaN);
    return gauge;
  }
}

const sdkTimeoutMs = 2_000;

/** What metrics and lines of the log say of a failure. */
export function failureType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'type' in error && typeof error.type === 'string' ? error.type : error.name;
}

const healthTimeoutMs = 3_000;

export interface HealthOptions {
  client: Client;
  store: { ping(): Promise<void> };
  metrics: Metrics;
  stop?: AbortSignal; // of the process: it is not ready from then on
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
  // Anybody may ask, as often as they like: at most one look a second.
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
