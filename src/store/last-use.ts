/** When tokens and keys were last used: noted at most once a minute for each, by the way. */

import type { Database } from './database.js';

export const noteEveryMs = 60_000;

/** In a query over tokens or keys: whether this use is to be noted. */
export const useUnnoted = `(last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`;

/** Notes the use. Nobody waits for it, nobody fails with it, and it waits for nobody. */
export function noteUse(
  database: Database,
  table: 'tokens' | 'company_keys',
  id: 'token_id' | 'key_id',
  used: readonly string[],
): void {
  if (used.length === 0) return;
  database
    .query(
      `UPDATE ${table} SET last_used_at = now()
       WHERE ${id} IN (SELECT ${id} FROM ${table} WHERE ${id} = ANY ($1::text[]) AND ${useUnnoted} FOR UPDATE SKIP LOCKED)`,
      [used],
    )
    .catch(() => {});
}
