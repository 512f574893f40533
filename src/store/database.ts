/** The one query layer: SQL with `$1` parameters, the same for PostgreSQL and for the embedded PGlite, and tables of nouns. */

import { z } from 'zod';

export type Parameter = string | number | boolean | Uint8Array | readonly string[] | null;

export interface Queries {
  /** Runs one statement and resolves to its rows; `read` parses them. JSON goes in as text: `$1::text::json`. */
  query(text: string, parameters?: readonly Parameter[]): Promise<unknown[]>;
}

export interface Database extends Queries {
  /** Commits when `work` resolves, rolls back when it rejects. `work` asks only the queries that it is given. */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** What a driver's connection, pool or transaction can be asked. */
export function queriesOf(driver: { query(text: string, parameters: unknown[]): Promise<{ rows: unknown[] }> }): Queries {
  return { query: async (text, parameters = []) => (await driver.query(text, [...parameters])).rows };
}

/** The rows of a statement, each parsed: NULL columns are left out, and times are ISO 8601 in UTC, as the nouns have them. */
export async function read<Row extends z.ZodType>(queries: Queries, row: Row, text: string, parameters?: readonly Parameter[]) {
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

/** Which part of a list: at most `limit` items after the `nextCursor` of the part before. */
export interface PageRequest {
  limit: number;
  cursor?: string;
}

/** By the column that is the cursor. */
type Order = 'company_id ASC' | 'seq ASC' | 'seq DESC';

/** Fields of nouns that are never set, once the row is there. */
const fixedFields = ['companyId', 'relayId', 'createdAt', 'updatedAt'];

const columnOf = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
/** JSON by the names of the columns. */
const recordOf = (values: object) =>
  JSON.stringify(Object.fromEntries(Object.entries(values).map(([field, value]) => [columnOf(field), value])));

/** A table, or a subquery with an alias, that holds nouns, each field in the column of its name: `companyId` in `company_id`. */
export class Table<Noun extends z.ZodObject> {
  /** `company_id AS "companyId", name`. */
  readonly columns: string;

  constructor(
    readonly name: string,
    private readonly noun: Noun,
  ) {
    const columns = Object.keys(noun.shape).map((field) => `${columnOf(field)} AS "${field}"`);
    this.columns = columns.join(', ');
  }

  /** @param where - with what may follow it: `company_id = $1 ORDER BY name`. */
  select(queries: Queries, where: string, parameters: readonly Parameter[]): Promise<z.infer<Noun>[]> {
    return read(queries, this.noun, `SELECT ${this.columns} FROM ${this.name} WHERE ${where}`, parameters);
  }

  async find(queries: Queries, where: string, parameters: readonly Parameter[]): Promise<z.infer<Noun> | undefined> {
    return (await this.select(queries, where, parameters))[0];
  }

  async page(queries: Queries, where: string, parameters: readonly Parameter[], order: Order, { cursor, limit }: PageRequest) {
    const column = order.replace(/ .*/, '');
    const place = parameters.length + 1;
    const beyond = cursor === undefined ? '' : `AND ${column} ${order.endsWith('DESC') ? '<' : '>'} $${place + 1}`;
    // One more than are wanted only tells that there are more.
    const rows = await read(
      queries,
      z.looseObject({ cursor: z.string() }),
      `SELECT ${this.columns}, ${column}::text AS cursor FROM ${this.name}
       WHERE ${where} ${beyond} ORDER BY ${order} LIMIT $${place}::int`,
      [...parameters, limit + 1, ...(cursor === undefined ? [] : [cursor])],
    );
    const items = z.array(this.noun).parse(rows.slice(0, limit));
    return { items, nextCursor: rows.length > limit ? rows[limit - 1]?.cursor : undefined };
  }

  /** @param statement - an INSERT or UPDATE. @returns the rows that it has written. */
  write(queries: Queries, statement: string, parameters: readonly Parameter[]): Promise<z.infer<Noun>[]> {
    return read(queries, this.noun, `${statement} RETURNING ${this.columns}`, parameters);
  }

  /** @param values - the row's, by field. @returns undefined where there is such a row already. */
  async insert(queries: Queries, values: object): Promise<z.infer<Noun> | undefined> {
    const columns = Object.keys(values).map(columnOf).join(', ');
    const record = `json_populate_record(NULL::${this.name}, $1::text::json)`;
    const statement = `INSERT INTO ${this.name} (${columns}) SELECT ${columns} FROM ${record} ON CONFLICT DO NOTHING`;
    return (await this.write(queries, statement, [recordOf(values)]))[0];
  }

  /** Sets the row of a noun, which is locked; what `values` leaves out becomes NULL. */
  async update(queries: Queries, values: object, where: string, parameters: readonly Parameter[]): Promise<z.infer<Noun>> {
    const fields = Object.keys(this.noun.shape).filter((field) => !fixedFields.includes(field));
    const columns = fields.map(columnOf).join(', ');
    const record = `json_populate_record(NULL::${this.name}, $${parameters.length + 1}::text::json)`;
    const set = `(${columns}) = (SELECT ${columns} FROM ${record}), updated_at = now()`;
    const statement = `UPDATE ${this.name} SET ${set} WHERE ${where}`;
    const [row] = await this.write(queries, statement, [...parameters, recordOf(values)]);
    if (!row) throw new Error(`A row of ${this.name} vanished while it was locked`);
    return row;
  }
}
