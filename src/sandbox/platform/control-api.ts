/** How a person or a test tells the pretend platform what to be: failing or well, with which assignments, from the beginning. */

import type { Hono } from 'hono';
import { z } from 'zod';
import { faultRoutes } from '../fault.js';
import { assignmentIdPattern, assignmentSchema, failureSchema, locationSchema } from './records.js';
import { blankAssignment } from './seed.js';
import type { PlatformState } from './state.js';

const changeSchema = assignmentSchema
  .omit({ sends: true })
  .extend({ id: z.string().regex(assignmentIdPattern), location: locationSchema.partial() })
  .partial();

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
  return faultRoutes(state.fault, failureSchema, control)
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
      const { id = nextId(state), location, ...facts } = change.data;
      const before = state.assignments.get(id);
      const base = before ?? blankAssignment;
      const assignment = { ...base, ...facts, id, location: { ...base.location, ...location } };
      state.put('assignments', id, assignment);
      return c.json(assignment, before === undefined ? 201 : 200);
    })
    .post('/control/assignments/:id/status', async (c) => {
      const change = z.object({ status: z.string().min(1) }).safeParse(await c.req.json().catch(() => undefined));
      if (!change.success) return c.json({ error: z.prettifyError(change.error) }, 400);
      const before = state.assignments.get(c.req.param('id'));
      if (before === undefined) return c.json({ error: `no assignment ${c.req.param('id')}` }, 404);
      const assignment = { ...before, ...change.data };
      state.put('assignments', assignment.id, assignment);
      return c.json(assignment);
    });
}

function nextId(state: PlatformState): string {
  const numbers = [...state.assignments.keys()].map(Number).filter(Number.isSafeInteger);
  return String(Math.max(1000, ...numbers) + 1);
}
