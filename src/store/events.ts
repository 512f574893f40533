/** Copies of events. They reach the database once a second, so that no request waits. A crash loses the copies of the last second. */

import { hash } from 'node:crypto';
import { z } from 'zod';
import { defaultEventDays, type EventOutcome, eventSchema, type StoredEvent, storedEventSchema } from '../contract/rule-event.js';
import { AwayError } from '../service/config.js';
import { type Database, type PageRequest, type Parameter, type Queries, read, Table } from './database.js';

const listed = new Table('events', eventSchema, 'eventId');
const answered = new Table('events', storedEventSchema.omit({ body: true }), 'eventId');
/** The events with bodies. A worker thread can decrypt the rows of `lastRows` with `parse({ keyring }, row)`. */
export const storedEvents = new Table('events', storedEventSchema, 'eventId');

export type NewEvent = StoredEvent & { companyId: string };

const flushEveryMs = 1000;
const purgeEveryMs = 3_600_000;
const batch = { events: 200, bytes: 2 * 1024 * 1024 }; // the maximum size of one INSERT
const unsettledBounds = { events: 5000, bytes: 32 * 1024 * 1024 };
/** The maximum number and size of the events of a rule. The oldest events are deleted first. */
export const keptOfRule = { events: 10_000, bytes: 64 * 1024 * 1024 };
/** The maximum size of all events that `last` returns together. */
const lastBytes = 32 * 1024 * 1024;

const ofRule = 'company_id = $1 AND relay_id = $2';
const days = `COALESCE((door ->> 'eventDays')::int, ${defaultEventDays})`;
const rulesWithDays = `(SELECT rules.company_id, rules.relay_id, ${days} AS days
  FROM rules LEFT JOIN rule_doors USING (company_id, relay_id)) AS rules_with_days`;
/** Whether the rule still exists and keeps events. Locks the company first, as a deletion does, to prevent deadlocks. */
const isKept = `EXISTS (SELECT 1 FROM companies WHERE companies.company_id = given.company_id FOR KEY SHARE) AND EXISTS (SELECT 1 FROM ${rulesWithDays}
  WHERE rules_with_days.company_id = given.company_id AND rules_with_days.relay_id = given.relay_id AND days > 0)`;
const rulesWithOld = `SELECT company_id AS "companyId", relay_id AS "relayId" FROM ${rulesWithDays}
  WHERE now() - days * interval '1 day' > (SELECT received_at FROM events
    WHERE events.company_id = rules_with_days.company_id AND events.relay_id = rules_with_days.relay_id ORDER BY seq LIMIT 1)`;
const ruleRow = z.object({ companyId: z.string(), relayId: z.string() });
const purge = `DELETE FROM events WHERE ${ofRule} AND seq <= (
  SELECT max(seq) FROM (
    SELECT seq, received_at, row_number() OVER newer AS place, sum(bytes) OVER newer AS size
    FROM events WHERE ${ofRule} WINDOW newer AS (ORDER BY seq DESC)) AS counted
  WHERE place > ${keptOfRule.events} OR size > ${keptOfRule.bytes}
    OR received_at < now() - (SELECT days FROM ${rulesWithDays} WHERE ${ofRule}) * interval '1 day')`;

/** Deletes the events of a rule that are too old or too many. */
export const purgeEvents = (queries: Queries, companyId: string, relayId: string) => queries.query(purge, [companyId, relayId]);

/** The index needs a hash, because `dedupe` is encrypted. */
const hashOfKey = ({ companyId, relayId, dedupe }: Pick<NewEvent, 'companyId' | 'relayId' | 'dedupe'>) =>
  dedupe === undefined ? undefined : hash('sha256', JSON.stringify([companyId, relayId, dedupe]));

/** Times in ISO 8601. */
type Period = { since?: string; until?: string };
type EventFilter = Period & { outcome?: EventOutcome };
/** Chooses the last events of a rule, or the events with these ids. */
type LastEvents = Period & { limit?: number; ids?: readonly string[] };
const mostLast = 1000;

