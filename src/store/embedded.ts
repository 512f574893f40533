/**
 * The store's database on a laptop: PGlite, PostgreSQL inside this process. A commit is with the operating system before it is
 * acknowledged: it survives kill -9, but no power cut, since PGlite has no fsync. It takes no lock: whoever opens a directory
 * makes sure that nobody else does.
 */

import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { type Database, queriesOf } from './database.js';
import { migrated } from './migrations.js';

/** Opens the database in the directory, which is made where there is none; without one it lives in memory. */
export async function openEmbedded(directory?: string): Promise<Database> {
  const dataDir = directory === undefined ? 'memory://' : resolve(directory);
  if (directory !== undefined && !existsSync(join(dataDir, 'PG_VERSION'))) await initialise(dataDir);
  return embeddedOf(await openPglite({ dataDir }));
}

/** The database of a PGlite, which it then owns. */
export function embeddedOf(pglite: PGlite): Promise<Database> {
  return migrated({
    ...queriesOf(pglite),
    transaction: (work) => pglite.transaction((transaction) => work(queriesOf(transaction))),
    close: () => pglite.close(),
  });
}

export function openPglite(options: PGliteOptions): Promise<PGlite> {
  // A laptop's store fits into 8 MB of buffers: the 128 MB that are usual would be half of the process's memory.
  const startParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=8MB'];
  return PGlite.create({ relaxedDurability: false, startParams, ...options });
}

/** Making one takes seconds, and one that was killed half-way never opens again: so it is made beside its place, then moved. */
async function initialise(directory: string): Promise<void> {
  const unfinished = `${directory}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(dirname(directory), { recursive: true });
  await (await openPglite({ dataDir: unfinished })).close();
  await rename(unfinished, directory);
}
