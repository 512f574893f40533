/** The workers of the pretend platform in their groups, and whom a send reaches. */

export interface Place {
  latitude: number;
  longitude: number;
}

const ada = { id: 'w1', name: 'Ada Lund', city: 'Bloomington', latitude: 44.8408, longitude: -93.2983 };
const ben = { id: 'w2', name: 'Ben Okafor', city: 'Plymouth', latitude: 45.0105, longitude: -93.4555 };
const chen = { id: 'w3', name: 'Chen Wei', city: 'Saint Paul', latitude: 44.9537, longitude: -93.09 };
const dora = { id: 'w4', name: 'Dora Marsh', city: 'Woodbury', latitude: 44.9239, longitude: -92.9594 };
const elin = { id: 'w5', name: 'Elin Berg', city: 'St. Cloud', latitude: 45.5579, longitude: -94.1632 };
const farid = { id: 'w6', name: 'Farid Aziz', city: 'Rochester', latitude: 44.0121, longitude: -92.4802 };
const gus = { id: 'w7', name: 'Gus Hall', city: 'Duluth', latitude: 46.7867, longitude: -92.1005 };

export const groups = [
  { id: '501', name: 'Preferred technicians', workers: [ada, ben] },
  { id: '502', name: 'Metro technicians', workers: [chen, dora] },
  { id: '503', name: 'Statewide partners', workers: [elin, farid, gus] },
  { id: '504', name: 'Night shift (nobody yet)', workers: [] },
];

/**
 * The workers of the named groups (of all groups, if none is named) within the radius (anywhere, without one), nearest first
 * and each once. A group that does not exist has no workers.
 */
export function workersReached(place: Place, { groupIds, radiusMiles }: { groupIds: string[]; radiusMiles?: number }) {
  const named = groups.filter(({ id }) => groupIds.length === 0 || groupIds.includes(id));
  return [...new Set(named.flatMap(({ workers }) => workers))]
    .map(({ id, name, ...home }) => ({ id, name, miles: Math.round(milesBetween(place, home) * 10) / 10 }))
    .filter(({ miles }) => radiusMiles === undefined || miles <= radiusMiles)
    .sort((a, b) => a.miles - b.miles);
}

const earthRadiusMiles = 3958.8;

/** Great-circle distance (haversine). */
export function milesBetween(a: Place, b: Place): number {
  const radians = Math.PI / 180;
  const half = (from: number, to: number) => Math.sin(((to - from) * radians) / 2) ** 2;
  const along = Math.cos(a.latitude * radians) * Math.cos(b.latitude * radians) * half(a.longitude, b.longitude);
  return 2 * earthRadiusMiles * Math.asin(Math.sqrt(half(a.latitude, b.latitude) + along));
}
