/**
 * PGlite databases that test files reuse. It takes seconds to create a database, but emptying it, or loading a copy, is quick.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import type { Database } from '../../src/store/database.js';
import { embeddedOf, openPglite } from '../../src/store/embedded.js';
import { migrate } from '../../src/store/migrations.js';

/** This process's unused databases. */
const free: Database[] = [];

/** An empty database with the schema; closing it returns it to the pool. */
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

/** Writes an empty database to a file. Processes that start later load this file. */
export async function makeFirst(file: string): Promise<void> {
  const pglite = await openPglite({});
  writeFileSync(file, Buffer.from(await (await pglite.dumpDataDir('none')).arrayBuffer()));
  await pglite.close();
  process.env.RELAY_TEST_PGLITE = file;
}

/** Closes the unused databases, because the timers of an open PGlite keep the process alive for half a minute. */
export async function closeFree(): Promise<void> {
  for (const database of free.splice(0)) await database.close();
}
