/** How a person or a test tells the pretend platform what to be: failing or well, with which assignments, from the beginning. */

import type { Hono } from 'hono';
import { z } from 'zod';
import { faultRoutes, platformFailureSchema } from '../fault.js';
import { changeSchema } from './records.js';
import type { PlatformState } from './state.js';

/** What can be asked under `/control`, with bodies to begin with. */
const requests = {
  'PUT /control/fail': { status: 404, path: 'send' },
  'DELETE /control/fail': null,
  'POST /control/assignments': { id: '2001', status: 'draft' },
  'POST /control/assignments/:id/status': { status: 'accepted' },
  'POST /control/reset': null,
};

export function controlApi(state: PlatformState): Hono {
  const control = () => ({
    assignments: [...state.assignments.keys()],
    tickets: [...state.tickets.keys()],
    calls: state.calls.size,
    requests,
  });
  return faultRoutes(state.fault, platformFailureSchema, control)
    .get('/journal', (c) => c.json([...state.calls.values()]))
    .delete('/journal', (c) => {
      state.clearJournal();
      return c.json([]);
    })
    .post('/control/reset', (c) => {
      state.reset();
      return c.json(control());
    })
    .post('/control/assignments', async (c) => {
      const change = changeSchema.safeParse(await c.req.json().catch(() => undefined));
      if (!change.success) return c.json({ error: z.prettifyError(change.error) }, 400);
      const { id = nextId(state) } = change.data;
      const status = state.assignments.has(id) ? 200 : 201;
      return c.json(state.change(id, change.data), status);
    })
    .post('/control/assignments/:id/status', async (c) => {
      const id = c.req.param('id');
      const change = changeSchema
        .pick({ status: true })
        .required()
        .safeParse(await c.req.json().catch(() => undefined));
      if (!change.success) return c.json({ error: z.prettifyError(change.error) }, 400);
      if (!state.assignments.has(id)) return c.json({ error: `no assignment ${id}` }, 404);
      return c.json(state.change(id, change.data));
    });
}

function nextId(state: PlatformState): string {
  const numbers = [...state.assignments.keys()].map(Number).filter(Number.isSafeInteger);
  return String(Math.max(1000, ...numbers) + 1);
}