export class Events {
  /** Events that are not in the database yet, the oldest first. */
  #unsettled: NewEvent[] = [];
  #bytes = 0;
  /** The events that this process has written for each rule since the last purge. */
  readonly #grown = new Map<string, { companyId: string; relayId: string; events: number; bytes: number }>();
  #purgeAt = Date.now() + purgeEveryMs;
  #hasPurged = false;
  #flushing: Promise<void> = Promise.resolve();
  #isFlushing = false;
  readonly #timer: NodeJS.Timeout;

  /** @param onLost - called for each event whose copy is lost. */
  constructor(
    private readonly database: Database,
    private readonly onLost: () => void = () => {},
  ) {
    this.#timer = setInterval(() => this.#flushSoon(), flushEveryMs).unref();
  }

  /** Never waits and never fails. If too many events wait for the database, the copy is lost. */
  add(event: NewEvent): void {
    const { bytes } = event;
    if (this.#unsettled.length >= unsettledBounds.events || this.#bytes + bytes > unsettledBounds.bytes) {
      this.onLost();
      return;
    }
    this.#unsettled.push(event);
    this.#bytes += bytes;
    if (this.#unsettled.length % batch.events === 0) this.#flushSoon();
  }

  #flushSoon(): void {
    const isDue = this.#unsettled.length > 0 || Date.now() > this.#purgeAt;
    if (!isDue || this.#isFlushing) return;
    this.#isFlushing = true;
    this.flush()
      .catch(() => {}) // The next attempt is a second later.
      .finally(() => {
        this.#isFlushing = false;
      });
  }

  /** Writes the events that were added until now to the database. @throws if the database does not answer. */
  async flush(): Promise<void> {
    const flushed = this.#flushing.then(() => this.#flush());
    this.#flushing = flushed.catch(() => {});
    return flushed;
  }

  async #flush(): Promise<void> {
    for (let left = this.#unsettled.length; left > 0; ) {
      const written = firstBatch(this.#unsettled);
      await this.#write(written);
      this.#settle(written);
      left -= written.length;
    }
    await this.#purge();
  }

  async #write(events: readonly NewEvent[]): Promise<void> {
    const rows = events.map((event) => ({ ...event, dedupeHash: hashOfKey(event) }));
    try {
      await storedEvents.insertAll(this.database, rows, isKept);
    } catch (error) {
      if (error instanceof AwayError) throw error;
      // One event with a character that PostgreSQL refuses must not stop the others.
      if (events.length === 1) this.onLost();
      else for (const event of events) await this.#write([event]);
    }
  }

