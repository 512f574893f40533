/** The one query layer: SQL with `$1` parameters, the same for PostgreSQL and for the embedded PGlite, and tables of nouns. */

import { z } from 'zod';
import { DecryptionError, decryptText, encryptText, type Keyring } from '../contract/encryption.js';
import { encryptedFields, mapEncrypted } from '../contract/secrets.js';

export type Parameter = string | number | boolean | Uint8Array | readonly string[] | null;

export interface Queries {
  /** What tables encrypt with; absent: they store in clear. */
  readonly keyring?: Keyring;
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
  const rows = z.array(rowSchema).parse(await queries.query(text, parameters));
  return z.array(row).parse(rows.map(asNoun));
}

/** A row before it is parsed as a noun. */
export const rowSchema = z.record(z.string(), z.unknown());
type StoredRow = z.infer<typeof rowSchema>;

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
type Order = 'company_id ASC' | 'seq ASC' | 'seq DESC' | 'place DESC';

/** Fields of nouns that are never set, once the row is there. */
const fixedFields = ['companyId', 'relayId', 'createdAt', 'updatedAt'];

const columnOf = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const selected = (field: string) => `${columnOf(field)} AS "${field}"`;
/** JSON by the names of the columns. */
const recordOf = (values: object) =>
  JSON.stringify(Object.fromEntries(Object.entries(values).map(([field, value]) => [columnOf(field), value])));

/**
 * A table, or a subquery with an alias, that holds nouns, each field in the column of its name: `companyId` in `company_id`. What
 * the noun declares a secret, or `encrypted`, is encrypted as it is written, for its company, field and row, so that it can be
 * read nowhere else. The column `encryption_key` says with which key: '' for a row that has nothing to be encrypted, NULL for
 * one in clear.
 */
export class Table<Noun extends z.ZodObject> {
  /** `company_id AS "companyId", name`. */
  readonly columns: string;
  readonly #fields: readonly string[]; // that are encrypted, or hold what is

  /** @param rowId - the field that tells the rows of a company apart, where it is known before a row is written. */
  constructor(
    readonly name: string,
    private readonly noun: Noun,
    private readonly rowId?: string,
  ) {
    this.#fields = encryptedFields(noun);
    const fields = Object.keys(noun.shape);
    const toDecrypt = this.#fields.length > 0 ? ['companyId', 'encryptionKey'] : [];
    this.columns = [...new Set([...fields, ...toDecrypt])].map(selected).join(', ');
  }

  /** @param where - with what may follow it: `company_id = $1 ORDER BY name`. */
  select(queries: Queries, where: string, parameters: readonly Parameter[]): Promise<z.infer<Noun>[]> {
    return this.#read(queries, `SELECT ${this.columns} FROM ${this.name} WHERE ${where}`, parameters);
  }

