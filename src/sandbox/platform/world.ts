/**
 * The first data of the demo platform, and the workers that a send reaches. Assignment 1001 has workers of groups 501 and 502
 * within 25 miles, but none within 5 miles. 1002 has no worker within 2,600 miles. 1003 has a worker of group 502 within 5 miles.
 */

const ada = { id: 'w1', name: 'Ada Lund', city: 'Bloomington', latitude: 44.8408, longitude: -93.2983 };
const ben = { id: 'w2', name: 'Ben Okafor', city: 'Plymouth', latitude: 45.0105, longitude: -93.4555 };
const chen = { id: 'w3', name: 'Chen Wei', city: 'Saint Paul', latitude: 44.9537, longitude: -93.09 };
const dora = { id: 'w4', name: 'Dora Marsh', city: 'Woodbury', latitude: 44.9239, longitude: -92.9594 };
const elin = { id: 'w5', name: 'Elin Berg', city: 'St. Cloud', latitude: 45.5579, longitude: -94.1632 };
const farid = { id: 'w6', name: 'Farid Aziz', city: 'Rochester', latitude: 44.0121, longitude: -92.4802 };
const gus = { id: 'w7', name: 'Gus Hall', city: 'Duluth', latitude: 46.7867, longitude: -92.1005 };

type Place = Pick<typeof ada, 'latitude' | 'longitude'>;

export const groups = [
  { id: '501', name: 'Preferred technicians', workers: [ada, ben] },
  { id: '502', name: 'Metro technicians', workers: [chen, dora] },
  { id: '503', name: 'Statewide partners', workers: [elin, farid, gus] },
  { id: '504', name: 'Night shift (nobody yet)', workers: [] },
];

const place = (address: string, city: string, state: string, zip: string, latitude: number, longitude: number) => {
  return { address, city, state, zip, latitude, longitude };
};
const minneapolis = place('250 Nicollet Mall', 'Minneapolis', 'MN', '55401', 44.9778, -93.265);
const saintPaul = place('15 Kellogg Blvd W', 'Saint Paul', 'MN', '55102', 44.944, -93.0935);
const utqiagvik = place('1078 Kiogak St', 'Utqiagvik', 'AK', '99723', 71.2906, -156.7886);

/** The default fields of a new assignment. A request can set other values. */
export const blankAssignment = {
  title: 'An assignment',
  status: 'draft',
  location: minneapolis,
  customFields: { ticket: '7001' } as Record<string, string>,
  ownerEmail: 'dispatch@example.com',
  sends: [],
};
const fields = (preferred_groups: string, ticket: string) => ({ preferred_groups, ticket });

export const firstAssignments: (Partial<Omit<typeof blankAssignment, 'sends'>> & { id: string })[] = [
  { id: '1001', title: 'Replace a broken till', customFields: fields('501,502', '7001') },
  { id: '1002', title: 'Inspect the northern mast', location: utqiagvik, customFields: fields('501', '7002') },
  { id: '1003', title: 'Install two access points', location: saintPaul, customFields: fields('502', '7003') },
  { id: '1004', title: 'Survey a server room', status: 'accepted', customFields: { ticket: '7004' } },
  { id: '1005', title: 'Pull cable on the third floor', location: saintPaul, customFields: fields('', '7005') },
];

export const firstTickets = [
  { id: '7001', userDefinedFields: [{ name: 'Site', value: 'Minneapolis' }], updatedAt: '2026-01-05T09:00:00.000Z' },
];

/** The workers of these groups within the radius, nearest first. An empty list means all groups. No radius means any distance. */
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
