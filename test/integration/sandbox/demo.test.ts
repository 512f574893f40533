import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { ensureDemo } from '../../../src/sandbox/demo.js';
import { createStore } from '../../../src/store/store.js';
import { openEmptied } from '../../store/emptied.js';

describe('the demo company', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'relay-demo-'));
  const store = createStore(await openEmptied());
  after(async () => {
    await store.close();
    rmSync(directory, { recursive: true });
  });
  const made = () => ensureDemo(store, 'http://127.0.0.1:1', directory);

  it('is created once, and its token counts as never used', async () => {
    const demo = await made();
    assert(demo);
    assert.deepEqual(await made(), demo);
    const tokens = (await store.tokens.list(demo.companyId, demo.relayId)) ?? [];
    assert.deepEqual(
      tokens.map(({ state, lastUsedAt }) => [state, lastUsedAt]),
      [['active', undefined]],
    );
    const { ok } = await store.tokens.authenticate(demo.companyId, [demo]);
    assert.equal(ok, true);
    const people = await store.people.withAddress('admin@demo.example');
    assert.deepEqual(
      people.map(({ companyId, role }) => [companyId, role]),
      [['demo', 'manage']],
    );
    const back = JSON.parse(readFileSync(join(demo.examples, 'connect-demo.json'), 'utf8'));
    const company = await store.companies.get(demo.companyId);
    assert.deepEqual(back, { platform: company?.platform, ticketing: company?.ticketing });
  });

  it('is not offered any more after somebody has rotated the token of its rule', async () => {
    const actor = { kind: 'admin' } as const;
    await store.tokens.rotate('demo', '4711', 0, actor);
    assert.equal(await made(), undefined);
  });
});
