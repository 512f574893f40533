/** The query layer for PostgreSQL and the embedded PGlite: SQL with `$1` parameters, and tables of typed objects. */

import { z } from 'zod';
import { DecryptionError, decryptText, encryptText, type Keyring } from '../contract/encryption.js';
import { encryptedFields, mapEncrypted } from '../contract/secrets.js';

export type Parameter = string | number | boolean | Uint8Array | readonly string[] | null;

export interface Queries {
  readonly keyring?: Keyring; // the keys of encrypted columns; without a keyring, no column is encrypted
  /** Runs one statement. The function `read` also parses the rows. Pass JSON as text: `$1::text::json`. */
  query(text: string, parameters?: readonly Parameter[]): Promise<unknown[]>;
}

export interface Database extends Queries {
  /** Commits if the promise of `work` resolves. Otherwise rolls back. `work` must use only the given queries. */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export function queriesOf(driver: { query(text: string, parameters: unknown[]): Promise<{ rows: unknown[] }> }): Queries {
  return { query: async (text, parameters = []) => (await driver.query(text, [...parameters])).rows };
}

/** Parses each row. NULL columns are absent. Times are ISO 8601 in UTC. */
export async function read<Row extends z.ZodType>(queries: Queries, row: Row, text: string, parameters?: readonly Parameter[]) {
  const rows = z.array(rowSchema).parse(await queries.query(text, parameters));
  return z.array(row).parse(rows.map(asNoun));
}

export const rowSchema = z.record(z.string(), z.unknown());
export type StoredRow = z.infer<typeof rowSchema>;

function asNoun(row: Record<string, unknown>): Record<string, unknown> {
  const given = Object.entries(row).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([field, value]) => [field, value instanceof Date ? value.toISOString() : value]));
}

/** @param from - for example `rules WHERE relay_id = $1` */
export const exists = async (queries: Queries, from: string, parameters: readonly Parameter[]): Promise<boolean> =>
  (await queries.query(`SELECT 1 FROM ${from}`, parameters)).length > 0;

/** Selects a page of a list: at most `limit` items after `cursor`, which is the `nextCursor` of the previous page. */
export type PageRequest = { limit: number; cursor?: string };

/** The column and the direction of sorting. A cursor is a value of this column. */
type Order = `${Lowercase<string>} ${'ASC' | 'DESC'}`;

const times = ['createdAt', 'updatedAt']; // the database sets these fields

const columnNames = new Map<string, string>();
function columnOf(field: string): string {
  const name = columnNames.get(field) ?? field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  columnNames.set(field, name);
  return name;
}
const selected = (field: string) => `${columnOf(field)} AS "${field}"`;
const recordOf = (values: object) =>
  JSON.stringify(Object.fromEntries(Object.entries(values).map(([field, value]) => [columnOf(field), value])));

/**
 * A table, or a subquery with an alias. The field `companyId` is the column `company_id`. Secret and `encrypted` fields are
 * encrypted for their company, field and row. A copy in another row or field cannot be decrypted. The column `encryption_key`
 * names the key. This column is '' if there is nothing to encrypt, and NULL if the row is not encrypted.
 */
export class Table<Noun extends z.ZodObject> {
  readonly columns: string; // for example `company_id AS "companyId", name`
  readonly #fields: readonly string[]; // fields that are encrypted, or have encrypted parts
  readonly #rowId: readonly string[];

  /** @param rowId - the fields that identify a row within a company; absent if the id is not known before the insert. */
  constructor(
    readonly name: string,
    private readonly noun: Noun,
    ...rowId: string[]
  ) {
    this.#rowId = rowId;
    this.#fields = encryptedFields(noun);
    const fields = Object.keys(noun.shape);
    const toDecrypt = this.#fields.length > 0 ? ['companyId', 'encryptionKey', ...rowId] : [];
    this.columns = [...new Set([...fields, ...toDecrypt])].map(selected).join(', ');
  }

  /** @param where - the SQL after WHERE, such as `company_id = $1 ORDER BY name`. */
  async select(queries: Queries, where: string, parameters: readonly Parameter[]): Promise<z.infer<Noun>[]> {
    return (await this.selectRaw(queries, where, parameters)).map((row) => this.parse(queries, row));
  }

