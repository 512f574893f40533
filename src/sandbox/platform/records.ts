/** What the pretend platform keeps: assignments, tickets, groups of workers, and a journal of the calls that it received. */

import { z } from 'zod';

const placeSchema = z.object({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) });
export type Place = z.infer<typeof placeSchema>;

export const locationSchema = placeSchema.extend({ address: z.string(), city: z.string(), state: z.string(), zip: z.string() });
export type Location = z.infer<typeof locationSchema>;

/** One act of sending: when, to whom it was meant to go, and which workers it reached. */
const sendSchema = z.object({
  at: z.string(),
  groupIds: z.array(z.string()),
  radiusMiles: z.number().optional(),
  workers: z.array(z.object({ id: z.string(), name: z.string(), miles: z.number() })),
});
export type Send = z.infer<typeof sendSchema>;

/** Of an assignment that is made here. */
export const assignmentIdPattern = /^[A-Za-z0-9_-]{1,64}$/;

export const assignmentSchema = z.object({
  id: z.string(),
  title: z.string(),
  /** `draft` and `sent` are the platform's own; any other is set from outside. */
  status: z.string(),
  location: locationSchema,
  customFields: z.record(z.string(), z.string()),
  ownerEmail: z.string(),
  /** The latest ones, oldest first. */
  sends: z.array(sendSchema),
});
export type Assignment = z.infer<typeof assignmentSchema>;

export const fieldSchema = z.object({ name: z.string().min(1), value: z.string() });

export const ticketSchema = z.object({ id: z.string(), userDefinedFields: z.array(fieldSchema), updatedAt: z.string() });
export type Ticket = z.infer<typeof ticketSchema>;

export interface Worker extends Place {
  id: string;
  name: string;
  city: string;
}

export interface Group {
  id: string;
  name: string;
  workers: Worker[];
}

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

/** What a call is about, as far as `PUT /control/fail` tells calls apart. */
export const subjectSchema = z.enum(['send', 'assignments', 'tickets']);
export type Subject = z.infer<typeof subjectSchema>;

/** How the platform fails. Only a delay: it is slow, and answers well. Empty: 503. */
export const failureSchema = z
  .strictObject({
    status: z.int().min(400).max(599).optional(),
    /** Breaks the connection instead of answering. */
    dropConnection: z.boolean().optional(),
    /** Waits before it does anything. */
    delayMs: z.int().min(0).max(600_000).optional(),
    retryAfterSeconds: z.int().min(0).optional(),
    /** Does what it was asked to, and only then fails to say so. */
    afterActing: z.boolean().optional(),
    /** Heals after this number of calls. */
    times: z.int().min(1).optional(),
    /** Only these calls. */
    path: subjectSchema.optional(),
  })
  .transform((failure) =>
    failure.status === undefined && failure.delayMs === undefined && failure.dropConnection !== true
      ? { ...failure, status: 503 }
      : failure,
  );
export type Failure = z.infer<typeof failureSchema>;
