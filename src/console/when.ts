/** Formats times in a company's time zone, distances from now, and durations. */

import { countedUnit } from '../chain/durations.js';
import { spans, spanText } from '../chain/text.js';

/** A time zone such as `Europe/Berlin`, or an offset `±hh:mm`. Some browsers do not accept an offset as a time zone. */
export type Zone = string;

const offsetPattern = /^([+-])(\d\d):(\d\d)$/;

/** `14:03:22` today, `20 Nov, 14:03:22` this year, `20 Nov 2025, 14:03:22` in another year. @param now - Unix milliseconds. */
export function timeText(iso: string, zone: Zone, now: number): string {
  const [then, today] = [parts(Date.parse(iso), zone), parts(now, zone)];
  const date = then.year === today.year ? then.date : `${then.date} ${then.year}`;
  return then.year === today.year && then.date === today.date ? then.time : `${date}, ${then.time}`;
}

/** For example `20 Nov 2026, 14:03:22 (Europe/Berlin)`. */
export function wholeTimeText(iso: string, zone: Zone): string {
  const { date, year, time } = parts(Date.parse(iso), zone);
  return `${date} ${year}, ${time} (${zone})`;
}

/** For example `Paused until 09:30:00`. Omits the time if the pause has no end, or if there are several pauses. */
export function pauseWords(pauses: readonly { until?: string | undefined }[], zone: Zone, now: number): string {
  const [only, other] = pauses;
  return only?.until && !other ? `Paused until ${timeText(only.until, zone, now)}` : 'Paused';
}

/** Converts the UTC times in the text to the time zone. A time in quotation marks is a value, so it stays unchanged. */
export function localTimes(text: string, zone: Zone, now: number): string {
  const times = /(?<!["\w])(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?)(?:Z| UTC)/g;
  return text.replaceAll(times, (_, day, time) => timeText(`${day}T${time}Z`, zone, now));
}

function parts(time: number, zone: Zone): { date: string; year: string; time: string } {
  const [, sign, hours, minutes] = offsetPattern.exec(zone) ?? [];
  const shift = sign === undefined ? 0 : (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000);
  const options = { timeZone: sign === undefined ? zone : 'UTC', hourCycle: 'h23' } as const;
  const write = (more: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', { ...options, ...more }).format(time + shift);
  return {
    ...{ date: write({ day: 'numeric', month: 'short' }), year: write({ year: 'numeric' }) },
    time: write({ hour: '2-digit', minute: '2-digit', second: '2-digit' }),
  };
}

/** For example `in 5 minutes` or `3 hours ago`. */
export function fromNow(iso: string, now: number): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000);
  const [unit = 's', size = 1] = spans.find(([, size]) => Math.abs(seconds) >= size) ?? [];
  if (unit === 's') return seconds > 0 ? 'in less than a minute' : 'less than a minute ago';
  const said = countedUnit(Math.round(Math.abs(seconds) / size), unit);
  return seconds > 0 ? `in ${said}` : `${said} ago`;
}

/** For example `1 hour 5 minutes` or `20 seconds`. Shows at most the two largest units. */
export const durationText = (seconds: number): string => spanText(seconds, countedUnit) || '0 seconds';
export const withinText = (seconds: number): string => durationText(Math.max(1, Math.ceil(seconds))); // never 0 seconds

const presets: Record<string, number> = { '1h': 1, '24h': 24, '7d': 168 };

/** Converts `1h`, `24h`, `7d` or a time to a time in ISO 8601. Returns undefined for any other text. */
export function sinceTime(text: string, now: number): string | undefined {
  const hours = presets[text];
  if (hours !== undefined) return new Date(now - hours * 3_600_000).toISOString();
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** The list shows open chains first, so the newest chain can be at any place. */
export function newestOf<Received extends { receivedAt: string }>(received: readonly Received[] = []): Received | undefined {
  return [...received].sort((one, other) => (one.receivedAt < other.receivedAt ? 1 : -1))[0];
}

/** The start of the day in the time zone, as ISO 8601. On a day when the clock changes, the result can be wrong by an hour. */
export function startOfDay(zone: Zone, now: number): string {
  const [hours = 0, minutes = 0, seconds = 0] = parts(now, zone).time.split(':').map(Number);
  return new Date(Math.floor(now / 1000) * 1000 - (hours * 3600 + minutes * 60 + seconds) * 1000).toISOString();
}

/** The time after this number of seconds, as ISO 8601. Returns undefined for 0, because 0 means that there is no end. */
export const timeIn = (seconds: number): string | undefined =>
  seconds === 0 ? undefined : new Date(Date.now() + seconds * 1000).toISOString();
