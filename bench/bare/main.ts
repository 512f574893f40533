/**
 * The bare side of the bench: a good engineer's first version on Temporal, without the relay. This program accepts the
 * same requests as the relay, but checks, stores and notifies nothing. Arguments: `api`, `worker` or both.
 */

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { serve } from '@hono/node-server';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { Hono } from 'hono';
import * as activities from './activities.js';
import type { chain } from './workflows.js';

const { PORT, TEMPORAL_ADDRESS: address, TASK_QUEUE: taskQueue = 'bare', WORKFLOW_BUNDLE = '' } = process.env;
const namespace = process.env.TEMPORAL_NAMESPACE ?? 'default';

if (process.argv.includes('api')) {
  const client = new Client({ connection: await Connection.connect({ address }), namespace });
  const app = new Hono()
    .get('/readyz', (c) => c.text('ready'))
    .post('/co/:companyId/relay', async (c) => {
      const workflowId = `bare:${c.req.param('companyId')}:${randomUUID()}`;
      await client.workflow.start<typeof chain>('chain', { workflowId, taskQueue, args: [await c.req.json()] });
      return c.json({ workflowId }, 202);
    });
  serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(PORT) });
}

if (process.argv.includes('worker')) {
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address }),
    namespace,
    taskQueue,
    // `npm run build` has made this bundle of the workflows. A bundler in this process would add to the measured memory.
    workflowBundle: { code: readFileSync(WORKFLOW_BUNDLE, 'utf8') },
    activities,
    // These values are the same as in src/worker/worker.ts.
    maxCachedWorkflows: 1000,
    maxConcurrentActivityTaskExecutions: 400,
  });
  await worker.run();
  process.exit();
}
