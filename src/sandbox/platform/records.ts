/**
 * What the pretend platform keeps: assignments, tickets, and a journal of the calls that it received; and what it begins with.
 * For assignment 1001 nobody is within 5 miles, and within 25 somebody is, in groups 501 and 502; 1002 is out of everybody's
 * reach; 1003 has somebody of group 502 within 5 miles.
 */

import { z } from 'zod';

const latitude = z.number().min(-90).max(90);
const longitude = z.number().min(-180).max(180);
const location = z.object({ address: z.string(), city: z.string(), state: z.string(), zip: z.string(), latitude, longitude });

/** One act of sending: when, to whom it was meant to go, and which workers it reached. */
const sendSchema = z.object({
  at: z.string(),
  groupIds: z.array(z.string()),
  radiusMiles: z.number().optional(),
  workers: z.array(z.object({ id: z.string(), name: z.string(), miles: z.number() })),
});
export type Send = z.infer<typeof sendSchema>;

export const assignmentSchema = z.object({
  id: z.string(),
  title: z.string(),
  /** `draft` and `sent` are the platform's own; any other is set from outside. */
  status: z.string(),
  location,
  customFields: z.record(z.string(), z.string()),
  ownerEmail: z.string(),
  /** The latest ones, oldest first. */
  sends: z.array(sendSchema),
});
export type Assignment = z.infer<typeof assignmentSchema>;

/** What is asked of an assignment that is made or changed here. */
export const changeSchema = assignmentSchema
  .omit({ sends: true })
  .extend({
    id: z
      .string()
      .trim()
      .regex(/^[A-Za-z0-9_-]{1,64}$/),
    status: z.string().min(1),
    location: location.partial(),
  })
  .partial();

export const fieldSchema = z.object({ name: z.string().min(1), value: z.string() });

export const ticketSchema = z.object({ id: z.string(), userDefinedFields: z.array(fieldSchema), updatedAt: z.string() });
export type Ticket = z.infer<typeof ticketSchema>;

export const callSchema = z.object({
  /** Counts the calls in the order in which they arrived, from 1. */
  number: z.number(),
  /** When it arrived. */
  at: z.string(),
  method: z.string(),
  path: z.string(),
  idempotencyKey: z.string().optional(),
  /** Parsed if it was JSON, otherwise its text. */
  body: z.unknown().optional(),
  /** Of the answer; `waiting` until there is one, `dropped` when the connection was broken instead. */
  status: z.union([z.number(), z.enum(['waiting', 'dropped'])]),
  /** The key had been answered before: answered the same again, not acted on again. */
  repeat: z.boolean(),
});
export type Call = z.infer<typeof callSchema>;

export const answerSchema = z.object({ status: z.number(), body: z.record(z.string(), z.unknown()) });
export type Answer = z.infer<typeof answerSchema>;

const place = (address: string, city: string, state: string, zip: string, latitude: number, longitude: number) => {
  return { address, city, state, zip, latitude, longitude };
};
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

const fields = (preferred_groups: string, ticket: string) => ({ preferred_groups, ticket });

export const firstAssignments: (Pick<Assignment, 'id'> & Partial<Assignment>)[] = [
  { id: '1001', title: 'Replace a broken till', customFields: fields('501,502', '7001') },
  { id: '1002', title: 'Inspect the northern mast', location: utqiagvik, customFields: fields('501', '7002') },
  { id: '1003', title: 'Install two access points', location: saintPaul, customFields: fields('502', '7003') },
  { id: '1004', title: 'Survey a server room', status: 'accepted', customFields: { ticket: '7004' } },
  { id: '1005', title: 'Pull cable on the third floor', location: saintPaul, customFields: { preferred_groups: '' } },
];

export const firstTickets: Ticket[] = [
  { id: '7001', userDefinedFields: [{ name: 'Site', value: 'Minneapolis' }], updatedAt: '2026-01-05T09:00:00.000Z' },
];
