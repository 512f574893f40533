/** The records of the simulators. */

/** A record for a page. `id` is the id that people type. */
export type VendorRecord = { id: string | number; title: string; fields: Record<string, unknown> };

/** Replaces the keys of the values with the names of the fields. */
export const named = (values: object, nameOf: (key: string) => string | undefined) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [nameOf(key) ?? key, value]));

/** A time in the form `yyyy-MM-ddTHH:mm:ssZ`. */
export const withoutMillis = (at = Date.now()) => `${new Date(at).toISOString().slice(0, 19)}Z`;

export const keyedBy = <Name extends string, Row extends Record<Name, unknown>>(name: Name, rows: Row[]) =>
  new Map(rows.map((row): [Row[Name], Row] => [row[name], row]));
