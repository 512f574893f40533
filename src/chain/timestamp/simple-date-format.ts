/** The letters of `java.text.SimpleDateFormat` (Locale US), in the order of its documentation. */
import { REFORM } from './calendar.js';
import type { Dialect, Letter } from './dialect.js';
import { amPm, hourOfHalfDay, type Moment, momentAt, monthName, padded, weekdayName, yearOfEra } from './moment.js';
import { oldZoneAt } from './zone.js';

export const simpleDateFormat: Dialect = {
  name: 'SimpleDateFormat',
  // A doubled quote is a quote wherever it stands: '''' is two of them.
  token: /''|'(?:''|[^'])*'(?!')|([A-Za-z])\1*|./gs,
  extended: false,
  at: (epochMillis, zone) => momentAt(epochMillis, oldZoneAt(zone, epochMillis), REFORM),
  letters: {
    G: anyWidth((t) => (t.year > 0 ? 'AD' : 'BC')),
    y: anyWidth((t, width) => year(yearOfEra(t), width)),
    Y: anyWidth((t, width) => year(t.weekYear, width)),
    M: anyWidth(month),
    L: anyWidth(month),
    w: number((t) => t.weekOfYear),
    W: number((t) => t.weekOfMonth),
    D: number((t) => t.dayOfYear),
    d: number((t) => t.day),
    F: number((t) => Math.floor(t.daysIntoMonth / 7) + 1),
    E: anyWidth((t, width) => (width < 4 ? weekdayName(t).slice(0, 3) : weekdayName(t))),
    u: number((t) => (t.weekday === 1 ? 7 : t.weekday - 1)),
    a: anyWidth(amPm),
    H: number((t) => t.hour),
    k: number((t) => t.hour || 24),
    K: number(hourOfHalfDay),
    h: number((t) => hourOfHalfDay(t) || 12),
    m: number((t) => t.minute),
    s: number((t) => t.second),
    S: number((t) => t.milli),
    z: anyWidth(({ zone }, width) => (width < 4 ? zone.short : zone.long)),
    Z: anyWidth(({ zone }) => offset(zone.offset, 2)),
    X: { allows: (width) => width <= 3, print: ({ zone }, width) => (zone.offset === 0 ? 'Z' : offset(zone.offset, width)) },
  },
};

function anyWidth(print: Letter['print']): Letter {
  return { allows: () => true, print };
}

function number(value: (t: Moment) => number): Letter {
  return anyWidth((t, width) => padded(value(t), width));
}

function year(value: number, width: number): string {
  return width === 2 ? padded(value, 2).replace(/\d+(?=\d\d)/, '') : padded(value, width);
}

function month(t: Moment, width: number): string {
  if (width < 3) return padded(t.month, width);
  return width === 3 ? monthName(t).slice(0, 3) : monthName(t);
}

/** `-05`, `-0500`, `-05:00` for 1, 2, 3; seconds are cut off. */
function offset(seconds: number, style: number): string {
  const minutes = Math.trunc(seconds / 60);
  const hours = `${minutes < 0 ? '-' : '+'}${padded(Math.floor(Math.abs(minutes) / 60), 2)}`;
  if (style === 1) return hours;
  return `${hours}${style === 3 ? ':' : ''}${padded(Math.abs(minutes) % 60, 2)}`;
}
