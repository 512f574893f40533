/** Limits a workflow's history, because Temporal ends the workflow at 51,200 events or 50 MiB. Part of the replay contract. */

import type { LateValues } from './action-status.js';
import type { ChainAction, EmailContents } from './chain.js';

export type History = { events: number; bytes: number };

/** The limit of the history, including the space that open actions still need. The space above this limit is for signals. */
const most: History = { events: 42_000, bytes: 40_000_000 };
/** The limit for the relay's own retries. The larger part of the history is reserved for people's retries. */
const mostOfOwn: History = { events: 20_000, bytes: 20_000_000 };

/** The limit for e-mail contents in the inputs of activities. Activities read larger contents from the workflow's input. */
const mostInlineBytes = 100_000;

/** @param open - actions that have not ended. */
export function isFull(history: History, open: readonly ChainAction[]): boolean {
  const need = open.map(needOf);
  return isBeyond(history, most, {
    events: need.reduce((sum, { events }) => sum + events, 0),
    bytes: need.reduce((sum, { bytes }) => sum + bytes, 0),
  });
}

/** Whether the history has room for more retries and checks by the relay itself. Nothing else limits their number. */
export const hasRoomForOwn = (history: History, open: readonly ChainAction[]) =>
  !isBeyond(history, mostOfOwn) && !isFull(history, open);

const isBeyond = (history: History, most: History, need: History = { events: 0, bytes: 0 }) =>
  history.events + need.events > most.events || history.bytes + need.bytes > most.bytes;

/** Whether the e-mail's contents are small enough for the input of each recipient's activity. */
export const isInline = ({ subject, body, bodyHtml }: EmailContents, recipients: number) =>
  3 * (subject.length + body.length + bodyHtml.length) * recipients <= mostInlineBytes;

export const areInline = (values: LateValues['values'], recipients: number) =>
  3 * JSON.stringify(values).length * recipients <= mostInlineBytes;

/** If the recipients of an action are not known yet, the relay assumes this number of recipients. */
const mostRecipients = 50;

/** The maximum history of an action and its notice. An e-mail needs an activity and at most one workflow task per recipient. */
function needOf(action: ChainAction): History {
  if (action.action !== 'sendEmails') return { events: 30, bytes: 50_000 };
  const length = action.late?.emails ? mostRecipients : action.recipients.length;
  const isRepeated = action.late || isInline(action, length);
  return { events: 30 + 6 * length, bytes: 50_000 + 3_000 * length + (isRepeated ? mostInlineBytes : 0) };
}
