/** Time zones. `Intl` has the offsets. The JDK's data (zones.json) has the names, and the standard offsets over time. */

import jdkZones from './zones.json' with { type: 'json' };

/** A zone at one instant. For fixed offsets, and for zones that the JDK's data do not contain, every name is the id. */
export interface ZoneAt {
  id: string; // Europe/Berlin, +05:30; Z for +00:00
  offset: number; // seconds east of Greenwich
  short: string; // EST, EDT
  long: string; // Eastern Standard Time
  genericShort: string; // ET, at any time of year
  genericLong: string; // Eastern Time
}

/**
 * Zones by id. `names` has: standard short, daylight short, standard long, daylight long, generic short, generic long. `standard`
 * has pairs: an epoch second, and the standard offset from then on. Before the first pair, there was no daylight saving time.
 */
const zoneTable = new Map(
  Object.entries<number[]>(jdkZones.zones).flatMap(([ids, [nameIndex = 0, ...standard]]) =>
    ids.split(' ').map((id) => [id, { names: jdkZones.names[nameIndex] ?? [], standard }] as const),
  ),
);

const FIXED_OFFSET = /^([+-])(0\d|1[0-8]):([0-5]\d)$/;
const YEAR_1900 = Date.UTC(1900, 0, 1);

/** Accepts an IANA name (`Europe/Berlin`, `UTC`; case matters) or a fixed offset `±hh:mm` up to 18 hours. */
export const isTimeZone = (text: string) =>
  zoneTable.has(text) || fixedOffset(text) !== undefined || Intl.supportedValuesOf('timeZone').includes(text);

/** The zone as in `java.time`. */
export function zoneAt(zone: string, epochMillis: number): ZoneAt {
  const offset = offsetSeconds(zone, epochMillis);
  if (fixedOffset(zone) === undefined) return named(zone, offset, epochMillis);
  return nameless(offset === 0 ? 'Z' : zone, offset);
}

/** The zone as in `java.util.TimeZone`: before 1900, today's standard time applies. A fixed offset has a name (GMT+05:30). */
export function oldZoneAt(zone: string, epochMillis: number): ZoneAt {
  const fixed = fixedOffset(zone);
  if (fixed === 0) return named('UTC', 0, epochMillis);
  if (fixed !== undefined) return nameless(`GMT${zone}`, fixed);
  const today = epochMillis < YEAR_1900 ? zoneTable.get(zone)?.standard.at(-1) : undefined;
  return named(zone, today ?? offsetSeconds(zone, epochMillis), epochMillis);
}

/** The offset of the zone, in seconds east of Greenwich. */
export function offsetSeconds(zone: string, epochMillis: number): number {
  const fixed = fixedOffset(zone);
  if (fixed !== undefined) return fixed;
  const shown = offsetClock(zone).format(epochMillis);
  const parts = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(shown);
  if (!parts) throw new Error(`Intl gave no offset for ${zone}: ${shown}`);
  const [, sign, hours, minutes, seconds = 0] = parts;
  return sign ? Number(`${sign}1`) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) : 0;
}

/** The zones with this short name, for standard or daylight saving time. `shortName` is in capitals. */
export const zonesCalled = (shortName: string): string[] =>
  [...zoneTable].filter(([, { names }]) => names.slice(0, 2).some((name) => name.toUpperCase() === shortName)).map(([id]) => id);

/** A cache of up to 100 formatters, because each formatter is slow to create and takes about 60 kB. */
const offsetClocks = new Map<string, Intl.DateTimeFormat>();

function offsetClock(zone: string): Intl.DateTimeFormat {
  const kept = offsetClocks.get(zone);
  if (kept) return kept;
  if (offsetClocks.size >= 100) offsetClocks.clear();
  const clock = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', { timeZone: zone, timeZoneName: 'longOffset' });
  offsetClocks.set(zone, clock);
  return clock;
}

function fixedOffset(zone: string): number | undefined {
  const [, sign, hours, minutes] = FIXED_OFFSET.exec(zone) ?? [];
  const seconds = Number(hours) * 3600 + Number(minutes) * 60;
  return sign && seconds <= 18 * 3600 ? Number(`${sign}1`) * seconds || 0 : undefined;
}

function named(id: string, offset: number, epochMillis: number): ZoneAt {
  const zone = zoneTable.get(id);
  if (!zone) return nameless(id, offset);
  const since = zone.standard.findLastIndex((second, place) => place % 2 === 0 && second * 1000 <= epochMillis);
  const daylight = since >= 0 && zone.standard[since + 1] !== offset;
  const [short = '', daylightShort = '', long = '', daylightLong = '', genericShort = '', genericLong = ''] = zone.names;
  return { id, offset, short: daylight ? daylightShort : short, long: daylight ? daylightLong : long, genericShort, genericLong };
}

const nameless = (id: string, offset: number): ZoneAt => ({ id, offset, short: id, long: id, genericShort: id, genericLong: id });
