/**
 * The state of the demo platform. If there is a file, each change is appended as a line of JSON before the answer, so a killed
 * process loses no confirmed change. At the start, the file is rewritten without outdated lines.
 */

import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { Fault, platformFailureSchema } from '../fault.js';
import { blankAssignment, firstAssignments, firstTickets } from './world.js';

const latitude = z.number().min(-90).max(90);
const longitude = z.number().min(-180).max(180);
const location = z.object({ address: z.string(), city: z.string(), state: z.string(), zip: z.string(), latitude, longitude });

const idPattern = /^[A-Za-z0-9_-]{1,64}$/;
const sendSchema = z.object({
  at: z.string(),
  groupIds: z.array(z.string()),
  radiusMiles: z.number().optional(),
  workers: z.array(z.object({ id: z.string(), name: z.string(), miles: z.number() })),
});
const assignmentSchema = z.object({
  id: z.string().trim().regex(idPattern),
  title: z.string(),
  status: z.string().min(1),
  location,
  customFields: z.record(z.string(), z.string()),
  ownerEmail: z.string(),
  worker: z.string().optional(), // the name of the worker who accepted the assignment
  checkedInOn: z.string().optional(),
  /** The latest sends, oldest first: the requested groups and radius, and the reached workers. */
  sends: z.array(sendSchema),
});
export type Assignment = z.infer<typeof assignmentSchema>;

const facts = assignmentSchema.omit({ sends: true }).extend({ location: location.partial() });
export const changeSchema = facts.partial().required({ id: true });

export const fieldSchema = z.object({ name: z.string().min(1), value: z.string() });

const ticketSchema = z.object({ id: z.string(), userDefinedFields: z.array(fieldSchema), updatedAt: z.string() });
export type Ticket = z.infer<typeof ticketSchema>;

const callSchema = z.object({
  number: z.number(), // the number of the call, in order of arrival, from 1
  at: z.string(),
  method: z.string(),
  path: z.string(),
  idempotencyKey: z.string().optional(),
  body: z.unknown().optional(), // undefined if the body is not JSON
  /** The HTTP status; `waiting` before the answer; `dropped` if the platform broke the connection. */
  status: z.union([z.number(), z.enum(['waiting', 'dropped'])]),
  /** Whether the idempotency key was known. If so, the call got the first answer again, and had no second effect. */
  repeat: z.boolean(),
});
export type Call = z.infer<typeof callSchema>;

const answerSchema = z.object({ status: z.number(), body: z.record(z.string(), z.unknown()) });
export type Answer = z.infer<typeof answerSchema>;

const webhookSchema = z.object({ url: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]), body: z.string() });
export type Webhook = z.infer<typeof webhookSchema>;

const deliverySchema = webhookSchema.extend({
  at: z.string(),
  event: z.string(),
  assignment: z.string(),
  answers: z.array(z.string()), // the answers to the first and the second attempt: the status and the text
});
export type Delivery = z.infer<typeof deliverySchema>;

const recordsKept = 10_000;

/** The newest records of one kind. The map's key is the record's key. */
class Table<Value> extends Map<string, Value> {
  constructor(readonly schema: z.ZodType<Value>) {
    super();
  }

  /** @throws ZodError if the record has another kind */
  keep(key: string, value: unknown): void {
    this.set(key, this.schema.parse(value));
    const [oldest] = this.keys();
    if (oldest !== undefined && this.size > recordsKept) this.delete(oldest);
  }
}

const tableNames = ['assignments', 'tickets', 'answers', 'calls', 'webhooks', 'deliveries'] as const;
const lineSchema = z.object({ table: z.enum(tableNames), key: z.string(), value: z.unknown() });
type Line = z.infer<typeof lineSchema>;

export class PlatformState {
  readonly assignments = new Table(assignmentSchema);
  readonly tickets = new Table(ticketSchema);
  /** The answers to calls with an idempotency key. The map's key consists of the method, the path and the idempotency key. */
  readonly answers = new Table(answerSchema);
  readonly calls = new Table(callSchema);
  readonly webhooks = new Table(webhookSchema); // the webhooks that a person has changed; the key is the event
  readonly deliveries = new Table(deliverySchema);
  /** The address and the token of the demo rule. The webhooks go to this rule until a person changes their addresses. */
  rule?: { url: string; token: string };
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

  /** Creates or changes an assignment. */
  change({ location, ...facts }: z.infer<typeof changeSchema> & Pick<Partial<Assignment>, 'sends'>): Assignment {
    const before = this.assignments.get(facts.id) ?? blankAssignment;
    const assignment = { ...before, ...facts, location: { ...before.location, ...location } };
    this.put('assignments', facts.id, assignment);
    return assignment;
  }

  /** Records a new call without its answer. Later, `put` adds the answer to the record. */
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

  /** Ignores incomplete lines and lines of other versions. */
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
