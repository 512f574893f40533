/** Times for people, in the time zone of their company. */

import { zoneAt } from './zone.js';

/** @param timeZone - an IANA name or `±hh:mm`. @returns a function that writes an ISO 8601 time as `2026-07-01 04:30:00 CDT`. */
export function timesIn(timeZone: string): (iso: string) => string {
  return (iso) => {
    const time = Date.parse(iso);
    if (Number.isNaN(time)) return iso;
    const { offset, short } = zoneAt(timeZone, time);
    return `${new Date(time + offset * 1000).toISOString().slice(0, 19).replace('T', ' ')} ${short}`;
  };
}
