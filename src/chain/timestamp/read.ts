/** Reads the timestamps that webhooks send. Does not correct mistakes: a month 13 or an hour 25 is an error. */
import { cutShort, type Parsed } from '../text.js';
import { calendarDay, epochDayOf, MONTHS, NO_REFORM, WEEKDAYS } from './moment.js';
import { isTimeZone, offsetSeconds, zoneAt, zonesCalled } from './zone.js';

const ACCEPTED =
  'Unix seconds or milliseconds (1709672829), ISO-8601 (2024-03-05T16:07:09Z), ' +
  "RFC 1123 or 2822 (Tue, 5 Mar 2024 16:07:09 GMT), Java's Date (Tue Mar 05 16:07:09 EST 2024), M/d/yyyy (3/5/2024 4:07 PM EST)";

const DAY = 86_400_000;
const FARTHEST = 8.64e15 - 2 * DAY; // about 270,000 years: the range of a JavaScript date, minus two days for zones

const ZONE = String.raw`(?<zone>Z|(?:GMT|UTC)?[+-]\d\d(?::?\d\d)?|[A-Z]{2,5}|[A-Z_]+(?:/[\w+-]+)+)`;
const TIME = String.raw`(?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d))?`;
const HALF_DAY_TIME = String.raw`(?<hour>\d{1,2}):(?<minute>\d\d)(?::(?<second>\d\d))? ?(?<half>[AP]M)`;
const FRACTION = String.raw`(?:[.,](?<fraction>\d+))?`;

/** The accepted forms, in the order in which they are tried. `readTimestamp` first turns white space into single spaces. */
const FORMS = [
  // ISO-8601, also with a space instead of T.
  String.raw`(?<year>\d{4}|[+-]\d{4,6})-(?<month>\d\d)-(?<day>\d\d)(?:[T ]${TIME}${FRACTION}(?: ?${ZONE})?)?`,
  // ISO-8601 without punctuation.
  String.raw`(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)T(?<hour>\d\d)(?<minute>\d\d)(?:(?<second>\d\d)${FRACTION})?${ZONE}?`,
  // RFC 1123 and 2822.
  String.raw`(?:(?<weekday>[A-Z]{3}), ?)?(?<day>\d{1,2}) (?<month>[A-Z]{3}) (?<year>\d{4}) ${TIME}(?: ${ZONE})?(?: \(.*\))?`,
  // java.util.Date.toString().
  String.raw`(?<weekday>[A-Z]{3}) (?<month>[A-Z]{3}) (?<day>\d{1,2}) ${TIME}(?: ${ZONE})? (?<year>\d{4})`,
  // M/d/yyyy [h:mm[:ss] a] [zone].
  String.raw`(?<month>\d{1,2})/(?<day>\d{1,2})/(?<year>\d{4})(?:,? ${HALF_DAY_TIME})?(?: ${ZONE})?`,
].map((form) => new RegExp(`^${form}$`, 'i'));

/** The zones of RFC 2822, in hours east of Greenwich. */
const MAIL_ZONES = new Map(Object.entries({ EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8, PDT: -7 }));

/** @param zone - the company's zone, which applies to a time without a zone. */
export function readTimestamp(text: string, zone: string): Parsed<{ epochMillis: number }> {
  const value = text.trim().replace(/\s+/g, ' ');
  const read = /^-?\d+(?:\.\d+)?$/.test(value) ? readUnix(Number(value)) : readDate(value, zone);
  if (typeof read === 'number') return { ok: true, epochMillis: read };
  return {
    ok: false,
    error: `"${cutShort(value, 60)}" is not a date or time that the relay can read${read && ` (${read})`}; possible forms: ${ACCEPTED}`,
  };
}

// The functions below return the result as a number, or the error as a string. An empty string means that no form matches.
type Fields = Record<string, string | undefined>;

/** Values below 1e11 are seconds (up to the year 5138). Other values are milliseconds. */
const readUnix = (value: number): number | string => withinReach(Math.round(Math.abs(value) < 1e11 ? value * 1000 : value));

function readDate(value: string, companyZone: string): number | string {
  const fields: Fields | undefined = FORMS.map((form) => form.exec(value)?.groups).find((groups) => groups !== undefined);
  if (!fields) return '';
  const epochDay = readDay(fields);
  const time = readTime(fields);
  if (typeof epochDay === 'string') return epochDay;
  if (typeof time === 'string') return time;
  const local = withinReach(epochDay * DAY + time);
  return typeof local === 'string' ? local : instantIn(fields.zone, local, companyZone);
}

