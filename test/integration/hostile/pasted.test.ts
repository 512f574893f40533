import assert from 'node:assert/strict';
import { it } from 'node:test';
import { endlessUses, serveApi } from '../../hostile/api.js';
import { keepLedger } from '../../hostile/ledger.js';
import { pasted } from '../../hostile/pasted.js';
import { openEmptied } from '../../store/emptied.js';

it('500 bodies with pasted values each run as intended, or are kept and reported', async () => {
  const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const database = await openEmptied();
  const ledger = keepLedger(database);
  const served = await serveApi(database, { uses: endlessUses, workflow: { start: ledger.start } });
  try {
    const { sent, counts, wrong } = await pasted({ ...served, ...ledger }, { count: 500, seed });
    assert.deepEqual([sent, wrong.slice(0, 3)], [500, []], `FUZZ_SEED=${seed}`);
    for (const what of ['202, meant', '400, kept: malformed-body']) assert((counts[what] ?? 0) > 0, JSON.stringify(counts));
  } finally {
    await served.close();
  }
});
