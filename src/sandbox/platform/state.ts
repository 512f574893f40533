/**
 * What the pretend platform keeps. A record is in the file, if there is one, as a line of JSON before the call is answered, so
 * that nothing that was answered is lost with the process. Opening the file rewrites it to what it amounts to.
 */

import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { Fault, platformFailureSchema } from '../fault.js';
import { blankAssignment, firstAssignments, firstTickets } from './world.js';

const latitude = z.number().min(-90).max(90);
const longitude = z.number().min(-180).max(180);
const location = z.object({ address: z.string(), city: z.string(), state: z.string(), zip: z.string(), latitude, longitude });

const assignmentSchema = z.object({
  id: z
    .string()
    .trim()
    .regex(/^[A-Za-z0-9_-]{1,64}$/),
  title: z.string(),
  status: z.string().min(1),
  location,
  customFields: z.record(z.string(), z.string()),
  ownerEmail: z.string(),
  /** When, to whom it was meant to go, and which workers it reached: the latest ones, oldest first. */
  sends: z.array(
    z.object({
      at: z.string(),
      groupIds: z.array(z.string()),
      radiusMiles: z.number().optional(),
      workers: z.array(z.object({ id: z.string(), name: z.string(), miles: z.number() })),
    }),
  ),
});
export type Assignment = z.infer<typeof assignmentSchema>;

/** What is asked of an assignment that is made or changed from outside. */
export const changeSchema = assignmentSchema
  .omit({ sends: true })
  .extend({ location: location.partial() })
  .partial()
  .required({ id: true });

export const fieldSchema = z.object({ name: z.string().min(1), value: z.string() });

const ticketSchema = z.object({ id: z.string(), userDefinedFields: z.array(fieldSchema), updatedAt: z.string() });
export type Ticket = z.infer<typeof ticketSchema>;

const callSchema = z.object({
  /** Counts the calls in the order in which they arrived, from 1. */
  number: z.number(),
  at: z.string(),
  method: z.string(),
  path: z.string(),
  idempotencyKey: z.string().optional(),
  /** Undefined where it was no JSON. */
  body: z.unknown().optional(),
  /** Of the answer; `waiting` until there is one, `dropped` when the connection was broken instead. */
  status: z.union([z.number(), z.enum(['waiting', 'dropped'])]),
  /** The key had been answered before: answered the same again, not acted on again. */
  repeat: z.boolean(),
});
export type Call = z.infer<typeof callSchema>;

const answerSchema = z.object({ status: z.number(), body: z.record(z.string(), z.unknown()) });
export type Answer = z.infer<typeof answerSchema>;

const recordsKept = 10_000;

/** The newest records of one kind by their keys. */
class Table<Value> extends Map<string, Value> {
  constructor(readonly schema: z.ZodType<Value>) {
    super();
  }

  /** @throws ZodError when it is no record of this kind */
  keep(key: string, value: unknown): void {
    this.set(key, this.schema.parse(value));
    const [oldest] = this.keys();
    if (oldest !== undefined && this.size > recordsKept) this.delete(oldest);
  }
}

const tableNames = ['assignments', 'tickets', 'answers', 'calls'] as const;
const lineSchema = z.object({ table: z.enum(tableNames), key: z.string(), value: z.unknown() });
type Line = z.infer<typeof lineSchema>;

export class PlatformState {
  readonly assignments = new Table(assignmentSchema);
  readonly tickets = new Table(ticketSchema);
  /** What was answered under an idempotency key, by method, path and key. */
  readonly answers = new Table(answerSchema);
  readonly calls = new Table(callSchema);
  readonly fault = new Fault(platformFailureSchema);
  private lastCall: number;

  constructor(private readonly path?: string) {
    const lines = path !== undefined && existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
    for (const line of lines) this.read(line);
    if (this.assignments.size === 0) this.seed();
    this.lastCall = Math.max(0, ...[...this.calls.values()].map(({ number }) => number));
    this.rewrite();
  }

  put<Name extends Line['table']>(table: Name, key: string, value: z.infer<PlatformState[Name]['schema']>): void {
    this[table].keep(key, value);
    if (this.path !== undefined) appendFileSync(this.path, jsonLine({ table, key, value }));
  }

  /** Makes an assignment, or changes it. */
  change({ location, ...facts }: z.infer<typeof changeSchema> & Pick<Partial<Assignment>, 'sends'>): Assignment {
    const before = this.assignments.get(facts.id) ?? blankAssignment;
    const assignment = { ...before, ...facts, location: { ...before.location, ...location } };
    this.put('assignments', facts.id, assignment);
    return assignment;
  }

  /** Enters a call that has come in; it is put again with its answer. */
  arrived(call: Omit<Call, 'number' | 'at' | 'status' | 'repeat'>): Call {
    this.lastCall += 1;
    const arrived: Call = { number: this.lastCall, at: new Date().toISOString(), ...call, status: 'waiting', repeat: false };
    this.put('calls', `${arrived.number}`, arrived);
    return arrived;
  }

  reset(): void {
    for (const table of tableNames) this[table].clear();
    this.fault.now = undefined;
    this.seed();
    this.rewrite();
  }

  private seed(): void {
    for (const assignment of firstAssignments) this.change(assignment);
    for (const ticket of firstTickets) this.put('tickets', ticket.id, ticket);
  }

  /** A line that is torn, or of another version, counts for nothing. */
  private read(line: string): void {
    try {
      const { table, key, value } = lineSchema.parse(JSON.parse(line));
      this[table].keep(key, value);
    } catch {}
  }

  private rewrite(): void {
    if (this.path === undefined) return;
    const lines = tableNames.flatMap((table) => [...this[table]].map(([key, value]) => jsonLine({ table, key, value })));
    writeFileSync(`${this.path}.new`, lines.join(''), { mode: 0o600 });
    renameSync(`${this.path}.new`, this.path);
  }
}

const jsonLine = (line: Line) => `${JSON.stringify(line)}\n`;
