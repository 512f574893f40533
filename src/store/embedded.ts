/** PGlite: PostgreSQL in this process. A commit survives kill -9, but not a power cut. Only one process may open a directory. */

import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { type Database, queriesOf } from './database.js';
import { migrated } from './migrations.js';

/** Opens the database. Creates the directory if needed. Without a directory, the database is in memory. */
export async function openEmbedded(directory?: string): Promise<Database> {
  const dataDir = directory === undefined ? 'memory://' : resolve(directory);
  if (directory !== undefined && !existsSync(join(dataDir, 'PG_VERSION'))) await initialise(dataDir);
  return embeddedOf(await openPglite({ dataDir }));
}

export function embeddedOf(pglite: PGlite): Promise<Database> {
  return migrated({
    ...queriesOf(pglite),
    transaction: (work) => pglite.transaction((transaction) => work(queriesOf(transaction))),
    close: () => pglite.close(),
  });
}

export function openPglite(options: PGliteOptions): Promise<PGlite> {
  // 8 MB of buffers are enough. The default of 128 MB would be half of the memory of the process.
  const startParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=8MB'];
  return PGlite.create({ relaxedDurability: false, startParams, ...options });
}

/** Creates the database in another directory, then renames it. So an interruption leaves no half-made database in `directory`. */
async function initialise(directory: string): Promise<void> {
  const unfinished = `${directory}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(dirname(directory), { recursive: true });
  await (await openPglite({ dataDir: unfinished })).close();
  await rename(unfinished, directory);
}
