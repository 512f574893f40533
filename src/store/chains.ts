/**
 * Stores one row for each chain. The row stays after Temporal has deleted the chain. The API writes the row some seconds
 * after it has accepted the chain. The worker that ends the chain completes the row (temporal/ended.ts). A collector compares the
 * rows with Temporal (temporal/collect.ts).
 */

import { z } from 'zod';
import { chainStatuses } from '../chain/outcome.js';
import { listedChainSchema } from '../contract/chain-resource.js';
import { encrypted } from '../contract/secrets.js';
import { type Database, type PageRequest, type Parameter, read, Table } from './database.js';

export const defaultHistoryDays = 400;

const ids = z.array(z.string());
const listed = z.object({
  companyId: z.string(),
  chainId: z.string(),
  status: z.enum(chainStatuses), // for an open chain: running or needs-attention
  receivedAt: z.iso.datetime(),
  closedAt: z.iso.datetime().optional(),
  doneAt: z.iso.datetime().optional(), // when the last action ended
  heldSince: z.iso.datetime().optional(),
  paused: z.literal(true).optional(),
  rule: listedChainSchema.shape.rule,
  relayIds: ids,
  assignmentIds: ids,
  ticketIds: ids,
  failureTypes: ids.optional(),
  failedActions: z.int().default(0),
  nobodyFound: z.boolean().default(false), // whether the last send of an assignment reached no recipient
  steered: z.literal(true).optional(), // whether a person has changed the steps
  summary: encrypted(z.string()).optional(),
});
const whole = listed.extend({
  place: z.string().optional(),
  runId: z.string().optional(),
  startedAt: z.iso.datetime().optional(),
  details: encrypted(z.string()).optional(), // JSON of the chain as the API shows it, without the data of the other fields
});
export type ListedRow = z.infer<typeof listed>;
export type ChainRow = z.infer<typeof whole>;

const lists = new Table('chains', listed, 'chainId');
export const chains = new Table('chains', whole, 'chainId');

export interface RowFilter {
  status?: ListedRow['status'] | undefined;
  assignmentId?: string | undefined;
  ticketId?: string | undefined;
  relayId?: string | undefined;
  reason?: string | undefined;
  since?: string | undefined; // ISO 8601
  until?: string | undefined;
  paused?: boolean | undefined;
  nobodyFound?: boolean | undefined;
}

/** Sorts open chains (newest first) before closed chains (last closed first). */
function placeOf({ chainId, receivedAt, closedAt }: Pick<ChainRow, 'chainId' | 'receivedAt' | 'closedAt'>): string {
  return closedAt === undefined ? `2${receivedAt}${chainId}` : `1${closedAt}${chainId}`;
}
export const chainPlace = /^[12][\dTZ:.-]{24}[\w-]{1,128}$/;

const flushEveryMs = 2000; // each statement has a cost of its own, however few its rows
const openRestMs = 3000; // a chain that ends within this time in the same process is written only once
const busyRestMs = 10_000; // replaces openRestMs while many rows wait, because chains then take longer
const manyWaiting = 100;
const endedMs = 15_000; // the collector reads most ends again within this time
const purgeEveryMs = 600_000;
const mostUnsettled = 20_000;
const longestId = 200; // the maximum length of an id in chain_ids
const batch = 500;
const isKept = 'EXISTS (SELECT 1 FROM companies WHERE companies.company_id = given.company_id FOR KEY SHARE)';
const collectedFields =
  `place run_id started_at received_at closed_at done_at held_since status paused rule relay_ids assignment_ids
  failure_types failed_actions nobody_found summary details encryption_key`.split(/\s+/);
const replace = `(company_id, chain_id) DO UPDATE SET updated_at = now(),
  ${collectedFields.map((column) => `${column} = EXCLUDED.${column}`).join(', ')},
  ticket_ids = CASE WHEN EXCLUDED.ticket_ids = '{}' THEN chains.ticket_ids ELSE EXCLUDED.ticket_ids END`;
