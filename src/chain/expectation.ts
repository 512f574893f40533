/** A rule can expect events regularly. Measures how long a rule is silent, and proposes an expectation from past events. */

import { type Pause, pausedSeconds } from './pause.js';
import { offsetSeconds } from './timestamp/zone.js';

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** The hours in which events are expected. Default: always. If `to` is not after `from`, the hours end on the next day. */
export interface Hours {
  days?: (typeof weekdays)[number][] | undefined;
  from?: string | undefined; // `hh:mm` in the zone
  to?: string | undefined;
  timeZone?: string | undefined; // default: the zone of the company
}

export interface Expectation {
  expectEvery: number; // seconds
  expectWithin?: Hours | undefined;
}

/** Start and end, in Unix milliseconds. */
type Span = readonly [from: number, to: number];

const dayMs = 86_400_000;
const longestMs = 62 * dayMs;

function hourSpans({ days = [], from, to, timeZone = 'UTC' }: Hours, since: number, until: number): Span[] {
  const [start, end] = [clockMs(from), clockMs(to)];
  if (days.length === 0 && start === end) return [[since, until]];
  const spans: Span[] = [];
  // Begins one day earlier, because the hours of the previous day can end after `since`.
  const first = Math.floor((since + offsetAt(timeZone, since)) / dayMs) * dayMs - dayMs;
  for (let day = first; day < until + dayMs; day += dayMs) {
    const weekday = weekdays[(new Date(day).getUTCDay() + 6) % 7];
    if (days.length > 0 && !days.some((one) => one === weekday)) continue;
    const [opens, closes] = [atLocal(timeZone, day + start), atLocal(timeZone, day + end + (end > start ? 0 : dayMs))];
    if (closes > since && opens < until) spans.push([Math.max(opens, since), Math.min(closes, until)]);
  }
  return spans;
}

/** Returns the start times of the last hours (in UTC) or days (in the zone), in ISO 8601, the oldest first. */
export function bucketStarts(by: 'hour' | 'day', days: number, timeZone: string, now: number): string[] {
  const [size, count] = by === 'hour' ? [3_600_000, days * 24] : [dayMs, days];
  const shift = by === 'hour' ? 0 : offsetAt(timeZone, now);
  const last = Math.floor((now + shift) / size) * size;
  const starts = Array.from({ length: count }, (_, place) => last - (count - 1 - place) * size);
  return starts.map((start) => new Date(by === 'hour' ? start : atLocal(timeZone, start)).toISOString());
}

const offsetAt = (zone: string, time: number) => offsetSeconds(zone, time) * 1000;
const atLocal = (zone: string, local: number) => local - offsetAt(zone, local - offsetAt(zone, local));
const clockMs = (text = '00:00') => (Number(text.slice(0, 2)) * 60 + Number(text.slice(3))) * 60_000;

/** Whether the hours include this time, in Unix milliseconds. */
export const isWithin = (hours: Hours, time: number) => hourSpans(hours, time, time + 1).length > 0;

/**
 * Counts the seconds of a silence within the hours, without the `excused` times. A silence of more than 62 days counts as 62
 * days. @param since, until - Unix milliseconds
 */
export function silentSeconds(
  hours: Hours,
  since: number,
  until: number,
  excused: readonly Pick<Pause, 'since' | 'until'>[] = [],
): number {
  const spans = hourSpans(hours, Math.max(since, until - longestMs), until);
  return spans.reduce((sum, [from, to]) => sum + (to - from) / 1000 - pausedSeconds(excused, from, to), 0);
}

/** When events came, in minutes since 1970, without repetitions, the oldest first. */
export type EventMinutes = readonly number[];

const fewest = { events: 20, days: 7 };
/** The intervals that the relay can propose, in minutes. */
const steps = [5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720, 1440, 2880, 4320, 10_080, 20_160, 44_640];

/**
 * Proposes an `expectEvery` of at least twice the usual gap, and the usual days and hours. The usual gap is the limit that 99 of
 * 100 gaps between events do not exceed. A weekday, such as Monday, is usual if at least half of the Mondays had events. An hour
 * is usual if at least half of the usual days had events in this hour.
 * @returns undefined if there are too few events, or events are too rare.
 */
export function proposedExpectation(minutes: EventMinutes, timeZone: string): Expectation | undefined {
  const [first = 0, last = 0] = [minutes[0], minutes.at(-1)];
  const daysSeen = (last - first) / 1440;
  if (minutes.length < fewest.events || daysSeen < fewest.days) return undefined;
  const expectWithin = usualHours(minutes, timeZone, daysSeen / 7);
  const spans = hourSpans({ ...expectWithin, timeZone }, first * 60_000, last * 60_000);
  const openMinutes = (minute: number) =>
    spans.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(minute * 60_000, to) - from) / 60_000, 0);
  const open = minutes.map(openMinutes);
  const gaps = open.slice(1).map((minute, place) => minute - (open[place] ?? 0));
  const usual = gaps.sort((a, b) => a - b)[Math.floor(gaps.length * 0.99)] ?? 0;
  const step = steps.find((step) => step >= usual * 2);
  return step === undefined ? undefined : { expectEvery: step * 60, ...(expectWithin && { expectWithin }) };
}

function usualHours(minutes: EventMinutes, timeZone: string, weeks: number): Hours | undefined {
  const hoursOf = new Map<number, Set<number>>(); // by local day
  const hours = new Set(minutes.map((minute) => Math.floor(minute / 15) * 15)); // Offsets of zones are multiples of 15 minutes.
  for (const minute of hours) {
    const local = minute * 60_000 + offsetAt(timeZone, minute * 60_000);
    const day = Math.floor(local / dayMs);
    hoursOf.set(day, (hoursOf.get(day) ?? new Set()).add(new Date(local).getUTCHours()));
  }
  const weekdayOf = (day: number) => weekdays[(day + 3) % 7]; // Day 0, 1970-01-01, was a Thursday.
  const seen = (weekday: string) => [...hoursOf.keys()].filter((day) => weekdayOf(day) === weekday).length;
  const usualWeekdays = weekdays.filter((weekday) => seen(weekday) >= weeks / 2);
  const days = usualWeekdays.length > 0 ? usualWeekdays : [...weekdays];
  const usualDays = [...hoursOf].filter(([day]) => days.some((weekday) => weekday === weekdayOf(day)));
  const isUsual = (hour: number) => usualDays.filter(([, hours]) => hours.has(hour)).length >= usualDays.length / 2;
  const usual = Array.from({ length: 24 }, (_, hour) => hour).filter(isUsual);
  const [from = 0, to = 23] = [usual[0], usual.at(-1)];
  // Does not propose narrow hours. Silence counts only within the hours, so people would learn of it too late.
  const isLimited = to - from >= 3 && to - from < 20;
  const clock = (hour: number) => `${String(hour % 24).padStart(2, '0')}:00`;
  if (days.length === 7 && !isLimited) return undefined;
  return { ...(days.length < 7 && { days }), ...(isLimited && { from: clock(from), to: clock(to + 1) }) };
}

/** Returns the usual seconds between events at this weekday and time (±90 minutes). Counts the events of the last 4 weeks. */
export function usualEvery(minutes: EventMinutes, now: number): number | undefined {
  const weeks = [1, 2, 3, 4].map((weeks) => (now - weeks * 7 * dayMs) / 60_000);
  const near = minutes.filter((minute) => weeks.some((middle) => Math.abs(minute - middle) <= 90)).length;
  return near < 4 ? undefined : Math.round((weeks.length * 180) / near) * 60;
}
