import assert from 'node:assert/strict';
import { it } from 'node:test';
import { extent } from '../../extent.js';
import { endlessUses, serveApi } from '../../hostile/api.js';
import { fuzz } from '../../hostile/fuzz.js';
import { openEmptied } from '../../store/emptied.js';

const count = extent(300, 1000);

it(`${count} hostile requests get no 5xx answer, and cause no logged error`, async () => {
  const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const served = await serveApi(await openEmptied(), { uses: endlessUses });
  try {
    const { sent, authenticated, answers, wrong } = await fuzz(served, { count, seed });
    assert.equal(sent, count);
    assert.deepEqual(wrong, [], `FUZZ_SEED=${seed}`);
    assert(authenticated > sent / 4, `${authenticated} were authenticated`);
    assert((answers[202] ?? 0) > 0 && (answers[400] ?? 0) > 0, JSON.stringify(answers));
    const errors = served.lines.filter((line) => line.includes('"level":"error"'));
    assert.deepEqual(errors.slice(0, 3), [], `FUZZ_SEED=${seed}`);
  } finally {
    await served.close();
  }
});
