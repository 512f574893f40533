/**
 * Time zones. Offsets come from Intl, always for a zone given, so that the host's does not matter. What Java calls a zone, and
 * which of its offsets was standard time, comes from the JDK's tables in zones.json.
 */

import jdkZones from './zones.json' with { type: 'json' };

/** A zone at one instant. All names of a fixed offset, and of a zone younger than the JDK's tables, are its id. */
export interface ZoneAt {
  id: string; // Europe/Berlin, +05:30; Z for +00:00
  offset: number; // seconds east of Greenwich
  short: string; // EST, EDT
  long: string; // Eastern Standard Time
  genericShort: string; // ET: the zone's name at any time of year
  genericLong: string; // Eastern Time
}

interface JdkZone {
  /** Standard short, daylight short, standard long, daylight long, generic short, generic long. */
  names: string[];
  /** Each with the epoch second from which it is standard time, oldest first. Before the first there was no summer time. */
  standardOffsets: { since: number; seconds: number }[];
}

const zoneTable = new Map<string, JdkZone>();
for (const [ids, [nameIndex = 0, ...pairs]] of Object.entries<number[]>(jdkZones.zones)) {
  const standardOffsets = [];
  for (let i = 0; i + 1 < pairs.length; i += 2) standardOffsets.push({ since: pairs[i] ?? 0, seconds: pairs[i + 1] ?? 0 });
  for (const id of ids.split(' ')) zoneTable.set(id, { names: jdkZones.names[nameIndex] ?? [], standardOffsets });
}

const FIXED_OFFSET = /^([+-])(0\d|1[0-8]):([0-5]\d)$/;
const YEAR_1900 = Date.UTC(1900, 0, 1);

/** Whether text is an IANA name (`Europe/Berlin`, `UTC`; case matters) or a fixed offset `±hh:mm` up to 18 hours. */
export function isTimeZone(text: string): boolean {
  return zoneTable.has(text) || fixedOffset(text) !== undefined || Intl.supportedValuesOf('timeZone').includes(text);
}

/** The zone as `java.time` sees it. */
export function zoneAt(zone: string, epochMillis: number): ZoneAt {
  const fixed = fixedOffset(zone);
  if (fixed !== undefined) return nameless(fixed === 0 ? 'Z' : zone, fixed);
  return named(zone, offsetSeconds(zone, epochMillis), epochMillis);
}

/** The zone as `java.util.TimeZone` sees it: before 1900 it has today's standard time, and a fixed offset is called GMT+05:30. */
export function oldZoneAt(zone: string, epochMillis: number): ZoneAt {
  const fixed = fixedOffset(zone);
  if (fixed === 0) return named('UTC', 0, epochMillis);
  if (fixed !== undefined) return nameless(`GMT${zone}`, fixed);
  const today = zoneTable.get(zone)?.standardOffsets.at(-1);
  return named(zone, today && epochMillis < YEAR_1900 ? today.seconds : offsetSeconds(zone, epochMillis), epochMillis);
}

/** Seconds east of Greenwich of a valid zone at an instant. */
export function offsetSeconds(zone: string, epochMillis: number): number {
  const fixed = fixedOffset(zone);
  if (fixed !== undefined) return fixed;
  const name = offsetClock(zone)
    .formatToParts(epochMillis)
    .find(({ type }) => type === 'timeZoneName');
  const parts = /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(name?.value ?? '');
  if (!parts) throw new Error(`Intl gave no offset for ${zone}: ${name?.value}`);
  const [, sign, hours, minutes, seconds = 0] = parts;
  return sign ? Number(`${sign}1`) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) : 0;
}

/** The zones whose short name, in standard or daylight saving time, this is; in capitals. */
export function zonesCalled(shortName: string): string[] {
  return [...zoneTable]
    .filter(([, { names }]) => names.slice(0, 2).some((name) => name.toUpperCase() === shortName))
    .map(([id]) => id);
}

/** Making one is slow, and each holds some 60 kB: at most 100 are kept. */
const offsetClocks = new Map<string, Intl.DateTimeFormat>();

function offsetClock(zone: string): Intl.DateTimeFormat {
  let clock = offsetClocks.get(zone);
  if (!clock) {
    clock = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', { timeZone: zone, timeZoneName: 'longOffset' });
    if (offsetClocks.size >= 100) offsetClocks.clear();
    offsetClocks.set(zone, clock);
  }
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
  const standard = zone.standardOffsets.findLast(({ since }) => since * 1000 <= epochMillis);
  const daylight = standard !== undefined && standard.seconds !== offset;
  const [short = '', daylightShort = '', long = '', daylightLong = '', genericShort = '', genericLong = ''] = zone.names;
  return { id, offset, short: daylight ? daylightShort : short, long: daylight ? daylightLong : long, genericShort, genericLong };
}

function nameless(id: string, offset: number): ZoneAt {
  return { id, offset, short: id, long: id, genericShort: id, genericLong: id };
}
