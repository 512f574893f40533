/** `/admin/companies/{companyId}/pause`: planned downtime of a company or of one of its connectors; its actions wait and then go on. */

import type { Client } from '@temporalio/client';
import { type Context, Hono } from 'hono';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { type Pausable, pausable, pausableSchema } from '../../chain/pause-schema.js';
import { quoted } from '../../chains/filter.js';
import { resumeSignal } from '../../contract/messages.js';
import { endedPausesResponse, pauseRequest, pausesResponse } from '../../contract/pause.js';
import { Problem } from '../../contract/problem.js';
import type { Store } from '../../store/store.js';
import { type Authenticated, requireAdmin } from '../authentication.js';
import { limitBody, parseAs, readObject } from '../body.js';
import { notFound } from '../problem.js';
import { noCompany } from './companies.js';

export interface PauseOptions {
  store: Pick<Store, 'pauses' | 'companies'>;
  client: Client;
  adminToken: string;
  log: Logger;
}

export function pauseRoutes({ store, client, adminToken, log }: PauseOptions): Hono<Authenticated> {
  const path = '/admin/companies/:companyId/pause';
  return new Hono<Authenticated>()
    .use(path, requireAdmin(adminToken), limitBody(16 * 1024))
    .get(path, async (c) => c.json(await current(store, c.req.param('companyId'))))
    .put(path, async (c) => {
      const companyId = c.req.param('companyId');
      const { what, reason, until } = parseAs(pauseRequest, await readObject(c));
      const pause = { what, ...(reason && { reason }), ...(until && { until: new Date(until).toISOString() }) };
      if (!(await store.pauses.begin(companyId, pause, c.get('actor')))) throw noCompany(companyId);
      return c.json(await current(store, companyId));
    })
    .delete(path, async (c) => {
      const companyId = c.req.param('companyId');
      const asked = readWhat(c);
      const ended = await store.pauses.end(companyId, asked, c.get('actor'));
      if (!ended) throw noCompany(companyId);
      if (ended.length === 0) throw notFound(`pause of ${asked === undefined ? '' : `${asked} of `}company ${companyId}`);
      // Nobody waits for that: whom it does not reach looks again within minutes.
      void wake(client, companyId).catch((error: unknown) =>
        log.warn({ err: error, companyId }, 'what is paused could not be woken'),
      );
      return c.json(endedPausesResponse.parse({ ended }));
    });
}

async function current(store: PauseOptions['store'], companyId: string): Promise<z.infer<typeof pausesResponse>> {
  const [company, pauses] = await Promise.all([store.companies.get(companyId), store.pauses.current(companyId)]);
  if (!company) throw noCompany(companyId);
  return pausesResponse.parse({ pauses });
}

/** `?what=`; absent: whatever is paused. */
function readWhat(c: Context): Pausable | undefined {
  const parsed = pausableSchema.optional().safeParse(c.req.query('what'));
  if (parsed.success) return parsed.data;
  throw new Problem('invalid-query', `what must be one of ${pausable.join(', ')}.`);
}

/** Tells every workflow of the company that waits for a pause to look again. */
async function wake(client: Client, companyId: string): Promise<void> {
  const query = `RelayCompanyId = ${quoted(companyId)} AND RelayPaused = true AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of client.workflow.list({ query })) {
    // One that has just closed waits for nothing.
    await client.workflow
      .getHandle(workflowId)
      .signal(resumeSignal)
      .catch(() => {});
  }
}
