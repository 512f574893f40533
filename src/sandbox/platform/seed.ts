/**
 * What the pretend platform starts with. For assignment 1001 nobody is within 5 miles, and within 25 somebody is, in groups
 * 501 and 502; 1002 is out of everybody's reach; 1003 has somebody of group 502 within 5 miles.
 */

import type { Assignment, Group, Location, Ticket, Worker } from './records.js';

const worker = (id: string, name: string, city: string, latitude: number, longitude: number): Worker => ({
  id,
  name,
  city,
  latitude,
  longitude,
});
const ada = worker('w1', 'Ada Lund', 'Bloomington', 44.8408, -93.2983);
const ben = worker('w2', 'Ben Okafor', 'Plymouth', 45.0105, -93.4555);
const chen = worker('w3', 'Chen Wei', 'Saint Paul', 44.9537, -93.09);
const dora = worker('w4', 'Dora Marsh', 'Woodbury', 44.9239, -92.9594);
const elin = worker('w5', 'Elin Berg', 'St. Cloud', 45.5579, -94.1632);
const farid = worker('w6', 'Farid Aziz', 'Rochester', 44.0121, -92.4802);
const gus = worker('w7', 'Gus Hall', 'Duluth', 46.7867, -92.1005);

export const groups: Group[] = [
  { id: '501', name: 'Preferred technicians', workers: [ada, ben] },
  { id: '502', name: 'Metro technicians', workers: [chen, dora] },
  { id: '503', name: 'Statewide partners', workers: [elin, farid, gus] },
  { id: '504', name: 'Night shift (nobody yet)', workers: [] },
];

const place = (address: string, city: string, state: string, zip: string, latitude: number, longitude: number) =>
  ({ address, city, state, zip, latitude, longitude }) satisfies Location;
const minneapolis = place('250 Nicollet Mall', 'Minneapolis', 'MN', '55401', 44.9778, -93.265);
const saintPaul = place('15 Kellogg Blvd W', 'Saint Paul', 'MN', '55102', 44.944, -93.0935);
const utqiagvik = place('1078 Kiogak St', 'Utqiagvik', 'AK', '99723', 71.2906, -156.7886);

/** What an assignment is made of when nothing else is said. */
export const blankAssignment: Omit<Assignment, 'id'> = {
  title: 'An assignment',
  status: 'draft',
  location: minneapolis,
  customFields: {},
  ownerEmail: 'dispatch@example.com',
  sends: [],
};

const assignment = (
  id: string,
  title: string,
  customFields: Record<string, string>,
  more: Partial<Assignment> = {},
): Assignment => ({
  ...blankAssignment,
  id,
  title,
  customFields,
  ...more,
});

export const assignments: Assignment[] = [
  assignment('1001', 'Replace a broken till', { preferred_groups: '501,502', ticket: '7001' }),
  assignment('1002', 'Inspect the northern mast', { preferred_groups: '501', ticket: '7002' }, { location: utqiagvik }),
  assignment('1003', 'Install two access points', { preferred_groups: '502', ticket: '7003' }, { location: saintPaul }),
  assignment('1004', 'Survey a server room', { ticket: '7004' }, { status: 'accepted' }),
  assignment('1005', 'Pull cable on the third floor', { preferred_groups: '' }, { location: saintPaul }),
];

export const tickets: Ticket[] = [
  { id: '7001', userDefinedFields: [{ name: 'Site', value: 'Minneapolis' }], updatedAt: '2026-01-05T09:00:00.000Z' },
];
