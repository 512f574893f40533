/** The pattern letters of two Java classes (Locale US), and their output. */

import { type Moment, momentAt, NO_REFORM, padded, REFORM } from './moment.js';
import { oldZoneAt, zoneAt } from './zone.js';

/** A pattern letter. `width` is the number of equal letters in a row. */
export type Letter = { allows(width: number): boolean; print(t: Moment, width: number): string };

export interface Dialect {
  name: 'SimpleDateFormat' | 'DateTimeFormatter';
  token: RegExp; // quoted text, a row of equal letters, or another character
  letters: Record<string, Letter>;
  /** Whether `p` pads, `{ } #` are reserved, and `[ ]` enclose an optional section. The relay always prints optional sections. */
  extended: boolean;
  at(epochMillis: number, zone: string): Moment;
}

const ANY = Number.POSITIVE_INFINITY;

/** `java.text.SimpleDateFormat`. The letters have the order of Java's documentation. */
export const simpleDateFormat: Dialect = {
  name: 'SimpleDateFormat',
  // Two quotes together mean one quote, inside and outside quoted text.
  token: /''|'(?:''|[^'])*'(?!')|([A-Za-z])\1*|./gs,
  extended: false,
  at: (epochMillis, zone) => momentAt(epochMillis, oldZoneAt(zone, epochMillis), REFORM),
  letters: {
    G: upTo(ANY, (t) => (t.year > 0 ? 'AD' : 'BC')),
    y: upTo(ANY, (t, width) => simpleYear(t.yearOfEra, width)),
    Y: upTo(ANY, (t, width) => simpleYear(t.weekYear, width)),
    M: upTo(ANY, (t, width) => month(t, Math.min(width, 4))),
    L: upTo(ANY, (t, width) => month(t, Math.min(width, 4))),
    w: number(ANY, (t) => t.weekOfYear),
    W: number(ANY, (t) => t.weekOfMonth),
    D: number(ANY, (t) => t.dayOfYear),
    d: number(ANY, (t) => t.day),
    F: number(ANY, (t) => Math.floor(t.daysIntoMonth / 7) + 1),
    E: upTo(ANY, (t, width) => text(t.weekdayName, Math.min(width, 4))),
    u: number(ANY, (t) => (t.weekday === 1 ? 7 : t.weekday - 1)),
    a: upTo(ANY, (t) => t.amPm),
    H: number(ANY, (t) => t.hour),
    k: number(ANY, (t) => t.hour || 24),
    K: number(ANY, (t) => t.hourOfHalfDay),
    h: number(ANY, (t) => t.hourOfHalfDay || 12),
    m: number(ANY, (t) => t.minute),
    s: number(ANY, (t) => t.second),
    S: number(ANY, (t) => t.milli),
    z: upTo(ANY, ({ zone }, width) => (width < 4 ? zone.short : zone.long)),
    Z: upTo(ANY, ({ zone }) => simpleOffset(zone.offset, 2)),
    X: upTo(3, ({ zone }, width) => (zone.offset === 0 ? 'Z' : simpleOffset(zone.offset, width))),
  },
};

/** `java.time.format.DateTimeFormatter` (`ofPattern`, JDK 17). The letters have the order of Java's documentation. */
export const dateTimeFormatter: Dialect = {
  name: 'DateTimeFormatter',
  token: /'(?:''|[^'])*'(?!')|([A-Za-z])\1*|./gs,
  extended: true,
  at: (epochMillis, zone) => momentAt(epochMillis, zoneAt(zone, epochMillis), NO_REFORM),
  letters: {
    G: upTo(5, era),
    // With 11 to 18 letters, the JDK's formatter fails when it prints.
    u: { allows: (width) => width <= 10 || width === 19, print: (t, width) => year(t.year, width) },
    y: { allows: (width) => width <= 10 || width === 19, print: (t, width) => year(t.yearOfEra, width) },
    D: number(3, (t) => t.dayOfYear),
    M: upTo(5, month),
    L: upTo(5, month),
    d: number(2, (t) => t.day),
    g: number(19, (t) => t.epochDay + 40_587),
    Q: upTo(5, quarter),
    q: upTo(5, quarter),
    Y: { allows: (width) => width <= 10 || width >= 19, print: (t, width) => year(t.weekYear, width) },
    w: number(2, (t) => t.weekOfYear),
    W: number(1, (t) => t.weekOfMonth),
    E: upTo(5, (t, width) => text(t.weekdayName, width)),
    e: upTo(5, weekday),
    c: only([1, 3, 4, 5], weekday),
    F: number(1, (t) => ((t.day - 1) % 7) + 1),
    a: only([1], (t) => t.amPm),
    B: only([1, 4, 5], dayPeriod),
    h: number(2, (t) => t.hourOfHalfDay || 12),
    K: number(2, (t) => t.hourOfHalfDay),
    k: number(2, (t) => t.hour || 24),
    H: number(2, (t) => t.hour),
    m: number(2, (t) => t.minute),
    s: number(2, (t) => t.second),
    S: upTo(9, (t, width) => padded(t.milli, 3).padEnd(9, '0').slice(0, width)),
    A: number(19, (t) => t.milliOfDay),
    n: number(19, (t) => t.milli * 1_000_000),
    N: number(19, (t) => t.milliOfDay * 1_000_000),
    V: only([2], ({ zone }) => zone.id),
    v: only([1, 4], ({ zone }, width) => (width === 1 ? zone.genericShort : zone.genericLong)),
    z: upTo(4, ({ zone }, width) => (width < 4 ? zone.short : zone.long)),
    O: only([1, 4], ({ zone }, width) => localizedOffset(zone.offset, width)),
    X: upTo(5, ({ zone }, width) => offset(zone.offset, width, 'Z')),
    x: upTo(5, ({ zone }, width) => offset(zone.offset, width, width === 1 ? '+00' : width % 2 ? '+00:00' : '+0000')),
    Z: upTo(5, ({ zone }, width) => {
      if (width === 4) return localizedOffset(zone.offset, 4);
      return width === 5 ? offset(zone.offset, 5, 'Z') : offset(zone.offset, 2, '+0000');
    }),
  },
};

