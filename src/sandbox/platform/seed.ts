/**
 * What the pretend platform starts with. For assignment 1001 nobody is within 5 miles, and within 25 somebody is, in groups 501 and 502;
 * 1002 is out of everybody's reach; 1003 has somebody of group 502 within 5 miles.
 */

import type { Assignment, Group, Ticket } from './records.js';

export const groups: Group[] = [
  {
    id: '501',
    name: 'Preferred technicians',
    workers: [
      { id: 'w1', name: 'Ada Lund', city: 'Bloomington', latitude: 44.8408, longitude: -93.2983 },
      { id: 'w2', name: 'Ben Okafor', city: 'Plymouth', latitude: 45.0105, longitude: -93.4555 },
    ],
  },
  {
    id: '502',
    name: 'Metro technicians',
    workers: [
      { id: 'w3', name: 'Chen Wei', city: 'Saint Paul', latitude: 44.9537, longitude: -93.09 },
      { id: 'w4', name: 'Dora Marsh', city: 'Woodbury', latitude: 44.9239, longitude: -92.9594 },
    ],
  },
  {
    id: '503',
    name: 'Statewide partners',
    workers: [
      { id: 'w5', name: 'Elin Berg', city: 'St. Cloud', latitude: 45.5579, longitude: -94.1632 },
      { id: 'w6', name: 'Farid Aziz', city: 'Rochester', latitude: 44.0121, longitude: -92.4802 },
      { id: 'w7', name: 'Gus Hall', city: 'Duluth', latitude: 46.7867, longitude: -92.1005 },
    ],
  },
  { id: '504', name: 'Night shift (nobody yet)', workers: [] },
];

const minneapolis = {
  address: '250 Nicollet Mall',
  city: 'Minneapolis',
  state: 'MN',
  zip: '55401',
  latitude: 44.9778,
  longitude: -93.265,
};
const saintPaul = {
  address: '15 Kellogg Blvd W',
  city: 'Saint Paul',
  state: 'MN',
  zip: '55102',
  latitude: 44.944,
  longitude: -93.0935,
};
const utqiagvik = {
  address: '1078 Kiogak St',
  city: 'Utqiagvik',
  state: 'AK',
  zip: '99723',
  latitude: 71.2906,
  longitude: -156.7886,
};

/** What an assignment is made of when nothing else is said. */
export const blankAssignment: Omit<Assignment, 'id'> = {
  title: 'An assignment',
  status: 'draft',
  location: minneapolis,
  customFields: {},
  ownerEmail: 'dispatch@example.com',
  sends: [],
};

export const assignments: Assignment[] = [
  {
    ...blankAssignment,
    id: '1001',
    title: 'Replace a broken till',
    customFields: { preferred_groups: '501,502', ticket: '7001' },
  },
  {
    ...blankAssignment,
    id: '1002',
    title: 'Inspect the northern mast',
    location: utqiagvik,
    customFields: { preferred_groups: '501', ticket: '7002' },
  },
  {
    ...blankAssignment,
    id: '1003',
    title: 'Install two access points',
    location: saintPaul,
    customFields: { preferred_groups: '502', ticket: '7003' },
  },
  { ...blankAssignment, id: '1004', title: 'Survey a server room', status: 'accepted', customFields: { ticket: '7004' } },
  {
    ...blankAssignment,
    id: '1005',
    title: 'Pull cable on the third floor',
    location: saintPaul,
    customFields: { preferred_groups: '' },
  },
];

export const tickets: Ticket[] = [
  { id: '7001', userDefinedFields: [{ name: 'Site', value: 'Minneapolis' }], updatedAt: '2026-01-05T09:00:00.000Z' },
];
