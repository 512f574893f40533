/** The calendar date and clock time of an instant. US weeks begin on Sunday, and week 1 contains January 1. */

import type { ZoneAt } from './zone.js';

export const REFORM = -141_427; // the epoch day of 15 October 1582, which followed 4 October (Julian)
export const NO_REFORM = -Infinity; // the ISO calendar is always Gregorian

export const MONTHS = 'January February March April May June July August September October November December'.split(' ');
export const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** `reform` is the first epoch day of the Gregorian calendar. */
export function calendarDay(epochDay: number, reform: number) {
  const { year, month, day } = dateOf(epochDay, reform);
  const firstOfMonth = epochDayOf(year, month, 1, reform);
  const sunday = sundayOf(epochDay);
  // Week 1 contains January 1, so a week belongs to the year of its Saturday.
  const weekYear = dateOf(sunday + 6, reform).year;
  return {
    epochDay, // days since 1970-01-01
    year, // astronomical: 0 is 1 BC, -43 is 44 BC
    month,
    day,
    dayOfYear: epochDay - epochDayOf(year, 1, 1, reform) + 1,
    weekday: epochDay - sunday + 1, // 1: Sunday, 7: Saturday
    weekYear,
    weekOfYear: (sunday - sundayOf(epochDayOf(weekYear, 1, 1, reform))) / 7 + 1,
    weekOfMonth: (sunday - sundayOf(firstOfMonth)) / 7 + 1,
    daysIntoMonth: epochDay - firstOfMonth, // not the same as `day - 1` in October 1582
  };
}

/** If the date does not exist, returns another day. In this calculation, years begin in March, so that the leap day comes last. */
export function epochDayOf(year: number, month: number, day: number, reform: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const days = Math.floor((marchYear * 1461) / 4) + Math.floor((((month + 9) % 12) * 153 + 2) / 5) + day - 1;
  const gregorian = days - Math.floor(marchYear / 100) + Math.floor(marchYear / 400) - 719_468;
  return gregorian >= reform ? gregorian : days - 719_470;
}

function dateOf(epochDay: number, reform: number) {
  let days = epochDay + 719_470;
  if (epochDay >= reform) {
    // Adds the leap days that the Gregorian calendar omits: three every 400 years.
    const century = Math.floor((4 * (days - 2) + 3) / 146_097);
    days += century - Math.floor(century / 4) - 2;
  }
  const marchYear = Math.floor((4 * days + 3) / 1461);
  const dayOfYear = days - Math.floor((marchYear * 1461) / 4);
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  return { year: month > 2 ? marchYear : marchYear + 1, month, day };
}

const sundayOf = (epochDay: number) => Math.floor((epochDay + 4) / 7) * 7 - 4;

const DAY = 86_400_000;

export function momentAt(epochMillis: number, zone: ZoneAt, reform: number) {
  const local = epochMillis + zone.offset * 1000;
  const epochDay = Math.floor(local / DAY);
  const milliOfDay = local - epochDay * DAY;
  const date = calendarDay(epochDay, reform);
  const hour = Math.floor(milliOfDay / 3_600_000);
  return {
    ...date,
    yearOfEra: date.year > 0 ? date.year : 1 - date.year,
    monthName: MONTHS[date.month - 1] ?? '',
    weekdayName: WEEKDAYS[date.weekday - 1] ?? '',
    hour,
    hourOfHalfDay: hour % 12,
    amPm: hour < 12 ? 'AM' : 'PM',
    minute: Math.floor(milliOfDay / 60_000) % 60,
    second: Math.floor(milliOfDay / 1000) % 60,
    milli: milliOfDay % 1000,
    milliOfDay,
    zone,
  };
}
export type Moment = ReturnType<typeof momentAt>;

/** Writes at least `width` digits. The sign is not a digit. */
export const padded = (value: number, width: number) => (value < 0 ? '-' : '') + String(Math.abs(value)).padStart(width, '0');
