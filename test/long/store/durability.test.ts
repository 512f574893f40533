import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Credentials } from '../../../src/store/credentials.js';
import { openEmbedded } from '../../../src/store/embedded.js';
import { createStore } from '../../../src/store/store.js';
import { extent } from '../../extent.js';

/** Each kill takes about 2 seconds. */
const kills = Number(process.env.RELAY_TEST_KILLS ?? extent(3, 8));

describe('the embedded store', () => {
  let parent: string;
  before(async () => {
    parent = await mkdtemp(join(tmpdir(), 'relay-durability-'));
  });
  after(() => rm(parent, { recursive: true, force: true }));

  it(`keeps every acknowledged rule through ${kills} kill -9 at random moments`, async (t) => {
    const directory = join(parent, 'store');
    const acknowledged: Credentials[] = [];
    for (let kill = 0; kill < kills; kill++) {
      acknowledged.push(...(await writeUntilKilled(directory, Math.random())));
      const store = createStore(await openEmbedded(directory));
      if (acknowledged.length > 0) {
        assert.ok((await store.tokens.authenticate('acme', acknowledged)).ok, `lost after kill ${kill}`);
        assert.ok(await store.rules.get('acme', acknowledged.at(-1)?.relayId ?? ''));
      }
      await store.close();
    }
    t.diagnostic(`${acknowledged.length} rules acknowledged`);
    assert.ok(kills < 8 || acknowledged.length > 0);
  });
});

/**
 * Runs a writer and kills it. One writer in four is killed while it opens the database, all others at a random moment while they
 * write.
 */
async function writeUntilKilled(directory: string, chance: number): Promise<Credentials[]> {
  const writer = spawn(process.execPath, [fileURLToPath(new URL('../../store/killed-writer.js', import.meta.url)), directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(writer, 'exit');
  const written: Credentials[] = [];
  const lines = createInterface(writer.stdout);
  lines.on('line', (line) => {
    const [relayId = '', relayAccessToken = ''] = line.split(' ');
    // The kill may cut the last line. Then the parent has not seen the acknowledgement.
    if (relayAccessToken.length === 40) written.push({ relayId, relayAccessToken });
  });
  const read = once(lines, 'close');
  if (chance < 0.25) await setTimeout(chance * 8_000);
  else await Promise.race([once(lines, 'line'), exited]).then(() => setTimeout(chance * 1_000));
  writer.kill('SIGKILL');
  const [, signal] = await exited;
  assert.equal(signal, 'SIGKILL', 'the writer ended by itself');
  await read;
  return written;
}
