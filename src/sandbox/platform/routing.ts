/** Whom a send reaches. */

import type { Group, Place, Send } from './records.js';

/**
 * The workers of the named groups (of all groups, if none is named) within the radius (anywhere, without one), nearest first
 * and each once. A group that does not exist has no workers.
 */
export function workersReached(
  groups: Group[],
  place: Place,
  send: { groupIds: string[]; radiusMiles?: number | undefined },
): Send['workers'] {
  const named = send.groupIds.length === 0 ? groups : groups.filter((group) => send.groupIds.includes(group.id));
  const workers = new Map(named.flatMap((group) => group.workers).map((worker) => [worker.id, worker]));
  return [...workers.values()]
    .map(({ id, name, ...home }) => ({ id, name, miles: Math.round(milesBetween(place, home) * 10) / 10 }))
    .filter(({ miles }) => send.radiusMiles === undefined || miles <= send.radiusMiles)
    .sort((a, b) => a.miles - b.miles);
}

/** Great-circle distance (haversine). */
export function milesBetween(a: Place, b: Place): number {
  const radians = Math.PI / 180;
  const half = (from: number, to: number) => Math.sin(((to - from) * radians) / 2) ** 2;
  const along = Math.cos(a.latitude * radians) * Math.cos(b.latitude * radians) * half(a.longitude, b.longitude);
  return 2 * earthRadiusMiles * Math.asin(Math.sqrt(half(a.latitude, b.latitude) + along));
}

const earthRadiusMiles = 3958.8;
