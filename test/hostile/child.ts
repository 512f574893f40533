/**
 * `serveApi` as a separate process, so that its cost can be measured without the cost of the sender. This process answers
 * questions about the requests in its ledger.
 */

import { openEmbedded } from '../../src/store/embedded.js';
import { openPostgres } from '../../src/store/postgres.js';
import { endlessUses, serveApi } from './api.js';
import { keepLedger } from './ledger.js';

export interface Cost {
  cpuMicros: number;
  rss: number;
  heapUsed: number;
  errors: string[];
}

const { DATABASE_URL: databaseUrl, RELAY_TEST_LEDGER: withLedger } = process.env;
const database = databaseUrl ? await openPostgres(databaseUrl) : await openEmbedded();
// Without a ledger, the fake forgets started chains, so that the memory does not grow.
const ledger = withLedger === undefined ? undefined : keepLedger(database);
const {
  close: _,
  lines,
  ...served
} = await serveApi(database, { uses: endlessUses, ...(ledger && { workflow: { start: ledger.start } }) });
/** A question to the ledger, and its number. */
export interface LedgerQuestion {
  id: number;
  what: 'read' | 'clear';
  companyId: string;
}
process.on('message', async (asked: string | LedgerQuestion) => {
  if (typeof asked === 'object') return process.send?.({ id: asked.id, said: await ledger?.[asked.what](asked.companyId) });
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return process.send?.({ cpuMicros: user + system, rss, heapUsed, errors: lines.splice(0).slice(0, 20) } satisfies Cost);
});
process.on('disconnect', () => process.exit());
process.send?.(served);