/** A row keeps the latest run of its chain. A closed run stays closed. The API's rows name no run, and replace no row. */
const replaceOlder = `${replace} WHERE EXCLUDED.started_at IS NOT NULL AND (chains.started_at IS NULL OR chains.started_at < EXCLUDED.started_at
    OR chains.started_at = EXCLUDED.started_at AND (chains.closed_at IS NULL OR EXCLUDED.closed_at IS NOT NULL))`;
/** `writeIds` comes after a statement that writes chains, and fills `chain_ids`. There, a row for a rule also has the outcome. */
const ofIds = (kind: string, column: string) => `SELECT '${kind}' AS kind, left(unnest(${column}), ${longestId}) AS id`;
const ofRule = (value: string) => `CASE kind WHEN 'rule' THEN ${value} END`;
const took = 'EXTRACT(epoch FROM COALESCE(done_at, closed_at) - received_at)';
const writeIds = `INSERT INTO chain_ids (company_id, kind, id, chain_id, received_at, status, nobody_found, took)
    SELECT company_id, kind, id, chain_id, received_at, ${['status', 'nobody_found', took].map(ofRule).join(', ')}
    FROM written, LATERAL (
      ${ofIds('assignment', 'assignment_ids')} UNION ${ofIds('ticket', 'ticket_ids')} UNION ${ofIds('rule', 'relay_ids')}) AS ids
  ON CONFLICT (company_id, chain_id, kind, id) DO UPDATE SET
    (received_at, status, nobody_found, took) = (EXCLUDED.received_at, EXCLUDED.status, EXCLUDED.nobody_found, EXCLUDED.took)
    WHERE EXCLUDED.kind = 'rule'`;
const purge = `WITH old AS (DELETE FROM chains WHERE (company_id, chain_id) IN (
  SELECT company_id, chain_id FROM companies JOIN LATERAL (
    SELECT chain_id FROM chains WHERE chains.company_id = companies.company_id
      AND place < '1' || to_char(now() AT TIME ZONE 'UTC' - COALESCE(history_days, ${defaultHistoryDays}) * interval '1 day', 'YYYY-MM-DD')
    LIMIT 1000) AS expired ON true) RETURNING company_id, chain_id),
  old_ids AS (DELETE FROM chain_ids USING old WHERE (chain_ids.company_id, chain_ids.chain_id) = (old.company_id, old.chain_id))
  SELECT 1 FROM old`;
const heldRows = `json_to_recordset($1::text::json) AS held (company_id text, chain_id text, held_since timestamptz, paused boolean, failure_types text[])`;
const setHeld = `UPDATE chains SET updated_at = now(), held_since = held.held_since, paused = held.paused, failure_types = held.failure_types,
    status = CASE WHEN held.held_since IS NULL THEN 'running' ELSE 'needs-attention' END
  FROM ${heldRows} WHERE chains.company_id = held.company_id AND chains.chain_id = held.chain_id AND closed_at IS NULL
    AND (chains.held_since, chains.paused, chains.failure_types) IS DISTINCT FROM (held.held_since, held.paused, held.failure_types)`;
const setRunning = `UPDATE chains SET status = 'running', held_since = NULL, paused = NULL, failure_types = NULL, updated_at = now()
  WHERE closed_at IS NULL AND (status = 'needs-attention' OR paused)
    AND (company_id, chain_id) NOT IN (SELECT company_id, chain_id FROM ${heldRows})`;
const sentRows = 'json_to_recordset($1::text::json) AS sent (company_id text, chain_id text, nobody boolean)';
/** In a chain with several assignments, nobody knows which of them found nobody, so the mark stays until the chain ends. */
const setSent = `WITH written AS (UPDATE chains SET nobody_found = sent.nobody, updated_at = now() FROM ${sentRows}
  WHERE chains.company_id = sent.company_id AND chains.chain_id = sent.chain_id AND closed_at IS NULL AND nobody_found <> sent.nobody
    AND (sent.nobody OR cardinality(assignment_ids) = 1) RETURNING chains.*) ${writeIds}`;
const setSteered = `WITH written AS (UPDATE chains SET steered = true, updated_at = now(), assignment_ids = CASE WHEN $4 = ''
    THEN assignment_ids ELSE array_prepend($4, array_remove(array_remove(assignment_ids, $3), $4)) END
  WHERE company_id = $1 AND chain_id = $2 AND closed_at IS NULL RETURNING chains.*) ${writeIds}`;
