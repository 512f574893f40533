/** What is counted, for Prometheus. Labels are names from our own code, never a company or an id: their number is bounded. */

import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = new Histogram({
    name: 'relay_http_request_duration_seconds',
    help: 'Requests to the API by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    registers: [this.#registry],
  });
  readonly #activities = new Counter({
    name: 'relay_activities_total',
    help: 'Attempts at activities by result: ok, or the type of the failure.',
    labelNames: ['activity', 'result'],
    registers: [this.#registry],
  });

  readonly #notices = new Counter({
    name: 'relay_notices_total',
    help:
      'Attempts at notices by kind and result: delivered, or undelivered where a contact that may still be reached, ' +
      'or everybody, has not got it.',
    labelNames: ['kind', 'result'],
    registers: [this.#registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
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

  notice(kind: string, result: 'delivered' | 'undelivered'): void {
    this.#notices.inc({ kind, result });
  }

  /** The text that Prometheus reads, and its content type. */
  async expose(): Promise<{ text: string; contentType: string }> {
    return { text: await this.#registry.metrics(), contentType: this.#registry.contentType };
  }
}

function failureType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'type' in error && typeof error.type === 'string' ? error.type : error.name;
}
