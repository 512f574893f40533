/** How a person or a test tells the pretend platform what to be: failing or well, with which assignments, from the beginning. */

import { Hono } from 'hono';
import { z } from 'zod';
import { assignmentIdPattern, assignmentSchema, failureSchema, locationSchema } from './records.js';
import { blankAssignment } from './seed.js';
import type { PlatformState } from './state.js';

const assignmentChangeSchema = assignmentSchema
  .omit({ sends: true })
  .extend({ id: z.string().regex(assignmentIdPattern), location: locationSchema.partial() })
  .partial();

/** What else there is under `/control`, with bodies to begin with. */
const requests = {
  'PUT /control/fail': { status: 404, path: 'send' },
  'DELETE /control/fail': null,
  'POST /control/assignments': { id: '2001', status: 'draft' },
  'POST /control/assignments/:id/status': { status: 'accepted' },
  'POST /control/reset': null,
};

export function controlApi(state: PlatformState): Hono {
  const control = () => ({
    fail: state.failure ?? null,
    assignments: [...state.assignments.keys()],
    tickets: [...state.tickets.keys()],
    calls: state.calls.size,
  });

  return new Hono()
    .get('/journal', (c) => c.json([...state.calls.values()]))
    .delete('/journal', (c) => {
      state.record({ kind: 'journal cleared' });
      return c.json([]);
    })
    .get('/control', (c) => c.json({ ...control(), requests }))
    .put('/control/fail', async (c) => {
      const failure = failureSchema.safeParse(await c.req.json().catch(() => ({})));
      if (!failure.success) return c.json({ error: z.prettifyError(failure.error) }, 400);
      state.failure = failure.data;
      return c.json(control());
    })
    .delete('/control/fail', (c) => {
      state.failure = undefined;
      return c.json(control());
    })
    .post('/control/reset', (c) => {
      state.reset();
      return c.json(control());
    })
    .post('/control/assignments', async (c) => {
      const change = assignmentChangeSchema.safeParse(await c.req.json().catch(() => undefined));
      if (!change.success) return c.json({ error: z.prettifyError(change.error) }, 400);
      const id = change.data.id ?? nextId(state);
      const before = state.assignments.get(id);
      const base = before ?? { ...blankAssignment, id };
      const assignment = assignmentSchema.parse({
        ...base,
        ...change.data,
        id,
        location: { ...base.location, ...change.data.location },
      });
      state.record({ kind: 'assignment', assignment });
      return c.json(assignment, before === undefined ? 201 : 200);
    })
    .post('/control/assignments/:id/status', async (c) => {
      const change = z.object({ status: z.string().min(1) }).safeParse(await c.req.json().catch(() => undefined));
      if (!change.success) return c.json({ error: z.prettifyError(change.error) }, 400);
      const assignment = state.assignments.get(c.req.param('id'));
      if (assignment === undefined) return c.json({ error: `no assignment ${c.req.param('id')}` }, 404);
      state.record({ kind: 'assignment', assignment: { ...assignment, ...change.data } });
      return c.json({ ...assignment, ...change.data });
    });
}

function nextId(state: PlatformState): string {
  const numbers = [...state.assignments.keys()].map(Number).filter(Number.isSafeInteger);
  return String(Math.max(1000, ...numbers) + 1);
}