const knownRow = z.object({
  companyId: z.string(),
  chainId: z.string(),
  runId: z.string().optional(),
  startedAt: z.iso.datetime().optional(),
  closedAt: z.iso.datetime().optional(),
  status: z.string().optional(),
});
export type KnownRow = z.infer<typeof knownRow>;
const selectOpen = `SELECT company_id AS "companyId", chain_id AS "chainId" FROM chains
  WHERE closed_at IS NULL`;
/** Marks chains as forgotten. Removes the run from their rows, so that a run that Temporal shows later can replace the row. */
const setForgotten = `WITH written AS (UPDATE chains SET status = 'forgotten', closed_at = $2::text::timestamptz, place = '1' || $2 || chains.chain_id,
    run_id = NULL, started_at = NULL, held_since = NULL, paused = NULL, updated_at = now()
  FROM json_to_recordset($1::text::json) AS named (company_id text, chain_id text)
  WHERE closed_at IS NULL AND chains.company_id = named.company_id AND chains.chain_id = named.chain_id RETURNING chains.*) ${writeIds}`;
const selectRuns = `SELECT company_id AS "companyId", chain_id AS "chainId", run_id AS "runId", started_at AS "startedAt", closed_at AS "closedAt", status
  FROM chains`;
const selectKnown = `${selectRuns}
  WHERE (company_id, chain_id) IN (SELECT company_id, chain_id FROM json_to_recordset($1::text::json) AS named (company_id text, chain_id text))`;

const range = 'company_id = $1 AND kind = $2 AND id >= $3 AND id < $4';
/** Each step reads only the next id, because one id can have very many chains. */
const selectIds = `WITH RECURSIVE found AS (
    (SELECT id FROM chain_ids WHERE ${range} ORDER BY id LIMIT 1)
    UNION ALL (SELECT (SELECT id FROM chain_ids WHERE ${range} AND id > found.id ORDER BY id LIMIT 1) FROM found WHERE id IS NOT NULL))
  SELECT id, (SELECT max(received_at) FROM chain_ids WHERE company_id = $1 AND kind = $2 AND id = found.id) AS "lastAt"
  FROM found WHERE id IS NOT NULL LIMIT 20`;
const selectChains = `SELECT chain_id AS id, received_at AS "lastAt" FROM chains
  WHERE company_id = $1 AND chain_id >= $2 AND chain_id < $3 ORDER BY chain_id LIMIT 20`;
const foundId = z.object({ id: z.string(), lastAt: z.string().optional() });

type Ref = Pick<ChainRow, 'companyId' | 'chainId'>;
export const keyOf = ({ companyId, chainId }: Ref) => `${companyId}:${chainId}`;
const named = (rows: readonly Ref[]) =>
  JSON.stringify(rows.map(({ companyId, chainId }) => ({ company_id: companyId, chain_id: chainId })));

export type NewChainRow = Omit<ChainRow, 'failedActions' | 'nobodyFound' | 'place'> &
  Partial<Pick<ChainRow, 'failedActions' | 'nobodyFound'>>;

/** The sends of an open chain: for each assignment, whether the last send found nobody. */
interface Sent extends Ref {
  nobody: Map<string, boolean>;
  since: number;
}

interface Unsettled {
  row: NewChainRow;
  since: number;
}

export type LostRow = (row: Ref, error: unknown) => void;

export class Chains {
  readonly #unsettled = new Map<string, Unsettled>();
  /** The ends that this process has written, with their times. Saves the collector a query. */
  readonly #ended = new Map<string, { known: KnownRow; at: number }>();
  readonly #sent = new Map<string, Sent>();
  #flushing: Promise<void> = Promise.resolve();
  #purgeAt = Date.now() + purgeEveryMs;
  readonly #timer: NodeJS.Timeout;

