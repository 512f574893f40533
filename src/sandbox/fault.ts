/**
 * How a server of the sandbox fails at present: set with `PUT /control/fail`, healed with `DELETE /control/fail`, after
 * `times` failures, or by a restart.
 */

import { Hono } from 'hono';
import { z } from 'zod';

export class Fault<Failure extends { times?: number }> {
  now: Failure | undefined;

  /** The failure that somebody meets to whom it applies, counted down. */
  meet(applies: (failure: Failure) => boolean): Failure | undefined {
    const failure = this.now;
    if (failure === undefined || !applies(failure)) return undefined;
    if (failure.times !== undefined) this.now = failure.times > 1 ? { ...failure, times: failure.times - 1 } : undefined;
    return failure;
  }
}

/** @param more what `GET /control` shows beside the failure */
export function faultRoutes<Failure extends { times?: number }>(
  fault: Fault<Failure>,
  schema: z.ZodType<Failure>,
  more: () => object = () => ({}),
): Hono {
  const shown = () => ({ fail: fault.now ?? null, ...more() });
  return new Hono()
    .get('/control', (c) => c.json(shown()))
    .put('/control/fail', async (c) => {
      const failure = schema.safeParse(await c.req.json().catch(() => ({})));
      if (!failure.success) return c.json({ error: z.prettifyError(failure.error) }, 400);
      fault.now = failure.data;
      return c.json(shown());
    })
    .delete('/control/fail', (c) => {
      fault.now = undefined;
      return c.json(shown());
    })
    .post('/page/heal', (c) => {
      fault.now = undefined;
      return c.redirect('/', 303);
    });
}
