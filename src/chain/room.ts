/**
 * The room in the history of a workflow, which Temporal ends without a word at 51,200 events or 50 MiB: so it is never filled.
 * Part of the replay contract.
 */

import type { ChainAction, EmailContents } from './chain.js';

export interface History {
  events: number;
  bytes: number;
}

/** What may be used, and what is still to be done is to fit in as well. The rest is for signals that somebody types. */
const most: History = { events: 42_000, bytes: 40_000_000 };
/** Of that, what the relay's own tries may use, so that people have the larger part. */
const mostOfOwn: History = { events: 20_000, bytes: 20_000_000 };

/** Of contents of an e-mail in the inputs of its activities, which else read them from the input of their workflow. */
const mostInlineBytes = 100_000;

export const historyFull =
  "Temporal's history of this chain is full: it is not tried again here; skip or cancel it, or send the request again";

/** Whether people can repeat it without end. */
export function usesRoom(verb: string): boolean {
  return verb === 'retry' || verb === 'mend' || verb === 'reschedule';
}

/** @param open - the actions that have not ended. */
export function isFull(history: History, open: readonly ChainAction[]): boolean {
  const need = open.map(needOf);
  return isBeyond(history, most, {
    events: need.reduce((sum, { events }) => sum + events, 0),
    bytes: need.reduce((sum, { bytes }) => sum + bytes, 0),
  });
}

/** Whether the relay may go on by itself with tries and looks that have no end. */
export function hasRoomForOwn(history: History, open: readonly ChainAction[]): boolean {
  return !isBeyond(history, mostOfOwn) && !isFull(history, open);
}

function isBeyond(history: History, most: History, need: History = { events: 0, bytes: 0 }): boolean {
  return history.events + need.events > most.events || history.bytes + need.bytes > most.bytes;
}

/** Whether the contents of an e-mail are repeated for each of its recipients. */
export function isInline({ subject, body, bodyHtml }: EmailContents, recipients: number): boolean {
  return 3 * (subject.length + body.length + bodyHtml.length) * recipients <= mostInlineBytes;
}

/** What doing an action takes, with a notice: for each recipient an activity and, at worst, a workflow task of its own. */
function needOf(action: ChainAction): History {
  if (action.action !== 'sendEmails') return { events: 30, bytes: 50_000 };
  const { length } = action.recipients;
  return { events: 30 + 6 * length, bytes: 50_000 + 3_000 * length + (isInline(action, length) ? mostInlineBytes : 0) };
}
