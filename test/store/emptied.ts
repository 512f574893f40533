/** PGlite for one test file after another: making one takes seconds, emptying one does not, nor does loading one that was made. */

import { readFileSync, writeFileSync } from 'node:fs';
import type { Database } from '../../src/store/database.js';
import { embeddedOf, openPglite } from '../../src/store/embedded.js';
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
  const made = process.env.RELAY_TEST_PGLITE;
  const database = used ?? (await embeddedOf(await openPglite(made ? { loadDataDir: new Blob([readFileSync(made)]) } : {})));
  return { ...database, close: async () => void free.push(database) };
}

/** Makes one, which the processes that are started from then on load. */
export async function makeFirst(file: string): Promise<void> {
  const pglite = await openPglite({});
  writeFileSync(file, Buffer.from(await (await pglite.dumpDataDir('none')).arrayBuffer()));
  await pglite.close();
  process.env.RELAY_TEST_PGLITE = file;
}

/** PGlite's timers keep the process for half a minute where it stays open. */
export async function closeFree(): Promise<void> {
  for (const database of free.splice(0)) await database.close();
}
