/** The outside systems that a company connects, and pauses: planned downtime of one or all, during which its actions wait. */

import { oneLine } from './text.js';

export const connectors = ['platform', 'ticketing', 'mail'] as const;
export type Connector = (typeof connectors)[number];

/** What can be paused; `all` is every connector of the company. */
export const pausable = ['all', ...connectors] as const;
export type Pausable = (typeof pausable)[number];

export interface Pause {
  what: Pausable;
  since: string;
  until?: string;
  reason?: string;
}

/** What a workflow asks about the pauses of a company. */
export interface Pauses {
  current: Pause[];
  seconds: number; // For so long anything of the company was paused since the time asked about.
}

/** Whether it is on at this time, in Unix milliseconds. */
export function isOn({ until }: Pause, time: number): boolean {
  return until === undefined || Date.parse(until) > time;
}

/** The pause that keeps something from this connector, the one that lasts longest. Part of the replay contract. */
export function pauseOf(pauses: readonly Pause[], connector: Connector): Pause | undefined {
  const ends = ({ until }: Pause) => (until === undefined ? Number.MAX_VALUE : Date.parse(until));
  const [longest] = pauses.filter(({ what }) => what === 'all' || what === connector).sort((a, b) => ends(b) - ends(a));
  return longest;
}

/** `paused: the platform, since 2026-07-01T12:00:00.000Z: new version`. */
export function pauseText({ what, since, until, reason }: Pause): string {
  const named = { all: 'everything of the company', platform: 'the platform', ticketing: 'the ticket system', mail: 'mail' };
  const ends = until === undefined ? '' : ` until ${until}`;
  return `paused: ${named[what]}, since ${since}${ends}${reason === undefined ? '' : `: ${oneLine(reason)}`}`;
}

/** For how many seconds at least one of these was on between two times, in Unix milliseconds. */
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
