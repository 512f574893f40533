/** PGlite for one test file after another: making one takes seconds, emptying one does not. */

import type { Database } from '../../src/store/database.js';
import { openEmbedded } from '../../src/store/embedded.js';
import { migrate } from '../../src/store/migrations.js';

/** Databases of this process that nobody uses at present. */
const free: Database[] = [];

/** An empty database with the schema; closing it leaves it to the next. */
export async function openEmptied(): Promise<Database> {
  const used = free.pop();
  if (used) {
    await used.query('DROP SCHEMA public CASCADE');
    await used.query('CREATE SCHEMA public');
    await migrate(used);
  }
  const database = used ?? (await openEmbedded());
  return { ...database, close: async () => void free.push(database) };
}
