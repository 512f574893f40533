/** A failure that a sandbox server simulates. `PUT /control/fail` sets it, for at most `times` requests. `DELETE` ends it. */

import { Hono } from 'hono';
import { html } from 'hono/html';
import { z } from 'zod';
import type { Html } from '../api/page.js';
import { button, jsonBody } from './page.js';

export class Fault<Failure extends { times?: number }> {
  now?: Failure;

  constructor(readonly schema: z.ZodType<Failure>) {}

  /** If the failure applies, returns it, and subtracts one from its `times`. */
  meet(applies: (failure: Failure) => boolean): Failure | undefined {
    const failure = this.now;
    if (failure === undefined || !applies(failure)) return undefined;
    if (failure.times !== undefined) this.now = failure.times > 1 ? { ...failure, times: failure.times - 1 } : undefined;
    return failure;
  }
}

/**
 * @param more - further fields in the answers of the `/control` paths
 * @param page - the page with the buttons
 */
export function faultRoutes<Failure extends { times?: number }>(fault: Fault<Failure>, more = {}, page = '/'): Hono {
  const { schema } = fault;
  const set = (failure?: Failure) => {
    fault.now = failure;
    return { fail: failure ?? null, ...more };
  };
  const failing = ({ failure, path }: Record<string, unknown>) =>
    set(schema.parse({ ...JSON.parse(String(failure)), ...(path ? { path } : {}) }));
  const heal = button(() => set(), page);
  return new Hono()
    .get('/control', (c) => c.json(set(fault.now)))
    .put('/control/fail', async (c) => c.json(set(schema.parse((await jsonBody(c)) ?? {}))))
    .delete('/control/fail', (c) => c.json(set()))
    .post('/page/fail', button(failing, page))
    .post('/page/heal', heal);
}

export function faultButtons(failures: Record<string, object>): Html {
  return html`${Object.entries(failures).map(
    ([label, failure]) => html`<button name="failure" value="${JSON.stringify(failure)}">${label}</button>`,
  )}
<button formaction="/page/heal">End the failure</button>`;
}

export function faultCard({ now }: { now?: object }): Html {
  const failing = html`<strong class="bad">Failing:</strong> <code>${JSON.stringify(now)}</code>`;
  return html`<p class="card">${now ? failing : html`<strong class="good">It works:</strong> no failure is set.`}</p>`;
}

/** Failures of the mail catcher: either `code` or `dropAfterBody`. */
export const mailFailureSchema = z
  .strictObject({
    code: z.int().min(400).max(599).optional(), // the SMTP reply to each recipient
    /** Keeps the message, then breaks the connection before the reply, so the sender cannot know the outcome. */
    dropAfterBody: z.boolean().optional(),
    to: z.string().optional(), // the failure applies only to recipients that contain this text, in upper or lower case
    times: z.int().min(1).optional(),
  })
  .refine(
    ({ code, dropAfterBody = false }) => (code === undefined) === dropAfterBody,
    'give either "code" or "dropAfterBody": true',
  );
export type MailFailure = z.infer<typeof mailFailureSchema>;

/** Failures of the demo platform. If only `delayMs` is set, the right answer is late. If nothing is set, the answer is 503. */
export const platformFailureSchema = z
  .strictObject({
    status: z.int().min(400).max(599).optional(),
    dropConnection: z.boolean().optional(), // breaks the connection instead of answering
    delayMs: z.int().min(0).max(600_000).optional(),
    retryAfterSeconds: z.int().min(0).optional(),
    afterActing: z.boolean().optional(), // the request has its effect before the request fails
    times: z.int().min(1).optional(),
    path: z.enum(['send', 'assignments', 'tickets']).optional(),
  })
  .transform((failure) => (failure.delayMs === undefined && !failure.dropConnection ? { status: 503, ...failure } : failure));
export type PlatformFailure = z.infer<typeof platformFailureSchema>;