  async #read(queries: Queries, text: string, parameters: readonly Parameter[]): Promise<z.infer<Noun>[]> {
    return (await read(queries, rowSchema, text, parameters)).map((row) => this.parse(queries, row));
  }

  /** @throws DecryptionError */
  parse({ keyring }: Queries, row: StoredRow): z.infer<Noun> {
    return this.noun.parse(this.#decrypted(keyring, row));
  }

  #decrypted(keyring: Keyring | undefined, row: StoredRow): StoredRow {
    if (!row.encryptionKey) return row; // What looks encrypted is somebody's text.
    const decrypt = (value: unknown, at: string): unknown => {
      const json = typeof value === 'string' ? decryptText(keyring, value, this.#place(row, at)) : undefined;
      return json === undefined ? value : JSON.parse(json);
    };
    return mapEncrypted(this.noun, row, decrypt) as StoredRow;
  }

  /** @param values - with its company and `rowId`. */
  #encrypted({ keyring }: Queries, values: StoredRow): StoredRow {
    if (this.#fields.length === 0) return values;
    let encryptionKey: string | null = '';
    const encrypted = mapEncrypted(this.noun, values, (value, at) => {
      encryptionKey = keyring?.currentId ?? null;
      return keyring ? encryptText(keyring, JSON.stringify(value), this.#place(values, at)) : value;
    });
    return { ...encrypted, encryptionKey };
  }

  /** Of one value, as what it is encrypted with names it. */
  #place(row: StoredRow, at: string): string {
    const table = this.name.replace(/.* /s, '');
    return [row.companyId, table, at, this.rowId && row[this.rowId]].join('\n');
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
      rowSchema.and(z.object({ cursor: z.string() })),
      `SELECT ${this.columns}, ${column}::text AS cursor FROM ${this.name}
       WHERE ${where} ${beyond} ORDER BY ${order} LIMIT $${place}::int`,
      [...parameters, limit + 1, ...(cursor === undefined ? [] : [cursor])],
    );
    const items = rows.slice(0, limit).map((row) => this.parse(queries, row));
    return { items, nextCursor: rows.length > limit ? rows[limit - 1]?.cursor : undefined };
  }

  /** @param statement - an UPDATE of what is not encrypted, or an INSERT. @returns the rows that it has written. */
  write(queries: Queries, statement: string, parameters: readonly Parameter[]): Promise<z.infer<Noun>[]> {
    return this.#read(queries, `${statement} RETURNING ${this.columns}`, parameters);
  }

  /** @param values - the row's, by field. @returns undefined where there is such a row already. */
  async insert(queries: Queries, values: StoredRow): Promise<z.infer<Noun> | undefined> {
    const stored = this.#encrypted(queries, values);
    const columns = Object.keys(stored).map(columnOf).join(', ');
    const record = `json_populate_record(NULL::${this.name}, $1::text::json)`;
    const statement = `INSERT INTO ${this.name} (${columns}) SELECT ${columns} FROM ${record} ON CONFLICT DO NOTHING`;
    return (await this.write(queries, statement, [recordOf(stored)]))[0];
  }

  /** Sets the row of a noun, which is locked; what `values` leaves out becomes NULL. @param ids - the row's, by field. */
  async update(queries: Queries, values: object, ids: Record<string, string>): Promise<z.infer<Noun>> {
    const fields = Object.keys(this.noun.shape).filter((field) => !fixedFields.includes(field));
    const where = Object.keys(ids).map((field, place) => `${columnOf(field)} = $${place + 2}`);
    const set = this.#set(this.#fields.length > 0 ? [...fields, 'encryptionKey'] : fields);
    const statement = `UPDATE ${this.name} SET ${set}, updated_at = now() WHERE ${where.join(' AND ')}`;
    const [row] = await this.write(queries, statement, [
      recordOf(this.#encrypted(queries, { ...values, ...ids })),
      ...Object.values(ids),
    ]);
    if (!row) throw new Error(`A row of ${this.name} vanished while it was locked`);
    return row;
  }

  /** To the values of a record that is `$1`. */
  #set(fields: readonly string[]): string {
    const columns = fields.map(columnOf).join(', ');
    return `(${columns}) = (SELECT ${columns} FROM json_populate_record(NULL::${this.name}, $1::text::json))`;
  }

  /** How many rows there are of each key, '' of those in clear. */
  async countByKey(queries: Queries): Promise<Map<string, number>> {
    const rows = await read(
      queries,
      z.object({ keyId: z.string().default(''), rows: z.int() }),
      `SELECT encryption_key AS "keyId", count(*)::int AS rows FROM ${this.name}
       WHERE encryption_key IS DISTINCT FROM '' GROUP BY encryption_key ORDER BY encryption_key NULLS FIRST`,
    );
    return new Map(rows.map(({ keyId, rows }) => [keyId, rows]));
  }

  /**
   * Encrypts rows with the present key that are in clear or of another key that is known, but for those that somebody writes at
   * the moment: at most `most`, in a transaction. @returns how many, and why others could not be read.
   */
  async encryptAgain(queries: Queries, { ids, currentId }: Keyring, most: number) {
    const named = ['companyId', 'encryptionKey', ...(this.rowId ? [this.rowId] : []), ...this.#fields];
    const rows = await read(
      queries,
      rowSchema,
      `SELECT ctid::text, ${named.map(selected).join(', ')} FROM ${this.name}
       WHERE encryption_key IS NULL OR encryption_key = ANY ($1::text[]) LIMIT $2::int FOR UPDATE SKIP LOCKED`,
      [ids.filter((id) => id !== currentId), most],
    );
    const unreadable: string[] = [];
    const update = `UPDATE ${this.name} SET ${this.#set([...this.#fields, 'encryptionKey'])} WHERE ctid = $2::text::tid`;
    for (const { ctid, ...row } of rows) {
      try {
        const record = recordOf(this.#encrypted(queries, this.#decrypted(queries.keyring, row)));
        await queries.query(update, [record, String(ctid)]);
      } catch (error) {
        if (!(error instanceof DecryptionError)) throw error;
        const place = [`a row of ${this.name} of company ${row.companyId}`, this.rowId && `${row[this.rowId]}`];
        unreadable.push(`${place.filter(Boolean).join(', ')}: ${error.message}`);
      }
    }
    return { rows: rows.length - unreadable.length, unreadable };
  }
}
