/**
 * Sends an assignment at most once, even if the platform ignores idempotency keys. The steps are look, keep, send and watch.
 * After a send with an unknown outcome, the relay sends again only if a person asks for it.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ConnectorError } from './call.js';
import type { Platform } from './platforms.js';
import { assertLeft, type Session } from './session.js';

/** The facts of an assignment that change with a send. `status` is in small letters, and is `sent` after a send. */
const seenSchema = z.object({ status: z.string(), workers: z.number().optional() });
export type Seen = z.infer<typeof seenSchema>;

export interface Send {
  assignmentId: string;
  look(): Promise<Seen>;
  /**
   * Checks whether the assignment can be sent. Changes nothing.
   * @param sentTo - the ids of groups that got the assignment from an earlier attempt.
   * @returns a function that sends, and leaves `leavesMs` for a later look. Returns undefined if all groups have the assignment.
   */
  prepare(sentTo: readonly string[]): Promise<((leavesMs: number) => Promise<Answered>) | undefined>;
}

/** `refusal` is set if the platform refused the send, or a part of it. `sentTo` has the ids of groups that got the assignment. */
export type Answered = { refusal?: ConnectorError; sentTo?: string[] };

/**
 * The data for the next attempt. `sending`: a send may have arrived. `before`: the state before that send. `told`: an error has
 * told people that the outcome is unknown. If a new activity starts after this error, a person has asked to send again.
 */
const keptSchema = z.object({
  sending: z.boolean(),
  before: seenSchema.optional(),
  sentTo: z.array(z.string()).default([]),
  told: z.boolean().optional(),
});

/** The maximum time to watch for the effect of a send. A queued send usually has its effect by then. */
const longestWatchMs = 8_000;

/** @throws ConnectorError `unknown` with `settled` if nobody can tell whether the assignment was sent */
export async function sendOnce(session: Session, { assignmentId, look, prepare }: Send): ReturnType<Platform['sendAssignment']> {
  const { name } = session.api;
  const { attempt = 1, timeoutMs } = session.call;
  const kept = keptSchema.safeParse(session.call.kept).data;
  const sentTo = kept?.sentTo ?? [];
  const keep = async (data: z.input<typeof keptSchema>) => session.call.keep?.({ sentTo, ...data });

  /** Looks until a send has an effect, at most for `ms` milliseconds. If `before` is undefined, looks until a look succeeds. */
  async function watch(before: Seen | undefined, ms: number) {
    const until = Date.now() + ms;
    let seen: Seen | undefined;
    for (let pauseMs = 250; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
      seen = await look().catch(() => seen);
      const effect = before && seen && effectOf(before, seen);
      if (effect || (seen && !before) || Date.now() + pauseMs > until) return { effect, seen };
      await sleep(pauseMs);
    }
  }

  /** Finds out whether a send arrived. Never sends. */
  async function settle(before: Seen | undefined, why: string) {
    const { effect, seen } = await watch(before, session.leftMs);
    if (effect) return { ...effect, note: `the answer of ${name} was lost, but ${name} shows that the assignment was sent` };
    await keep({ sending: true, before, told: true }).catch(() => {}); // If `keep` fails, the error below still has the data.
    const workers = seen?.workers === undefined ? '' : ` (technicians: ${seen.workers})`;
    const state = seen
      ? `shows the status "${seen.status}"${workers}${before ? ', the same as before' : ''}`
      : 'does not show the assignment';
    throw new ConnectorError('unknown', `${why}; ${name} ${state}; the relay does not send again by itself`, {
      settled: true,
      title: `Nobody knows whether assignment ${assignmentId} was sent: ${name} ${state}`,
      remedy: `Look at the assignment in ${name}. If it was sent, skip the step. If not, retry: the relay checks again before it sends`,
    });
  }

  const mayBeSent = kept ? kept.sending && !(kept.told && attempt === 1) : attempt > 1 || session.call.kept !== undefined;
  if (mayBeSent)
    return settle(kept?.before, 'the result of an earlier attempt was lost; the attempt may have sent the assignment');

  await keep({ sending: false, before: kept?.before });
  const before = await look();
  const earlier = kept?.before && effectOf(kept.before, before);
  if (earlier) return { ...earlier, note: `${name} shows that the assignment was already sent, so the relay sent nothing now` };
  const send = await prepare(sentTo);
  if (!send) return { note: 'an earlier attempt sent the assignment to these groups' };
  const watchMs = Math.min(longestWatchMs, 0.4 * timeoutMs);
  assertLeft(session, 1.5 * watchMs, 'check the result of a send, so nothing was sent');
  await keep({ sending: true, before });
  let answered: Answered;
  try {
    answered = await send(watchMs);
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    if (mayHaveArrived(error.facts)) return settle(before, error.message);
    answered = { refusal: error };
  }
  if (answered.refusal) {
    await keep({ sending: false, sentTo: [...sentTo, ...(answered.sentTo ?? [])] }).catch(() => {}); // See `settle`.
    throw answered.refusal;
  }
  const { effect, seen } = await watch(before, watchMs);
  if (effect) return effect;
  if (!seen) return { note: `${name} accepted the send, but the relay could not read how many technicians got the assignment` };
  return { recipients: 0, note: `${name} accepted the send, but no technician has received the assignment yet` };
}

/** Compares two looks. Returns the effect of a send between them; undefined if there is none. */
function effectOf(before: Seen, now: Seen): { recipients?: number } | undefined {
  const growth = (now.workers ?? 0) - (before.workers ?? 0);
  if (growth > 0) return { recipients: growth };
  return now.status === 'sent' && before.status !== 'sent' ? {} : undefined;
}

/** A refusal (4xx, but not 408) or a failed connection shows that nothing was sent. Other failures may come after the send. */
export const mayHaveArrived = ({ unanswered, status }: ConnectorError['facts']) =>
  unanswered === true || (status !== undefined && (status < 400 || status === 408 || status >= 500));
