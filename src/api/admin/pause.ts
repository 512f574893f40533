/** `/admin/companies/{companyId}/pause`: planned downtime of a company or of one of its connectors. Its actions wait. */

import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { z } from 'zod';
import { resumeChains } from '../../chains/steer.js';
import { endedPausesResponse, pausableSchema, pauseRequest, pausesResponse } from '../../contract/pause.js';
import type { Store } from '../../store/store.js';
import { notFound } from '../problems.js';
import { type Route, route } from '../route.js';
import { noCompany } from './missing.js';

interface PauseOptions {
  store: Pick<Store, 'pauses' | 'companies'>;
  client: Client;
  log: Logger;
}

export function pauseRoutes({ store, client, log }: PauseOptions): Route[] {
  const current = async (companyId: string): Promise<z.infer<typeof pausesResponse>> => {
    const [company, pauses] = await Promise.all([store.companies.get(companyId), store.pauses.current(companyId)]);
    if (!company) throw noCompany(companyId);
    return { pauses };
  };
  return [
    route(
      {
        method: 'get',
        path: '/admin/companies/:companyId/pause',
        id: 'getPauses',
        access: 'admin',
        summary: 'Read the pauses of a company',
        answers: { 200: { description: 'Those that are on.', body: pausesResponse } },
        problems: ['not-found'],
      },
      async (c) => c.json(await current(c.req.param('companyId'))),
    ),
    route(
      {
        method: 'put',
        path: '/admin/companies/:companyId/pause',
        id: 'pauseCompany',
        access: 'admin',
        summary: 'Pause a company or one of its connectors',
        description:
          'For planned downtime: what needs it waits, `pending`, without losing attempts or time, and goes on in order when the' +
          ' pause is over; the contacts of a rule of which something waits are told once.',
        body: pauseRequest,
        bodyOptional: true,
        maxBodyBytes: 16 * 1024,
        answers: { 200: { description: 'Those that are on.', body: pausesResponse } },
        problems: ['not-found'],
      },
      async (c, { actor, body: { what, reason, until } }) => {
        const companyId = c.req.param('companyId');
        const pause = { what, ...(reason && { reason }), ...(until && { until: new Date(until).toISOString() }) };
        if (!(await store.pauses.begin(companyId, pause, actor))) throw noCompany(companyId);
        return c.json(await current(companyId));
      },
    ),
    route(
      {
        method: 'delete',
        path: '/admin/companies/:companyId/pause',
        id: 'endPause',
        access: 'admin',
        summary: 'End a pause',
        query: z.object({ what: pausableSchema.optional().describe('Absent: whatever is paused.') }),
        answers: { 200: { description: 'What was paused goes on.', body: endedPausesResponse } },
        problems: ['not-found'],
      },
      async (c, { actor, query: { what } }) => {
        const companyId = c.req.param('companyId');
        const ended = await store.pauses.end(companyId, what, actor);
        if (!ended) throw noCompany(companyId);
        if (ended.length === 0) throw notFound(`pause of ${what === undefined ? '' : `${what} of `}company ${companyId}`);
        // Nobody waits for that: whom it does not reach looks again within minutes.
        void resumeChains(client, companyId).catch((error: unknown) =>
          log.warn({ err: error, companyId }, 'what is paused could not be woken'),
        );
        return c.json({ ended });
      },
    ),
  ];
}