  /** Like `select`, but does not decrypt the rows. `parse` reads such a row, also in another thread. */
  selectRaw(queries: Queries, where: string, parameters: readonly Parameter[]): Promise<StoredRow[]> {
    return read(queries, rowSchema, `SELECT ${this.columns} FROM ${this.name} WHERE ${where}`, parameters);
  }

  /** @throws DecryptionError */
  parse({ keyring }: Pick<Queries, 'keyring'>, row: StoredRow): z.infer<Noun> {
    return this.noun.parse(this.#decrypted(keyring, row));
  }

  #decrypted(keyring: Keyring | undefined, row: StoredRow): StoredRow {
    if (!row.encryptionKey) return row; // nothing is encrypted, even if a person's text looks like an encrypted text
    const decrypt = (value: unknown, at: string): unknown => {
      const json = typeof value === 'string' ? decryptText(keyring, value, this.#place(row, at)) : undefined;
      return json === undefined ? value : JSON.parse(json);
    };
    return mapEncrypted(this.noun, row, decrypt) as StoredRow;
  }

  /** @param values - must include the company id and the `rowId`. */
  #encrypted({ keyring }: Queries, values: StoredRow): StoredRow {
    if (this.#fields.length === 0) return values;
    let encryptionKey: string | null = '';
    const encrypted = mapEncrypted(this.noun, values, (value, at) => {
      encryptionKey = keyring?.currentId ?? null;
      return keyring ? encryptText(keyring, JSON.stringify(value), this.#place(values, at)) : value;
    });
    return { ...encrypted, encryptionKey };
  }

  /** The encryption context: company, table, field, row. */
  #place(row: StoredRow, at: string): string {
    const table = this.name.replace(/.* /s, '');
    return [row.companyId, table, at, ...(this.#rowId.length > 0 ? this.#rowId.map((field) => row[field]) : [''])].join('\n');
  }

  async find(queries: Queries, where: string, parameters: readonly Parameter[]): Promise<z.infer<Noun> | undefined> {
    return (await this.select(queries, where, parameters))[0];
  }

  async page(queries: Queries, where: string, parameters: readonly Parameter[], order: Order, { cursor, limit }: PageRequest) {
    const column = order.replace(/ .*/, '');
    const place = parameters.length + 1;
    const beyond = cursor === undefined ? '' : `AND ${column} ${order.endsWith('DESC') ? '<' : '>'} $${place + 1}`;
    // Read one more row than the page needs. If this row exists, there is a next page.
    const select = `SELECT ${this.columns}, ${column}::text AS cursor FROM ${this.name}
      WHERE ${where} ${beyond} ORDER BY ${order} LIMIT $${place}::int`;
    const row = rowSchema.and(z.object({ cursor: z.string() }));
    const rows = await read(queries, row, select, [...parameters, limit + 1, ...(cursor === undefined ? [] : [cursor])]);
    const items = rows.slice(0, limit).map((row) => this.parse(queries, row));
    return { items, nextCursor: rows.length > limit ? rows[limit - 1]?.cursor : undefined };
  }

  /** @param statement - an INSERT, or an UPDATE of columns without encryption. @returns the written rows. */
  async write(queries: Queries, statement: string, parameters: readonly Parameter[]): Promise<z.infer<Noun>[]> {
    const rows = await read(queries, rowSchema, `${statement} RETURNING ${this.columns}`, parameters);
    return rows.map((row) => this.parse(queries, row));
  }

  /** @returns undefined if the row exists already. */
  async insert(queries: Queries, values: StoredRow): Promise<z.infer<Noun> | undefined> {
    const stored = this.#encrypted(queries, values);
    const columns = Object.keys(stored).map(columnOf).join(', ');
    const record = `json_populate_record(NULL::${this.name}, $1::text::json)`;
    const statement = `INSERT INTO ${this.name} (${columns}) SELECT ${columns} FROM ${record} ON CONFLICT DO NOTHING`;
    return (await this.write(queries, statement, [recordOf(stored)]))[0];
  }

  /**
   * Inserts the rows in order. By default, existing rows stay unchanged. @param where - a condition for each row, named `given`
   * @param then - the statement after `WITH written AS (…)`. In this statement, `written` has the written rows.
   */
  async insertAll(queries: Queries, rows: readonly StoredRow[], where: string, onConflict = 'DO NOTHING', then?: string) {
    const stored = rows.map((row) => this.#encrypted(queries, row));
    const columns = [...new Set(stored.flatMap(Object.keys))].map(columnOf).join(', ');
    const records = `[${stored.map(recordOf).join()}]`;
    const statement = `INSERT INTO ${this.name} (${columns})
      SELECT ${columns} FROM json_populate_recordset(NULL::${this.name}, $1::text::json) WITH ORDINALITY AS given
      WHERE ${where} ORDER BY ordinality ON CONFLICT ${onConflict}`;
    await queries.query(then === undefined ? statement : `WITH written AS (${statement} RETURNING *) ${then}`, [records]);
  }

  /** Overwrites a locked row. If `values` lacks a field, the field becomes NULL. @param ids - the columns that identify the row. */
  async update(queries: Queries, values: object, ids: Record<string, string>): Promise<z.infer<Noun>> {
    const fields = Object.keys(this.noun.shape).filter((field) => !(field in ids) && !times.includes(field));
    const where = Object.keys(ids).map((field, place) => `${columnOf(field)} = $${place + 2}`);
    const set = this.#set(this.#fields.length > 0 ? [...fields, 'encryptionKey'] : fields);
    const statement = `UPDATE ${this.name} SET ${set}, updated_at = now() WHERE ${where.join(' AND ')}`;
    const record = recordOf(this.#encrypted(queries, { ...values, ...ids }));
    const [row] = await this.write(queries, statement, [record, ...Object.values(ids)]);
    if (!row) throw new Error(`A row of ${this.name} vanished while it was locked`);
    return row;
  }

  #set(fields: readonly string[]): string {
    const columns = fields.map(columnOf).join(', ');
    return `(${columns}) = (SELECT ${columns} FROM json_populate_record(NULL::${this.name}, $1::text::json))`;
  }

  /** Counts the rows of each key id. Unencrypted rows have the id ''. Rows with nothing to encrypt do not count. */
  async countByKey(queries: Queries): Promise<Map<string, number>> {
    const count = `SELECT encryption_key AS "keyId", count(*)::int AS rows FROM ${this.name}
      WHERE encryption_key IS DISTINCT FROM '' GROUP BY encryption_key ORDER BY encryption_key NULLS FIRST`;
    const rows = await read(queries, z.object({ keyId: z.string().default(''), rows: z.int() }), count);
    return new Map(rows.map(({ keyId, rows }) => [keyId, rows]));
  }

  /** Changes rows with no key, or another known key, to the current key. Skips locked rows. @returns their number, and errors. */
  async encryptAgain(queries: Queries, { ids, currentId }: Keyring, most: number) {
    const named = ['companyId', 'encryptionKey', ...this.#rowId, ...this.#fields];
    const select = `SELECT ctid::text, ${named.map(selected).join(', ')} FROM ${this.name}
      WHERE encryption_key IS NULL OR encryption_key = ANY ($1::text[]) LIMIT $2::int FOR UPDATE SKIP LOCKED`;
    const rows = await read(queries, rowSchema, select, [ids.filter((id) => id !== currentId), most]);
    const unreadable: string[] = [];
    const update = `UPDATE ${this.name} SET ${this.#set([...this.#fields, 'encryptionKey'])} WHERE ctid = $2::text::tid`;
    for (const { ctid, ...row } of rows) {
      try {
        const record = recordOf(this.#encrypted(queries, this.#decrypted(queries.keyring, row)));
        await queries.query(update, [record, String(ctid)]);
      } catch (error) {
        if (!(error instanceof DecryptionError)) throw error;
        const ofCompany = row.companyId === undefined ? '' : ` of company ${row.companyId}`;
        const place = [`a row of ${this.name}${ofCompany}`, ...this.#rowId.map((field) => String(row[field]))];
        unreadable.push(`${place.join(', ')}: ${error.message}`);
      }
    }
    return { rows: rows.length - unreadable.length, unreadable };
  }
}
