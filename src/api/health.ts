/** Whether the process is alive, whether it can do its work, and what it has counted. */

import type { Client } from '@temporalio/client';
import { Hono } from 'hono';
import type { Metrics } from '../service/metrics.js';
import { withTimeout } from '../service/with-timeout.js';
import type { Store } from '../store/store.js';

export function healthRoutes({ client, store, metrics }: { client: Client; store: Pick<Store, 'ping'>; metrics: Metrics }): Hono {
  const checks = {
    temporal: () =>
      client.withDeadline(Date.now() + 3_000, () =>
        client.workflowService.describeNamespace({ namespace: client.options.namespace }),
      ),
    database: () => withTimeout(3_000, store.ping(), 'no answer in time'),
  };
  return aliveRoutes(metrics).get('/readyz', async (c) => {
    const results = await Promise.all(
      Object.entries(checks).map(
        async ([name, check]) =>
          [
            name,
            await check().then(
              () => 'ok',
              () => 'cannot be reached',
            ),
          ] as const,
      ),
    );
    const ready = results.every(([, result]) => result === 'ok');
    return c.json({ status: ready ? 'ready' : 'not ready', ...Object.fromEntries(results) }, ready ? 200 : 503);
  });
}

/** `/healthz` and `/metrics`: all that a worker answers. */
export function aliveRoutes(metrics: Metrics): Hono {
  return new Hono()
    .get('/healthz', (c) => c.json({ status: 'ok' }))
    .get('/metrics', async (c) => {
      const { text, contentType } = await metrics.expose();
      return c.body(text, 200, { 'Content-Type': contentType });
    });
}