  #settle(written: readonly NewEvent[]): void {
    this.#unsettled.splice(0, written.length);
    for (const { companyId, relayId, bytes } of written) {
      this.#bytes -= bytes;
      const rule = JSON.stringify([companyId, relayId]);
      const grown = this.#grown.get(rule) ?? { companyId, relayId, events: 0, bytes: 0 };
      this.#grown.set(rule, { ...grown, events: grown.events + 1, bytes: grown.bytes + bytes });
    }
  }

  /** Purges a rule whose new events exceed a quarter of `keptOfRule`. Purges all rules at the first event, then once an hour. */
  async #purge(): Promise<void> {
    const isHourly = Date.now() > this.#purgeAt || (!this.#hasPurged && this.#grown.size > 0);
    const old = isHourly ? await read(this.database, ruleRow, rulesWithOld) : [];
    const grown = [...this.#grown.values()].filter(
      ({ events, bytes }) => isHourly || events > keptOfRule.events / 4 || bytes > keptOfRule.bytes / 4,
    );
    for (const { companyId, relayId } of [...old, ...grown]) {
      await purgeEvents(this.database, companyId, relayId);
      this.#grown.delete(JSON.stringify([companyId, relayId]));
    }
    if (!isHourly) return;
    this.#purgeAt = Date.now() + purgeEveryMs;
    this.#hasPurged = true;
  }

  /** Returns the newest events first. */
  list = this.#pagesOf(listed);
  /** Like `list`, with the bodies. */
  listWhole = this.#pagesOf(storedEvents);

  #pagesOf<Noun extends z.ZodObject>(table: Table<Noun>) {
    return async (companyId: string, relayId: string, request: PageRequest, { outcome, since, until }: EventFilter = {}) => {
      await this.flush();
      const where = `${ofRule} AND ($3::text IS NULL OR outcome = $3)
        AND ($4::text IS NULL OR received_at >= $4::text::timestamptz) AND ($5::text IS NULL OR received_at < $5::text::timestamptz)`;
      const parameters = [companyId, relayId, outcome ?? null, since ?? null, until ?? null];
      return table.page(this.database, where, parameters, 'seq DESC', request);
    };
  }

  async get(companyId: string, relayId: string, eventId: string): Promise<StoredEvent | undefined> {
    await this.flush();
    return storedEvents.find(this.database, `${ofRule} AND event_id = $3`, [companyId, relayId, eventId]);
  }

  /** Returns the newest events first, at most 1,000 and 32 MiB. `storedEvents.parse` can decrypt the rows in another thread. */
  async lastRows(companyId: string, relayId: string, { limit = mostLast, since, until, ids }: LastEvents) {
    await this.flush();
    const chosen = `${ofRule} AND ($3::text IS NULL OR received_at >= $3::text::timestamptz)
      AND ($4::text IS NULL OR received_at < $4::text::timestamptz) AND ($5::text[] IS NULL OR event_id = ANY ($5::text[]))`;
    const where = `company_id = $1 AND seq IN (
      SELECT seq FROM (SELECT seq, sum(bytes) OVER (ORDER BY seq DESC) AS size FROM events WHERE ${chosen}
        ORDER BY seq DESC LIMIT $6::int) AS newest WHERE size <= ${lastBytes}) ORDER BY seq DESC`;
    const parameters: Parameter[] = [companyId, relayId, since ?? null, until ?? null, ids ?? null, Math.min(limit, mostLast)];
    return storedEvents.selectRaw(this.database, where, parameters);
  }

  /** Finds the rule's first not-applicable event with this key and body, even if the event is not in the database yet. */
  async findAnswer(companyId: string, relayId: string, dedupe: string, hash: string) {
    const isAnswer = (event: NewEvent) =>
      event.outcome === 'not-applicable' &&
      event.hash === hash &&
      event.dedupe === dedupe &&
      event.relayId === relayId &&
      event.companyId === companyId;
    const waiting = this.#unsettled.find(isAnswer);
    const where = `${ofRule} AND dedupe_hash = $3 AND hash = $4 AND outcome = 'not-applicable' ORDER BY seq LIMIT 1`;
    const key = hashOfKey({ companyId, relayId, dedupe }) ?? '';
    return (await answered.find(this.database, where, [companyId, relayId, key, hash])) ?? waiting;
  }

  async shadowCounts(companyId: string, relayId: string, version: number): Promise<Record<string, number>> {
    await this.flush();
    const count = `SELECT shadow ->> 'outcome' AS outcome, count(*)::int AS events FROM events
      WHERE ${ofRule} AND (shadow ->> 'version')::int = $3::int GROUP BY 1 ORDER BY 1`;
    const counted = z.object({ outcome: z.string(), events: z.int() });
    const rows = await read(this.database, counted, count, [companyId, relayId, version]);
    return Object.fromEntries(rows.map(({ outcome, events }) => [outcome, events]));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush().catch(() => {});
  }
}

function firstBatch(events: readonly NewEvent[]): NewEvent[] {
  let bytes = 0;
  const tooMany = events.findIndex((event, place) => {
    bytes += event.bytes;
    return place > 0 && (place >= batch.events || bytes > batch.bytes);
  });
  return events.slice(0, tooMany < 0 ? events.length : tooMany);
}
