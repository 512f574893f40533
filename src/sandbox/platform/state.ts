/**
 * The pretend platform's memory. Every record is appended to the file, if there is one, as a line of JSON before the call is
 * answered, so that nothing that was answered is lost with the process. Opening the file rewrites it, atomically, to what it
 * amounts to.
 */

import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { Fault } from '../fault.js';
import { answerSchema, assignmentSchema, type Call, callSchema, type Failure, ticketSchema } from './records.js';
import { assignments, tickets } from './seed.js';

/** Records of one kind by their keys. */
class Table<Value> extends Map<string, Value> {
  /** @param most the newest of this number are kept */
  constructor(
    readonly schema: z.ZodType<Value>,
    readonly most = Number.POSITIVE_INFINITY,
  ) {
    super();
  }

  override set(key: string, value: Value): this {
    super.set(key, value);
    for (const oldest of this.keys()) {
      if (this.size <= this.most) break;
      this.delete(oldest);
    }
    return this;
  }

  /** What is not a record of this kind counts for nothing. */
  read(key: string, value: unknown): void {
    const parsed = this.schema.safeParse(value);
    if (parsed.success) this.set(key, parsed.data);
  }
}

const lineSchema = z.object({
  table: z.enum(['assignments', 'tickets', 'answers', 'calls']),
  key: z.string(),
  value: z.unknown(),
});
type Line = z.infer<typeof lineSchema>;

export class PlatformState {
  readonly assignments = new Table(assignmentSchema);
  readonly tickets = new Table(ticketSchema);
  /** What was answered under an idempotency key, by method, path and key. */
  readonly answers = new Table(answerSchema, 10_000);
  /** By number, in the order of arrival. */
  readonly calls = new Table(callSchema, 10_000);
  readonly fault = new Fault<Failure>();

  private nextCall = 1;
  private file: number | undefined;

  constructor(private readonly path?: string) {
    const lines = path !== undefined && existsSync(path) ? readFileSync(path, 'utf8').split('\n').flatMap(readLine) : [];
    for (const { table, key, value } of lines) this[table].read(key, value);
    if (lines.length === 0) this.seed();
    // Calls were written when they were answered.
    const calls = [...this.calls.values()].sort((a, b) => a.number - b.number);
    this.calls.clear();
    for (const call of calls) this.calls.set(`${call.number}`, call);
    this.nextCall = (calls.at(-1)?.number ?? 0) + 1;
    this.rewrite();
  }

  /** Sets a record, and keeps it. */
  put<Name extends Line['table']>(table: Name, key: string, value: z.infer<PlatformState[Name]['schema']>): void {
    this[table].read(key, value);
    if (this.file !== undefined) writeSync(this.file, jsonLine({ table, key, value }));
  }

  /** A call has come in; it is shown at once, and kept when it is put with its answer. */
  arrived(call: Omit<Call, 'number' | 'at' | 'status' | 'repeat'>): Call {
    const arrived: Call = { number: this.nextCall++, at: new Date().toISOString(), ...call, status: 'waiting', repeat: false };
    this.calls.set(`${arrived.number}`, arrived);
    return arrived;
  }

  clearJournal(): void {
    this.calls.clear();
    this.rewrite();
  }

  /** Back to the beginning. */
  reset(): void {
    for (const table of lineSchema.shape.table.options) this[table].clear();
    this.fault.now = undefined;
    this.seed();
    this.rewrite();
  }

  close(): void {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }

  private seed(): void {
    for (const assignment of assignments) this.assignments.set(assignment.id, assignment);
    for (const ticket of tickets) this.tickets.set(ticket.id, ticket);
  }

  private rewrite(): void {
    if (this.path === undefined) return;
    this.close();
    const lines = lineSchema.shape.table.options.flatMap((table) =>
      [...this[table].entries()].map(([key, value]) => jsonLine({ table, key, value })),
    );
    writeFileSync(`${this.path}.new`, lines.join(''), { mode: 0o600 });
    renameSync(`${this.path}.new`, this.path);
    this.file = openSync(this.path, 'a');
  }
}

function jsonLine(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}

/** A line that is torn, or of another version, counts for nothing. */
function readLine(text: string): Line[] {
  try {
    return [lineSchema.parse(JSON.parse(text))];
  } catch {
    return [];
  }
}
