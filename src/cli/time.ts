/** Times and lengths of time as people read and write them. */

import { UsageError } from './terminal.js';

/** An ISO 8601 time in UTC as `2026-11-21 15:16:07+01:00` in the zone of this terminal; any other text as it is. */
export function momentText(text: string): string {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text)) return text;
  const time = new Date(text);
  const offset = -time.getTimezoneOffset();
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0');
  const zone = offset === 0 ? 'Z' : `${offset < 0 ? '-' : '+'}${two(Math.abs(offset) / 60)}:${two(Math.abs(offset) % 60)}`;
  const local = new Date(time.getTime() + offset * 60_000).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 19)}${zone}`;
}

/** `2026-11-21 15:16:07Z (in 29 min)`. */
export function momentFromNow(text: string, now = Date.now()): string {
  const seconds = (Date.parse(text) - now) / 1000;
  if (Number.isNaN(seconds)) return text;
  const away = Math.abs(seconds) < 1 ? 'now' : seconds > 0 ? `in ${spanText(seconds)}` : `${spanText(-seconds)} ago`;
  return `${momentText(text)} (${away})`;
}

/** The two largest units: `45 s`, `29 min 5 s`, `3 d 4 h`. */
function spanText(seconds: number): string {
  let left = Math.round(seconds);
  const parts = units.flatMap(([name, length]) => {
    const count = Math.floor(left / length);
    left -= count * length;
    return count > 0 ? `${count} ${name}` : [];
  });
  return parts.slice(0, 2).join(' ');
}

/** In seconds. */
const units = Object.entries({ d: 86_400, h: 3_600, min: 60, s: 1 });

/** Seconds of `90`, `90s`, `10m`, `1h30m`, `2d`; undefined for anything else. */
export function readDuration(text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const [all, ...counts] = /^(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?$/.exec(text) ?? [];
  return all ? units.reduce((sum, [, length], place) => sum + length * Number(counts[place] ?? 0), 0) : undefined;
}

/** ISO 8601 of an ISO 8601 time with a zone, or of a length of time from now. @throws UsageError */
export function readMoment(text: string, direction: 'ago' | 'ahead', now = Date.now()): string {
  const seconds = readDuration(text);
  if (seconds !== undefined) return new Date(now + (direction === 'ago' ? -seconds : seconds) * 1000).toISOString();
  if (/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString();
  throw new UsageError(`${text} is no time: write 2026-07-01T12:00:00Z, or a length of time such as 2h`);
}
