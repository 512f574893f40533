/**
 * The pretend platform's memory. Every record is appended to the file, if there is one, as a line of JSON before the call is
 * answered, so that nothing that was answered is lost with the process. Opening the file rewrites it, atomically, to what it
 * amounts to.
 */

import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { Fault, type PlatformFailure } from '../fault.js';
import {
  type Assignment,
  answerSchema,
  assignmentSchema,
  blankAssignment,
  type Call,
  callSchema,
  type changeSchema,
  firstAssignments,
  firstTickets,
  ticketSchema,
} from './records.js';

const recordsKept = 10_000;

/** Records of one kind by their keys: the newest ones. */
class Table<Value> extends Map<string, Value> {
  constructor(readonly schema: z.ZodType<Value>) {
    super();
  }

  /** What is not a record of this kind counts for nothing. */
  read(key: string, value: unknown): void {
    const parsed = this.schema.safeParse(value);
    if (parsed.success) this.set(key, parsed.data);
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
  /** By number, in the order of arrival. */
  readonly calls = new Table(callSchema);
  readonly fault = new Fault<PlatformFailure>();

  private lastCall = 0;
  private file: number | undefined;

  constructor(private readonly path?: string) {
    const lines = path !== undefined && existsSync(path) ? readFileSync(path, 'utf8').split('\n').flatMap(readLine) : [];
    for (const { table, key, value } of lines) this[table].read(key, value);
    if (lines.length === 0) this.seed();
    this.lastCall = Math.max(0, ...[...this.calls.values()].map(({ number }) => number));
    this.rewrite();
  }

  /** Sets a record, and keeps it. */
  put<Name extends Line['table']>(table: Name, key: string, value: z.infer<PlatformState[Name]['schema']>): void {
    this[table].read(key, value);
    if (this.file !== undefined) writeSync(this.file, jsonLine({ table, key, value }));
  }

  /** Makes an assignment, or changes it. */
  change(id: string, { location, ...facts }: z.infer<typeof changeSchema> & Pick<Partial<Assignment>, 'sends'>): Assignment {
    const before = this.assignments.get(id) ?? blankAssignment;
    const assignment = { ...before, ...facts, id, location: { ...before.location, ...location } };
    this.put('assignments', id, assignment);
    return assignment;
  }

  /** Enters a call that has come in; it is put again with its answer. */
  arrived(call: Omit<Call, 'number' | 'at' | 'status' | 'repeat'>): Call {
    this.lastCall += 1;
    const arrived: Call = { number: this.lastCall, at: new Date().toISOString(), ...call, status: 'waiting', repeat: false };
    this.put('calls', `${arrived.number}`, arrived);
    return arrived;
  }

  clearJournal(): void {
    this.calls.clear();
    this.rewrite();
  }

  /** Back to the beginning. */
  reset(): void {
    for (const table of tableNames) this[table].clear();
    this.fault.heal();
    this.seed();
    this.rewrite();
  }

  close(): void {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }

  private seed(): void {
    for (const assignment of firstAssignments) this.change(assignment.id, assignment);
    for (const ticket of firstTickets) this.put('tickets', ticket.id, ticket);
  }

  private rewrite(): void {
    if (this.path === undefined) return;
    this.close();
    const lines = tableNames.flatMap((table) => [...this[table]].map(([key, value]) => jsonLine({ table, key, value })));
    writeFileSync(`${this.path}.new`, lines.join(''), { mode: 0o600 });
    renameSync(`${this.path}.new`, this.path);
    this.file = openSync(this.path, 'a');
  }
}

const jsonLine = (line: Line) => `${JSON.stringify(line)}\n`;

/** A line that is torn, or of another version, counts for nothing. */
function readLine(text: string): Line[] {
  try {
    return [lineSchema.parse(JSON.parse(text))];
  } catch {
    return [];
  }
}
