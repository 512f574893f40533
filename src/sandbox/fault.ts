/**
 * How a server of the sandbox fails at present: set with `PUT /control/fail`, healed with `DELETE /control/fail`, after
 * `times` failures, or by a restart.
 */

import { Hono } from 'hono';
import { html } from 'hono/html';
import { z } from 'zod';
import type { Html } from '../api/page.js';
import { button, jsonBody } from './page.js';

export class Fault<Failure extends { times?: number }> {
  now?: Failure;

  /** The failure that somebody meets to whom it applies, counted down. */
  meet(applies: (failure: Failure) => boolean): Failure | undefined {
    const failure = this.now;
    if (failure === undefined || !applies(failure)) return undefined;
    if (failure.times !== undefined) this.now = failure.times > 1 ? { ...failure, times: failure.times - 1 } : undefined;
    return failure;
  }

  heal(): void {
    this.now = undefined;
  }
}

/** @param more what `GET /control` shows beside the failure */
export function faultRoutes<Failure extends { times?: number }>(
  fault: Fault<Failure>,
  schema: z.ZodType<Failure>,
  more: () => object = () => ({}),
): Hono {
  const shown = () => ({ fail: fault.now ?? null, ...more() });
  const heal = button(() => fault.heal());
  return new Hono()
    .get('/control', (c) => c.json(shown()))
    .put('/control/fail', async (c) => {
      fault.now = schema.parse((await jsonBody(c)) ?? {});
      return c.json(shown());
    })
    .delete('/control/fail', (c) => {
      fault.heal();
      return c.json(shown());
    })
    .post('/page/heal', heal);
}

/** The failure in the words of `PUT /control/fail`. */
export function faultCard({ now }: Fault<{ times?: number }>): Html {
  return html`<p class="card">${
    now
      ? html`<strong class="bad">Failing:</strong> <code>${JSON.stringify(now)}</code>`
      : html`<strong class="good">Well:</strong> whatever comes is answered as it should be.`
  }</p>`;
}

/** How the mail catcher fails; one of `code` and `dropAfterBody`. */
export const mailFailureSchema = z
  .strictObject({
    /** The SMTP reply to a recipient. */
    code: z.int().min(400).max(599).optional(),
    /** Keeps the message and breaks the connection before it says so: the sender cannot know. */
    dropAfterBody: z.boolean().optional(),
    /** Only recipients that contain this, in any case. */
    to: z.string().optional(),
    /** Heals after so many failures. */
    times: z.int().min(1).optional(),
  })
  .refine(
    (failure) => (failure.code === undefined) === (failure.dropAfterBody === true),
    'give either "code" or "dropAfterBody": true',
  );
export type MailFailure = z.infer<typeof mailFailureSchema>;

/** How the pretend platform fails. Only a delay: it is slow, and answers well. Empty: 503. */
export const platformFailureSchema = z
  .strictObject({
    status: z.int().min(400).max(599).optional(),
    /** Breaks the connection instead of answering. */
    dropConnection: z.boolean().optional(),
    /** Waits before it does anything. */
    delayMs: z.int().min(0).max(600_000).optional(),
    retryAfterSeconds: z.int().min(0).optional(),
    /** Does what it was asked to, and only then fails to say so. */
    afterActing: z.boolean().optional(),
    /** Heals after this number of calls. */
    times: z.int().min(1).optional(),
    /** Only these calls. */
    path: z.enum(['send', 'assignments', 'tickets']).optional(),
  })
  .transform((failure) =>
    failure.status === undefined && failure.delayMs === undefined && failure.dropConnection !== true
      ? { ...failure, status: 503 }
      : failure,
  );
export type PlatformFailure = z.infer<typeof platformFailureSchema>;
