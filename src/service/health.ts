/** What every process answers about itself: whether it is alive, whether it can do its work, and what it has counted. */

import type { Client } from '@temporalio/client';
import { Hono } from 'hono';
import type { Metrics } from './metrics.js';
import { withTimeout } from './with-timeout.js';

const timeoutMs = 3_000;

export interface HealthOptions {
  client: Client;
  /** Its `ping` rejects where the database cannot be reached. */
  store: { ping(): Promise<void> };
  metrics: Metrics;
}

export function healthRoutes({ client, store, metrics }: HealthOptions): Hono {
  const state = (check: Promise<unknown>) =>
    check.then(
      () => 'ok',
      () => 'cannot be reached',
    );
  const temporal = () =>
    client.withDeadline(Date.now() + timeoutMs, () =>
      client.workflowService.describeNamespace({ namespace: client.options.namespace }),
    );
  return new Hono()
    .get('/healthz', (c) => c.json({ status: 'ok' }))
    .get('/readyz', async (c) => {
      const [reached, stored] = await Promise.all([
        state(temporal()),
        state(withTimeout(timeoutMs, store.ping(), 'no answer in time')),
      ]);
      const ready = reached === 'ok' && stored === 'ok';
      return c.json({ status: ready ? 'ready' : 'not ready', temporal: reached, database: stored }, ready ? 200 : 503);
    })
    .get('/metrics', async (c) => {
      const { text, contentType } = await metrics.expose();
      return c.body(text, 200, { 'Content-Type': contentType });
    });
}
