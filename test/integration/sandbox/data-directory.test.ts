import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openDataDirectory } from '../../../src/sandbox/data-directory.js';
import { StartError } from '../../../src/service/config.js';

const holder = fileURLToPath(new URL('../../sandbox/hold-data-directory.js', import.meta.url));

describe('the data directory', () => {
  const parent = mkdtempSync(join(tmpdir(), 'relay-data-'));
  const children: ChildProcess[] = [];
  after(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(parent, { recursive: true });
  });

  /** Another process that takes the directory, and its output. */
  async function another(path: string) {
    const child = spawn(process.execPath, [holder, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    return { child, said: String((await once(child.stdout, 'data'))[0]).trim() };
  }

  it('is created for its owner only, and has one user at a time', async () => {
    const path = join(parent, 'a/b');
    const directory = await openDataDirectory(path);
    assert.equal(statSync(path).mode & 0o777, 0o700);
    const inUse = `${path} is in use by process ${process.pid}: stop that process first, or set RELAY_DATA_DIR`;
    await assert.rejects(openDataDirectory(path), new StartError(inUse));
    assert.equal((await another(path)).said, `StartError: ${inUse}`);
    directory.release();
    assert.deepEqual(readdirSync(path), []);
    (await openDataDirectory(path)).release();
  });

  it('becomes private if it existed before; a directory with other content stays unchanged', async () => {
    for (const [name, content, mode] of [
      ['empty', undefined, 0o700],
      ['relays', 'admin-token', 0o700],
      ['home', '.profile', 0o755],
    ] as const) {
      const path = join(parent, name);
      mkdirSync(path);
      chmodSync(path, 0o755);
      if (content !== undefined) writeFileSync(join(path, content), '');
      (await openDataDirectory(path)).release();
      assert.equal(statSync(path).mode & 0o777, mode, name);
    }
  });

  it('is free again after its user was killed', async () => {
    const path = join(parent, 'killed');
    const { child, said } = await another(path);
    assert.equal(said, 'held');
    await assert.rejects(openDataDirectory(path), new RegExp(`in use by process ${child.pid}:`));
    child.kill('SIGKILL');
    await once(child, 'exit');
    (await openDataDirectory(path)).release();
    assert.deepEqual(readdirSync(path), []);
  });

  it("is free if another process now has its user's pid", async () => {
    const path = join(parent, 'reused');
    (await openDataDirectory(path)).release();
    writeFileSync(join(path, `lock.${process.ppid}.123`), '');
    (await openDataDirectory(path)).release();
    assert.deepEqual(readdirSync(path), []);
  });

  it('is given to only one of several processes that start at once', async () => {
    const path = join(parent, 'race');
    const said = (await Promise.all([1, 2, 3, 4].map(() => another(path)))).map((one) => one.said);
    assert.equal(said.filter((line) => line === 'held').length, 1, said.join('\n'));
  });

  for (const [what, path, reason] of [
    ['below a file', join(parent, 'file/data'), 'not a directory'],
    ['that is a file', join(parent, 'file'), 'not a directory'],
    ['in a read-only file system', '/proc/relay', 'cannot be created'],
  ] as const) {
    it(`is refused ${what}`, async () => {
      writeFileSync(join(parent, 'file'), '');
      await assert.rejects(
        openDataDirectory(path),
        new StartError(`cannot write to the data directory ${path} (${reason}): set RELAY_DATA_DIR to a writable directory`),
      );
    });
  }
});