function upTo(most: number, print: Letter['print']): Letter {
  return { allows: (width) => width <= most, print };
}

function only(widths: number[], print: Letter['print']): Letter {
  return { allows: (width) => widths.includes(width), print };
}

function number(mostLetters: number, value: (t: Moment) => number): Letter {
  return upTo(mostLetters, (t, width) => padded(value(t), width));
}

function simpleYear(value: number, width: number): string {
  return width === 2 ? padded(value, 2).replace(/\d+(?=\d\d)/, '') : padded(value, width);
}

/** Styles 1, 2 and 3 are `-05`, `-0500` and `-05:00`. Omits seconds. */
function simpleOffset(seconds: number, style: number): string {
  const { sign, hours, minutes } = offsetParts(Math.trunc(seconds / 60) * 60);
  return sign + (style === 1 ? [hours] : [hours, minutes]).map((part) => padded(part, 2)).join(style === 3 ? ':' : '');
}

/** Width 4 prints the full name, and width 5 the first letter. Other widths print three letters. */
function text(name: string, width: number): string {
  return width === 4 ? name : name.slice(0, width === 5 ? 1 : 3);
}

function era(t: Moment, width: number): string {
  const [short, long] = t.year > 0 ? ['AD', 'Anno Domini'] : ['BC', 'Before Christ'];
  return width === 4 ? long : width === 5 ? short.slice(0, 1) : short;
}

/** If the pattern has 4 to 18 letters, a year with more digits than letters gets a plus sign. */
function year(value: number, width: number): string {
  if (width === 2) return padded(Math.abs(value) % 100, 2);
  const plus = width >= 4 && width < 19 && value >= 10 ** width ? '+' : '';
  return plus + padded(value, width);
}

function month(t: Moment, width: number): string {
  return width < 3 ? padded(t.month, width) : text(t.monthName, width);
}

function quarter(t: Moment, width: number): string {
  const n = Math.ceil(t.month / 3);
  if (width === 3) return `Q${n}`;
  return width === 4 ? `${n}${['st', 'nd', 'rd', 'th'][n - 1]} quarter` : padded(n, width === 5 ? 1 : width);
}

function weekday(t: Moment, width: number): string {
  return width < 3 ? padded(t.weekday, width) : text(t.weekdayName, width);
}

function dayPeriod({ hour, minute }: Moment, width: number): string {
  if (minute === 0 && hour === 0) return width === 5 ? 'mi' : 'midnight';
  if (minute === 0 && hour === 12) return width === 5 ? 'n' : 'noon';
  if (hour < 6 || hour >= 21) return 'at night';
  return hour < 12 ? 'in the morning' : hour < 18 ? 'in the afternoon' : 'in the evening';
}

/** For example `GMT-5` (width 1) or `GMT-05:00` (width 4). Seconds follow if they are not zero. The offset zero is `GMT`. */
function localizedOffset(seconds: number, width: number): string {
  if (seconds === 0) return 'GMT';
  const { sign, hours, minutes, rest } = offsetParts(seconds);
  const tail = rest ? [minutes, rest] : minutes || width === 4 ? [minutes] : [];
  return `GMT${sign}${[padded(hours, width === 4 ? 2 : 1), ...tail.map((part) => padded(part, 2))].join(':')}`;
}

/** Styles 1 to 5: `-05[30]`, `-0500`, `-05:00`, `-0500[36]` and `-05:00[:36]`. A part in brackets is omitted if it is zero. */
function offset(seconds: number, style: number, zero: string): string {
  const { sign, hours, minutes, rest } = offsetParts(seconds);
  const shown = [hours, ...(style > 1 || minutes ? [minutes] : []), ...(style > 3 && rest ? [rest] : [])];
  if (shown.every((part) => part === 0)) return zero;
  return sign + shown.map((part) => padded(part, 2)).join(style === 3 || style === 5 ? ':' : '');
}

function offsetParts(seconds: number) {
  const size = Math.abs(seconds);
  return { sign: seconds < 0 ? '-' : '+', hours: Math.floor(size / 3600), minutes: Math.floor(size / 60) % 60, rest: size % 60 };
}
