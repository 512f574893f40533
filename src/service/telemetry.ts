/** What every process tells about itself: its log, what it has counted, and whether it can do its work. */

import { setTimeout as sleep } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';
import type { Client } from '@temporalio/client';
import { Hono, type MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { pino } from 'pino';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

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
        log: (facts) => Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, shownInLog(value)])),
      },
      // What is left in a text: e-mail addresses, and users and passwords in URLs.
      hooks: { streamWrite: (line) => (line.includes('@') ? line.replace(word, hideAddress) : line) },
    },
    destination,
  );
}

/** Of a line of JSON: an escape, the user in a URL, or all that an e-mail address can consist of. Takes each character once. */
const word = /\\(?:u[\da-fA-F]{4}|.)|\/\/[^\s"/]*@|[\p{L}\p{N}.!#$%&'*+=?^_{|}~@-]+/gu;
const hideAddress = (text: string) => (!text.startsWith('\\') && /^\/\/|.@[\p{L}\p{N}]/u.test(text) ? '…' : text);

/** Their messages quote what an outside system said, or the data of an event: the failure in Temporal has it all. */
const quoting = ['ConnectorError', 'ApplicationFailure', 'ActivityFailure', 'ChildWorkflowFailure', 'WorkflowFailedError'];

/** Errors with nothing but what tells where they come from: drivers add statements, parameters and rows. */
function shownInLog(value: unknown): unknown {
  if (!isNativeError(value)) return value;
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

/** For Prometheus. Labels are names from our own code, never a company or an id: their number is bounded. */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests = new Histogram({
    name: 'relay_http_request_duration_seconds',
    help: 'Requests to the API by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    registers: [this.registry],
  });
  readonly #activities = new Counter({
    name: 'relay_activities_total',
    help: 'Attempts at activities by result: ok, or the type of the failure.',
    labelNames: ['activity', 'result'],
    registers: [this.registry],
  });
  readonly notices = new Counter({
    name: 'relay_notices_total',
    help:
      'Attempts at notices by kind and result: delivered, or undelivered where a contact that may still be reached, ' +
      'or everybody, has not got it.',
    labelNames: ['kind', 'result'],
    registers: [this.registry],
  });

  readonly refused = new Counter({
    name: 'relay_refused_requests_total',
    help: 'Refused requests of known senders by reason and result: kept, or dropped where there were too many.',
    labelNames: ['reason', 'result'],
    registers: [this.registry],
  });
  readonly failedAuthentications = new Counter({
    name: 'relay_failed_authentications_total',
    help: 'Requests that were not let in, by reason.',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  readonly boundsMet = new Counter({
    name: 'relay_bounds_met_total',
    help: 'Requests that were refused because a bound of docs/limits.md was met, by its name.',
    labelNames: ['bound'],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  get middleware(): MiddlewareHandler {
    return async (c, next) => {
      const end = this.#requests.startTimer({ method: c.req.method });
      await next();
      end({ route: routePath(c, -1), status: c.res.status });
    };
  }

  /** Counts every attempt at these activities. */
  count<Activities extends object>(activities: Activities): Activities {
    const counted = Object.entries(activities).map(([activity, run]: [string, (...input: unknown[]) => Promise<unknown>]) => [
      activity,
      async (...input: unknown[]) => {
        try {
          const result = await run(...input);
          this.#activities.inc({ activity, result: 'ok' });
          return result;
        } catch (error) {
          this.#activities.inc({ activity, result: failureType(error) });
          throw error;
        }
      },
    ]);
    return Object.fromEntries(counted);
  }
}

function failureType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'type' in error && typeof error.type === 'string' ? error.type : error.name;
}

const healthTimeoutMs = 3_000;

export type HealthOptions = { client: Client; store: { ping(): Promise<void> }; metrics: Metrics };

export function healthRoutes({ client, store, metrics: { registry } }: HealthOptions): Hono {
  const unreached = 'cannot be reached';
  const state = (check: Promise<unknown>) => {
    const checked = check.then(() => 'ok').catch(() => unreached);
    return Promise.race([checked, sleep(healthTimeoutMs, unreached, { ref: false })]);
  };
  return new Hono()
    .get('/healthz', (c) => c.json({ status: 'ok' }))
    .get('/readyz', async (c) => {
      const { namespace } = client.options;
      const [temporal, database] = await Promise.all([
        state(client.withDeadline(Date.now() + healthTimeoutMs, () => client.workflowService.describeNamespace({ namespace }))),
        state(store.ping()),
      ]);
      const ready = temporal === 'ok' && database === 'ok';
      return c.json({ status: ready ? 'ready' : 'not ready', temporal, database }, ready ? 200 : 503);
    })
    .get('/metrics', async (c) => c.body(await registry.metrics(), 200, { 'Content-Type': registry.contentType }));
}