/** Days since 1970-01-01. */
function readDay({ year, month = '', day, weekday }: Fields): number | string {
  const monthNumber = Number(month) || MONTHS.findIndex((name) => sameWord(name.slice(0, 3), month)) + 1;
  const monthName = MONTHS[monthNumber - 1];
  if (!monthName) return `there is no month ${month}`;
  const epochDay = epochDayOf(Number(year), monthNumber, Number(day), NO_REFORM);
  const found = calendarDay(epochDay, NO_REFORM);
  if (found.month !== monthNumber || found.day !== Number(day)) return `${monthName} ${year} has no day ${day}`;
  const weekdayName = WEEKDAYS[found.weekday - 1] ?? '';
  if (weekday && !sameWord(weekdayName.slice(0, 3), weekday)) return `that day is a ${weekdayName}, not ${weekday}`;
  return epochDay;
}

/** Milliseconds since midnight. */
function readTime({ hour = '0', minute = '0', second = '0', fraction = '', half }: Fields): number | string {
  const hours = half ? (Number(hour) % 12) + (sameWord(half, 'PM') ? 12 : 0) : Number(hour);
  const onTheClock = half ? Number(hour) >= 1 && Number(hour) <= 12 : hours <= 23;
  if (!onTheClock || Number(minute) > 59 || Number(second) > 59) return 'there is no such time of day';
  return ((hours * 60 + Number(minute)) * 60 + Number(second)) * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
}

/** `local` is the local time in ms, as if in UTC. `zoneText` is an offset, IANA zone or abbreviation; default: `companyZone`. */
function instantIn(zoneText: string | undefined, local: number, companyZone: string): number | string {
  if (zoneText === undefined) return instantAt(local, companyZone);
  const [, hours, minutes = '00'] = /^(?:GMT|UTC)?([+-]\d\d)(?::?(\d\d))?$/i.exec(zoneText) ?? [];
  const zone = hours ? `${hours}:${minutes}` : zoneText;
  if (hours || zone.includes('/')) return isTimeZone(zone) ? instantAt(local, zone) : `there is no time zone ${zoneText}`;
  const offset = offsetOfAbbreviation(zoneText.toUpperCase(), local, companyZone);
  return typeof offset === 'string' ? offset : local - offset * 1000;
}

/** If a clock change skips this local time, moves the time forward. If this time occurs twice, returns the earlier instant. */
function instantAt(local: number, zone: string): number {
  const [before, after] = [offsetSeconds(zone, local - DAY), offsetSeconds(zone, local + DAY)];
  const byOldOffset = local - before * 1000;
  const byNewOffset = local - after * 1000;
  const isAfterChange = offsetSeconds(zone, byOldOffset) !== before && offsetSeconds(zone, byNewOffset) === after;
  return isAfterChange ? byNewOffset : byOldOffset;
}

/** The offset in seconds east of Greenwich. Looks in the company's zone, then in RFC 2822, then in all zones if these agree. */
function offsetOfAbbreviation(abbreviation: string, local: number, companyZone: string): number | string {
  if (['Z', 'UT', 'UTC', 'GMT'].includes(abbreviation)) return 0;
  const own = [...offsetsCalled(abbreviation, [companyZone], [local - DAY, local + DAY])];
  // If the abbreviation has several offsets in the company's zone, uses the offset that is valid at `local`.
  const inForce = own.find((offset) => offsetSeconds(companyZone, local - offset * 1000) === offset) ?? own[0];
  if (inForce !== undefined) return inForce;
  const mailHours = MAIL_ZONES.get(abbreviation);
  if (mailHours !== undefined) return mailHours * 3600;
  const [offset, another] = offsetsCalled(abbreviation, zonesCalled(abbreviation), [local, local + 182 * DAY]);
  if (offset === undefined) return `there is no time zone ${abbreviation}`;
  return another === undefined ? offset : `${abbreviation} is the name of several time zones; send an offset such as +05:30`;
}

/** The offsets, in seconds, of the zones that have this short name at one of these instants. */
function offsetsCalled(shortName: string, zones: string[], instants: number[]): Set<number> {
  const moments = zones.flatMap((zone) => instants.map((instant) => zoneAt(zone, instant)));
  return new Set(moments.filter(({ short }) => sameWord(short, shortName)).map(({ offset }) => offset));
}

const sameWord = (one: string, other: string) => one.toUpperCase() === other.toUpperCase();
const withinReach = (millis: number): number | string =>
  Math.abs(millis) <= FARTHEST ? millis : 'the time is too far in the past or the future';
