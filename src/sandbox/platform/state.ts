/**
 * The pretend platform's memory. Every change is applied and, with a file, appended to it as a line of JSON before the call is answered, so that
 * nothing that was answered is lost with the process. Opening the file rewrites it, atomically, to what it amounts to.
 */

import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { z } from 'zod';
import {
  type Answer,
  type Assignment,
  answerSchema,
  assignmentSchema,
  type Call,
  callSchema,
  type Failure,
  type Subject,
  type Ticket,
  ticketSchema,
} from './records.js';
import { assignments, tickets } from './seed.js';

const changeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('assignment'), assignment: assignmentSchema }),
  z.object({ kind: z.literal('ticket'), ticket: ticketSchema }),
  z.object({ kind: z.literal('call'), call: callSchema }),
  z.object({ kind: z.literal('answer'), key: z.string(), answer: answerSchema }),
  z.object({ kind: z.literal('journal cleared') }),
]);
type Change = z.infer<typeof changeSchema>;

const callsKept = 10_000;
const answersKept = 10_000;

export class PlatformState {
  readonly assignments = new Map<string, Assignment>();
  readonly tickets = new Map<string, Ticket>();
  /** What was answered under an idempotency key, by method, path and key. */
  readonly answers = new Map<string, Answer>();
  /** By number, in the order of arrival. */
  readonly calls = new Map<number, Call>();
  /** How the platform fails at present; a restart heals it. */
  failure: Failure | undefined;

  private nextCall = 1;
  private file: number | undefined;

  constructor(private readonly path?: string) {
    const lines = path !== undefined && existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
    const changes = lines.flatMap((line) => readChange(line) ?? []);
    if (changes.length === 0) this.seed();
    for (const change of changes) this.apply(change);
    // Calls were written when they were answered.
    const calls = [...this.calls.values()].sort((a, b) => a.number - b.number);
    this.calls.clear();
    for (const call of calls) this.calls.set(call.number, call);
    this.nextCall = (calls.at(-1)?.number ?? 0) + 1;
    this.rewrite();
  }

  /** Applies a change, and keeps it. */
  record(change: Change): void {
    this.apply(change);
    if (this.file !== undefined) writeSync(this.file, `${JSON.stringify(change)}\n`);
  }

  /** A call has come in; it is shown at once, and kept when it is recorded with its answer. */
  arrived(call: Omit<Call, 'number' | 'at' | 'status' | 'repeat'>): Call {
    const arrived: Call = { number: this.nextCall++, at: new Date().toISOString(), ...call, status: 'waiting', repeat: false };
    this.apply({ kind: 'call', call: arrived });
    return arrived;
  }

  /** The failure that this call meets, counted down. */
  takeFailure(subject: Subject): Failure | undefined {
    const failure = this.failure;
    if (failure === undefined || (failure.path !== undefined && failure.path !== subject)) return undefined;
    if (failure.times !== undefined) this.failure = failure.times > 1 ? { ...failure, times: failure.times - 1 } : undefined;
    return failure;
  }

  /** Back to the beginning. */
  reset(): void {
    for (const map of [this.assignments, this.tickets, this.answers, this.calls]) map.clear();
    this.failure = undefined;
    this.seed();
    this.rewrite();
  }

  close(): void {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }

  private seed(): void {
    for (const assignment of assignments) this.apply({ kind: 'assignment', assignment });
    for (const ticket of tickets) this.apply({ kind: 'ticket', ticket });
  }

  private apply(change: Change): void {
    switch (change.kind) {
      case 'assignment':
        this.assignments.set(change.assignment.id, change.assignment);
        break;
      case 'ticket':
        this.tickets.set(change.ticket.id, change.ticket);
        break;
      case 'call':
        this.calls.set(change.call.number, change.call);
        keepNewest(this.calls, callsKept);
        break;
      case 'answer':
        this.answers.set(change.key, change.answer);
        keepNewest(this.answers, answersKept);
        break;
      case 'journal cleared':
        this.calls.clear();
        break;
    }
  }

  private rewrite(): void {
    if (this.path === undefined) return;
    this.close();
    const changes: Change[] = [
      ...[...this.assignments.values()].map((assignment) => ({ kind: 'assignment', assignment }) as const),
      ...[...this.tickets.values()].map((ticket) => ({ kind: 'ticket', ticket }) as const),
      ...[...this.answers].map(([key, answer]) => ({ kind: 'answer', key, answer }) as const),
      ...[...this.calls.values()].map((call) => ({ kind: 'call', call }) as const),
    ];
    const fresh = `${this.path}.new`;
    writeFileSync(fresh, changes.map((change) => `${JSON.stringify(change)}\n`).join(''), { mode: 0o600 });
    renameSync(fresh, this.path);
    this.file = openSync(this.path, 'a');
  }
}

/** A line that is torn, or of another version, counts for nothing. */
function readChange(line: string): Change | undefined {
  try {
    return changeSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function keepNewest<Key>(map: Map<Key, unknown>, count: number): void {
  for (const key of map.keys()) {
    if (map.size <= count) return;
    map.delete(key);
  }
}
