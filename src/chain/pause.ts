/** The outside systems of a company (connectors), and their pauses. Actions wait during the planned downtime of a system. */

import { oneLine } from './text.js';

export const connectors = ['platform', 'ticketing', 'mail'] as const;
export type Connector = (typeof connectors)[number];

/** `all` pauses all systems of the company. */
export const pausable = ['all', ...connectors] as const;
export type Pausable = (typeof pausable)[number];

export interface Pause {
  what: Pausable;
  since: string;
  until?: string;
  reason?: string;
  text?: string; // the `pauseText` in the company's time zone, because workflows do not know time zones
}

export interface Pauses {
  current: Pause[];
  seconds: number; // the total length of all pauses since the requested time
  ended?: string; // when the last pause of the requested connector ended; absent if none has ended
}

/** Whether the pause is on at this time. @param time - Unix milliseconds. */
export const isOn = ({ until }: Pause, time: number) => until === undefined || Date.parse(until) > time;

/** The pause of this connector that ends last. Part of the replay contract. */
export function pauseOf(pauses: readonly Pause[], connector: Connector): Pause | undefined {
  return pausesOf(pauses, [connector])[0];
}

/** The pauses of these connectors. The pause that ends last comes first. */
export function pausesOf(pauses: readonly Pause[], needs: readonly Connector[]): Pause[] {
  const ends = ({ until }: Pause) => (until === undefined ? Number.MAX_VALUE : Date.parse(until));
  return pauses.filter(({ what }) => what === 'all' || needs.includes(what)).sort((a, b) => ends(b) - ends(a));
}

export const pausableWords: Record<Pausable, string> = {
  all: 'everything',
  platform: 'the platform',
  ticketing: 'the ticket system',
  mail: 'mail',
};

/** For example `paused: the platform, since 2026-07-01 07:00:00 CDT. Reason: new version`. @param shown - formats a time. */
export function pauseText({ what, since, until, reason, text }: Pause, shown = (iso: string) => iso): string {
  if (text !== undefined) return text;
  const ends = until === undefined ? '' : ` until ${shown(until)}`;
  return `paused: ${pausableWords[what]}, since ${shown(since)}${ends}${reason === undefined ? '' : `. Reason: ${oneLine(reason)}`}`;
}

/**
 * The longest interval between checks of a pause, in seconds. The interval starts at 30 and doubles. The checks
 * are needed, because the signal at the end of a pause can be lost. Part of the replay contract.
 */
export const longestLook = (hasRoomForOwn: boolean) => (hasRoomForOwn ? 600 : 24 * 3600);

/** The number of seconds between `from` and `to` (Unix milliseconds) in which at least one pause was on. */
export function pausedSeconds(pauses: readonly Pick<Pause, 'since' | 'until'>[], from: number, to: number): number {
  const spans = pauses
    .map(({ since, until }) => [Date.parse(since), until === undefined ? to : Math.min(Date.parse(until), to)] as const)
    .sort(([a], [b]) => a - b);
  let [milliseconds, counted] = [0, from];
  for (const [start, end] of spans) {
    milliseconds += Math.max(0, end - Math.max(start, counted));
    counted = Math.max(counted, end);
  }
  return milliseconds / 1000;
}

/** The due time of one or more actions, in Unix milliseconds, and the connectors that these actions need. */
export type Due = { at: number; needs: Connector[] };

/** A pause that is over, with its start and end. */
export type EndedPause = Required<Pick<Pause, 'what' | 'since' | 'until'>>;

/**
 * The new due time of an action after a pause, in Unix milliseconds. The first action that waited runs at the end of the pause.
 * The time from this action to the other actions stays the same. Part of the replay contract.
 * @param planned - the original due time of the action, before all pauses.
 */
export function dueAfterPause(due: number, planned: number, dueTimes: readonly Due[], { what, since, until }: EndedPause) {
  const began = Date.parse(since);
  if (due < began) return due;
  const waited = dueTimes.filter(({ needs }) => what === 'all' || needs.includes(what)).map(({ at }) => at + due - planned);
  const first = Math.min(due, ...waited.filter((at) => at >= began));
  return due + Math.max(0, Date.parse(until) - first);
}
