/** `/admin/companies/{companyId}/pause`: planned downtime of a company or of one of its connectors; its actions wait and then go on. */

import type { Client } from '@temporalio/client';
import { type Context, Hono } from 'hono';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type Pausable, pausable } from '../../chain/pause.js';
import { quoted } from '../../chains/filter.js';
import { resumeSignal } from '../../contract/messages.js';
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

const what = z.enum(pausable, `must be one of ${pausable.join(', ')}`);

export const pauseRequest = z.strictObject({
  what: what.default('all').describe('`all`: every connector of the company.'),
  reason: z
    .string()
    .trim()
    .min(1, 'must not be blank')
    .max(500)
    .nullish()
    .describe('For those who wonder why their actions wait.'),
  until: z.iso
    .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone, such as 2026-07-01T12:00:00Z' })
    .refine((time) => Date.parse(time) > Date.now(), 'must be in the future')
    .nullish()
    .describe('When it ends by itself. Absent: when it is ended.'),
});
export const pauseSchema = z.object({
  what,
  since: z.iso.datetime(),
  until: z.iso.datetime().optional(),
  reason: z.string().optional(),
});
export const pausesResponse = z.object({ pauses: z.array(pauseSchema).describe('Those that are on.') });
export const endedPausesResponse = z.object({ ended: z.array(what) });

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
  const parsed = what.optional().safeParse(c.req.query('what'));
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
