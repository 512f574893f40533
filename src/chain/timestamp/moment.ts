/** An instant as calendar and clock show it in some zone, with the English words for it: all that a pattern letter can print. */
import { type CalendarDay, calendarDay } from './calendar.js';
import type { ZoneAt } from './zone.js';

export interface Moment extends CalendarDay {
  hour: number;
  minute: number;
  second: number;
  milli: number;
  /** 0 at midnight. */
  milliOfDay: number;
  zone: ZoneAt;
}

export const MONTHS = 'January February March April May June July August September October November December'.split(' ');
export const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

const DAY = 86_400_000;

export function momentAt(epochMillis: number, zone: ZoneAt, reform: number): Moment {
  const local = epochMillis + zone.offset * 1000;
  const epochDay = Math.floor(local / DAY);
  const milliOfDay = local - epochDay * DAY;
  return {
    ...calendarDay(epochDay, reform),
    hour: Math.floor(milliOfDay / 3_600_000),
    minute: Math.floor(milliOfDay / 60_000) % 60,
    second: Math.floor(milliOfDay / 1000) % 60,
    milli: milliOfDay % 1000,
    milliOfDay,
    zone,
  };
}

export const monthName = (t: Moment): string => MONTHS[t.month - 1] ?? '';
export const weekdayName = (t: Moment): string => WEEKDAYS[t.weekday - 1] ?? '';
export const yearOfEra = (t: Moment): number => (t.year > 0 ? t.year : 1 - t.year);
export const hourOfHalfDay = (t: Moment): number => t.hour % 12;
export const amPm = (t: Moment): string => (t.hour < 12 ? 'AM' : 'PM');

/** The number with at least `width` digits, the sign not counted. */
export function padded(value: number, width: number): string {
  return (value < 0 ? '-' : '') + String(Math.abs(value)).padStart(width, '0');
}