  /** @param onLost - called for each row that the database refuses. */
  constructor(
    private readonly database: Database,
    private readonly onLost: LostRow = () => {},
  ) {
    this.#timer = setInterval(() => {
      const restMs = this.#unsettled.size > manyWaiting ? busyRestMs : openRestMs;
      if (this.#unsettled.size > 0) this.flush(performance.now() - restMs).catch(() => {});
      this.#writeSent().catch(() => {});
    }, flushEveryMs).unref();
  }

  /** Never waits and never fails. If too many rows wait for the database, ignores the row. The collector adds the row later. */
  add(row: NewChainRow): void {
    const key = keyOf(row);
    if (!this.#unsettled.has(key)) this.#put(key, row);
  }

  /** Like `add`, for a chain that ends. The row replaces the row of the open chain. */
  end(row: NewChainRow): void {
    this.#sent.delete(keyOf(row));
    this.#put(keyOf(row), row);
  }

  /** Notes a send, so that the row of an open chain says whether nobody was found. Never waits and never fails. */
  sent({ companyId, chainId }: Ref, assignmentId: string, foundNobody: boolean): void {
    const key = keyOf({ companyId, chainId });
    const sent = this.#sent.get(key) ?? { companyId, chainId, nobody: new Map(), since: performance.now() };
    sent.nobody.set(assignmentId, foundNobody);
    if (this.#sent.size < mostUnsettled) this.#sent.set(key, sent);
  }

  async #writeSent(): Promise<void> {
    // The API has usually written the row of the chain after the first time, and always after the second time.
    const [first, last] = [openRestMs, busyRestMs].map((restMs) => performance.now() - restMs - flushEveryMs);
    const due = [...this.#sent].filter(([, { since }]) => since < Number(first));
    for (const [key, { since }] of due) if (since < Number(last)) this.#sent.delete(key);
    const rows = due.map(([, sent]) => ({
      ...{ company_id: sent.companyId, chain_id: sent.chainId, nobody: [...sent.nobody.values()].includes(true) },
    }));
    if (rows.length > 0) await this.database.query(setSent, [JSON.stringify(rows)]);
  }

  /**
   * Marks the row of an open chain, because a person has changed its steps. Never fails: without the mark, lists show the steps as
   * they were planned. @param from, to - the old assignment (if no action keeps this assignment), and the new assignment
   */
  async steered({ companyId, chainId }: Ref, from = '', to = ''): Promise<void> {
    await this.#flushed();
    await this.database.query(setSteered, [companyId, chainId, from, to]).catch(() => {});
  }

  #put(key: string, row: NewChainRow): void {
    if (this.#unsettled.size < mostUnsettled) this.#unsettled.set(key, { row, since: performance.now() });
  }

  /** Writes the rows of open chains that were added until this time, and all closed ones. @throws if the database does not answer. */
  flush(until = Number.POSITIVE_INFINITY): Promise<void> {
    const isDue = ({ row, since }: Unsettled) => row.closedAt !== undefined || since <= until;
    const flushed = this.#flushing.then(async () => {
      for (;;) {
        const due = [...this.#unsettled.values()].filter(isDue).slice(0, batch);
        if (due.length === 0) return;
        await this.collect(due.map(({ row }) => row));
        for (const one of due) this.#settle(one);
      }
    });
    this.#flushing = flushed.catch(() => {});
    return flushed;
  }

  #settle(one: Unsettled): void {
    const now = performance.now();
    for (const [key, { at }] of this.#ended) {
      if (at > now - endedMs) break;
      this.#ended.delete(key);
    }
    const key = keyOf(one.row);
    const { companyId, chainId, runId, startedAt, closedAt, status } = one.row;
    if (closedAt !== undefined)
      this.#ended.set(key, { known: { companyId, chainId, runId, startedAt, closedAt, status }, at: now });
    if (this.#unsettled.get(key) === one) this.#unsettled.delete(key);
  }

  /** Writes the waiting rows, so that readers see all chains that this process has accepted. Ignores a failure. */
  #flushed(): Promise<void> {
    return this.#unsettled.size === 0 ? Promise.resolve() : this.flush().catch(() => {});
  }

  /**
   * Writes rows that the collector has read from Temporal. A row of a later run replaces a row of an earlier run.
   * @param areCurrent - true if Temporal has just confirmed the runs in these rows. The rows then replace all stored rows.
   */
  async collect(rows: readonly NewChainRow[], areCurrent = false): Promise<void> {
    const onConflict = areCurrent ? replace : replaceOlder;
    for (let from = 0; from < rows.length; from += batch) await this.#write(rows.slice(from, from + batch), onConflict);
  }

  /** If the database refuses the batch, writes each row alone. @throws if the database does not answer. */
  async #write(rows: readonly NewChainRow[], onConflict: string): Promise<void> {
    if (rows.length === 0) return;
    const write = (some: readonly NewChainRow[]) => {
      const stored = some.map((row) => ({ failedActions: 0, nobodyFound: false, ...row, place: placeOf(row) }));
      return chains.insertAll(this.database, stored.map(storable), isKept, onConflict, writeIds);
    };
    await write(rows).catch(async (error: unknown) => {
      await this.database.query('SELECT 1').catch(() => Promise.reject(error));
      if (rows.length === 1 && rows[0]) return this.onLost(rows[0], error);
      for (const row of rows) await this.#write([row], onConflict);
    });
  }

  /** Returns the last known run of each of these chains, and the time when this run closed. */
  async known(some: readonly Ref[]): Promise<Map<string, KnownRow>> {
    const known = new Map<string, KnownRow>();
    for (const key of some.map(keyOf)) {
      const ended = this.#ended.get(key);
      if (ended && ended.at > performance.now() - endedMs) known.set(key, ended.known);
    }
    const others = some.filter((ref) => !known.has(keyOf(ref)));
    const rows = others.length === 0 ? [] : await read(this.database, knownRow, selectKnown, [named(others)]);
    for (const row of rows) known.set(keyOf(row), row);
    return known;
  }

  /** Records which open chains are held or paused. Gives all other open chains the status `running`. */
  async setHeld(
    held: readonly Pick<ChainRow, 'companyId' | 'chainId' | 'heldSince' | 'paused' | 'failureTypes'>[],
  ): Promise<void> {
    const rows = JSON.stringify(
      held.map(({ companyId, chainId, heldSince, paused, failureTypes }) => ({
        ...{ company_id: companyId, chain_id: chainId, held_since: heldSince, paused, failure_types: failureTypes },
      })),
    );
    if (held.length > 0) await this.database.query(setHeld, [rows]);
    await this.database.query(setRunning, [rows]);
  }

  /** Returns the chains that closed in this time. @param from, until - ISO 8601 in UTC with milliseconds */
  closedBetween(from: string, until: string) {
    return read(this.database, knownRow, `${selectRuns} WHERE place >= $1 AND place < $2`, [`1${from}`, `1${until}`]);
  }

  open() {
    return read(this.database, knownRow, selectOpen);
  }

  /** Closes the rows of open chains that Temporal does not know. */
  async forget(some: readonly Ref[]): Promise<void> {
    await this.database.query(setForgotten, [named(some), new Date().toISOString()]);
  }

  /** Counts the chains that `forget` has closed since this time. @param since - ISO 8601 */
  async forgottenSince(since: string): Promise<number> {
    const text = "SELECT count(*)::int AS chains FROM chains WHERE status = 'forgotten' AND closed_at >= $1::text::timestamptz";
    return (await read(this.database, z.object({ chains: z.int() }), text, [since]))[0]?.chains ?? 0;
  }

  /** Returns which of these companies exist. */
  async companiesAmong(companyIds: readonly string[]): Promise<Set<string>> {
    const text = 'SELECT company_id AS "companyId" FROM companies WHERE company_id = ANY ($1::text[])';
    const rows = await read(this.database, z.object({ companyId: z.string() }), text, [[...new Set(companyIds)]]);
    return new Set(rows.map(({ companyId }) => companyId));
  }

  async collectedUntil(taskQueue: string): Promise<string | undefined> {
    const text = 'SELECT until FROM collected WHERE task_queue = $1';
    return (await read(this.database, z.object({ until: z.string() }), text, [taskQueue]))[0]?.until;
  }

  async setCollected(taskQueue: string, until: string): Promise<void> {
    const text = `INSERT INTO collected VALUES ($1, $2::text::timestamptz)
      ON CONFLICT (task_queue) DO UPDATE SET until = EXCLUDED.until`;
    await this.database.query(text, [taskQueue, until]);
  }

  /** Deletes rows that are older than the company's `historyDays`, in batches, at most every ten minutes. */
  async purge(): Promise<void> {
    if (Date.now() < this.#purgeAt) return;
    this.#purgeAt = Date.now() + purgeEveryMs;
    while ((await this.database.query(purge)).length > 0);
  }

  /** Without `companyId`, the list has the chains of all companies. */
  async list(companyId: string | undefined, filter: RowFilter, request: PageRequest) {
    await this.#flushed();
    const { where, parameters } = conditions(companyId, filter);
    return lists.page(this.database, where, parameters, 'place DESC', request);
  }

  async counts(companyId: string, filter: RowFilter): Promise<Map<string, number>> {
    await this.#flushed();
    const { where, parameters } = conditions(companyId, filter);
    const counted = z.object({ status: z.string(), chains: z.int() });
    const text =
      parameters.length === 1 && !filter.paused && !filter.nobodyFound
        ? 'SELECT status, chains::int FROM chain_counts WHERE company_id = $1 AND chains > 0'
        : `SELECT status, count(*)::int AS chains FROM chains WHERE ${where} GROUP BY status`;
    return new Map((await read(this.database, counted, text, parameters)).map(({ status, chains }) => [status, chains]));
  }

  async get(companyId: string, chainId: string): Promise<ChainRow | undefined> {
    await this.#flushed();
    return chains.find(this.database, 'company_id = $1 AND chain_id = $2', [companyId, chainId]);
  }

  /** Finds the ids of the company that begin with this text, at most 20 of each kind. */
  async search(companyId: string, text: string) {
    await this.#flushed();
    const end = `${text}\u{10FFFF}`;
    const ofKind = (kind: string) => read(this.database, foundId, selectIds, [companyId, kind, text, end]);
    const [assignment, ticket, chain, rule] = await Promise.all([
      ofKind('assignment'),
      ofKind('ticket'),
      read(this.database, foundId, selectChains, [companyId, text, end]),
      ofKind('rule'),
    ]);
    return { assignment, ticket, chain, rule };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush().catch(() => {});
  }
}

