/** The one query layer: SQL with `$1` parameters, the same for PostgreSQL and for the embedded PGlite. */

import { z } from 'zod';

export type Parameter = string | number | boolean | Uint8Array | readonly string[] | null;

export interface Queries {
  /** Runs one statement and resolves to its rows; `read` parses them. JSON goes in as text: `$1::text::jsonb`. */
  query(text: string, parameters?: readonly Parameter[]): Promise<unknown[]>;
}

export interface Database extends Queries {
  /** Commits when `work` resolves, rolls back when it rejects. `work` asks only the queries that it is given. */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The rows of a statement, each parsed: NULL columns are left out, and times are ISO 8601 in UTC, as the nouns have them. */
export async function read<Row extends z.ZodType>(
  queries: Queries,
  row: Row,
  text: string,
  parameters: readonly Parameter[] = [],
): Promise<z.infer<Row>[]> {
  const rows = z.array(z.record(z.string(), z.unknown())).parse(await queries.query(text, parameters));
  return z.array(row).parse(rows.map(asNoun));
}

function asNoun(row: Record<string, unknown>): Record<string, unknown> {
  const given = Object.entries(row).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([field, value]) => [field, value instanceof Date ? value.toISOString() : value]));
}

/** Whether there is a row: `rules WHERE relay_id = $1`. */
export async function exists(queries: Queries, from: string, parameters: readonly Parameter[]): Promise<boolean> {
  return (await queries.query(`SELECT 1 FROM ${from}`, parameters)).length > 0;
}

/** The columns that hold a noun: `company_id AS "companyId", name`. */
export function columnsOf({ shape }: z.ZodObject): string {
  return Object.keys(shape)
    .map((field) => `${columnOf(field)} AS "${field}"`)
    .join(', ');
}

/** Sets these fields of a noun in an UPDATE, from one parameter that `valuesOf` makes: `(name) = (SELECT name FROM …)`. */
export function assignmentOf({ shape }: z.ZodObject, table: string, parameter: string): string {
  const columns = Object.keys(shape).map(columnOf).join(', ');
  return `(${columns}) = (SELECT ${columns} FROM jsonb_populate_record(NULL::${table}, ${parameter}::text::jsonb))`;
}

/** JSON by the names of the columns; what is absent becomes NULL. */
export function valuesOf(noun: object): string {
  return JSON.stringify(Object.fromEntries(Object.entries(noun).map(([field, value]) => [columnOf(field), value])));
}

function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** JSON for a `$n::text::jsonb` parameter. */
export function json(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value);
}

/** A part of a list. */
export interface Page<Item> {
  items: Item[];
  /** Where the next part begins; absent on the last one. */
  next?: string;
}

/** Which part of a list: at most `limit` items after the cursor, which is the `next` of the part before. */
export interface PageRequest {
  limit: number;
  after?: string;
}

/** Makes a page of `limit + 1` rows asked for, of which the last only tells that there are more. */
export function page<Row>(rows: Row[], limit: number, cursor: (row: Row) => string): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return rows.length > limit && last !== undefined ? { items, next: cursor(last) } : { items };
}
