/** `serveApi` as a process of its own, so that what its requests cost can be told from what sending them does. */

import { openEmbedded } from '../../src/store/embedded.js';
import { openPostgres } from '../../src/store/postgres.js';
import { endlessUses, serveApi } from './api.js';

export interface Cost {
  cpuMicros: number;
  rss: number;
  heapUsed: number;
  errors: string[];
}

const { DATABASE_URL: databaseUrl } = process.env;
const {
  close: _,
  lines,
  ...served
} = await serveApi(databaseUrl ? await openPostgres(databaseUrl) : await openEmbedded(), {
  uses: endlessUses,
});
process.on('message', () => {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  process.send?.({ cpuMicros: user + system, rss, heapUsed, errors: lines.splice(0).slice(0, 20) } satisfies Cost);
});
process.on('disconnect', () => process.exit());
process.send?.(served);