/** PostgreSQL stores neither U+0000 nor half of a surrogate pair. */
function storable(row: object): Record<string, unknown> {
  const text = (value: string) => Buffer.from(value).toString().replaceAll('\0', '\u{FFFD}');
  const fields = Object.entries(row).map(([name, value]) => [
    name,
    typeof value === 'string' ? text(value) : Array.isArray(value) ? value.map((one) => text(String(one))) : value,
  ]);
  return Object.fromEntries(fields);
}

function conditions(companyId: string | undefined, filter: RowFilter): { where: string; parameters: Parameter[] } {
  const parameters: Parameter[] = [];
  const given = (value: string) => `$${parameters.push(value)}`;
  const company =
    companyId === undefined ? 'company_id IN (SELECT company_id FROM companies)' : `company_id = ${given(companyId)}`;
  const hasId = (kind: string, id: string) =>
    `(company_id, chain_id) IN (SELECT company_id, chain_id FROM chain_ids WHERE ${company} AND kind = '${kind}' AND id = ${given(id.slice(0, longestId))})`;
  const { status, assignmentId, ticketId, relayId, reason, since, until, paused, nobodyFound } = filter;
  const where = [
    company,
    status !== undefined && `status = ${given(status)}`,
    assignmentId !== undefined && hasId('assignment', assignmentId),
    ticketId !== undefined && hasId('ticket', ticketId),
    relayId !== undefined && hasId('rule', relayId),
    reason !== undefined && `${given(reason)} = ANY (failure_types)`,
    since !== undefined && `received_at >= ${given(since)}::text::timestamptz`,
    until !== undefined && `received_at < ${given(until)}::text::timestamptz`,
    paused && 'paused',
    nobodyFound && 'nobody_found',
  ].filter(Boolean);
  return { where: where.join(' AND '), parameters };
}
