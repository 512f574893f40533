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

/** The rows of a statement, each parsed. */
export async function read<Row extends z.ZodType>(
  queries: Queries,
  row: Row,
  text: string,
  parameters: readonly Parameter[] = [],
): Promise<z.infer<Row>[]> {
  return z.array(row).parse(await queries.query(text, parameters));
}

type WithoutNulls<Row> = { [Column in keyof Row as null extends Row[Column] ? never : Column]: Row[Column] } & {
  [Column in keyof Row as null extends Row[Column] ? Column : never]?: Exclude<Row[Column], null>;
};

/** The row with its NULL columns left out, as the types of the store have it. */
export function withoutNulls<Row extends object>(row: Row): WithoutNulls<Row> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as WithoutNulls<Row>;
}

/** JSON for a `$n::text::jsonb` parameter; NULL for undefined. */
export function json(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
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
