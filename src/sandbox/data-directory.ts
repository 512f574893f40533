/**
 * The directory that holds all state of an all-in-one relay, for one process at a time. A process that wants it puts a claim
 * into it, a file named by its pid and start time; the directory is its own if no other process with a claim lives.
 */

import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../service/config.js';
import { isRunning, startOf } from './processes.js';

/**
 * Makes the directory if it is not there, for its owner only, and takes it for this process. Those in another container are not seen.
 * @returns its absolute path, symbolic links followed, and what gives it back
 * @throws StartError when it cannot be written, or another process has it
 */
export async function openDataDirectory(path: string): Promise<{ path: string; release(): void }> {
  // Two that start at the same moment see each other and both step back: whoever returns first gets it.
  for (let attempt = 1; ; attempt++) {
    const { claim, holder } = stakeClaim(path);
    if (holder === undefined) return { path: dirname(claim), release: () => rmSync(claim, { force: true }) };
    if (attempt === 5) throw new StartError(`${path} is in use by process ${holder}: stop that one first, or set RELAY_DATA_DIR`);
    await sleep(10 + Math.random() * 100);
  }
}

/** Leaves a claim only if nobody else has a live one. */
function stakeClaim(path: string): { claim: string; holder?: number } {
  try {
    makeDirectory(path);
    const directory = realpathSync(path);
    makePrivate(directory);
    const claim = join(directory, `lock.${process.pid}.${startOf(process.pid)}`);
    if (existsSync(claim)) return { claim, holder: process.pid };
    writeFileSync(claim, '');
    for (const name of readdirSync(directory)) {
      const [, pid, start] = /^lock\.(\d+)\.(\w+)$/.exec(name) ?? [];
      const other = join(directory, name);
      if (pid === undefined || start === undefined || other === claim) continue;
      const lives = isRunning({ pid: Number(pid), start });
      rmSync(lives ? claim : other, { force: true });
      if (lives) return { claim, holder: Number(pid) };
    }
    return { claim };
  } catch (error) {
    const [, code, description = String(error)] = /^Error: (E\w+): ([^,]+)/.exec(String(error)) ?? [];
    const reason = code === 'ENOENT' ? 'cannot be created' : description;
    const refusal = `cannot write to the data directory ${path} (${reason})`;
    throw new StartError(`${refusal}: set RELAY_DATA_DIR to one that can be written`);
  }
}

/** For its owner only, with what leads to it. Node's own `recursive` never returns where ENOENT is answered, as in `/proc`. */
export function makeDirectory(path: string): void {
  const absolute = resolve(path);
  if (existsSync(absolute)) return;
  makeDirectory(dirname(absolute));
  try {
    mkdirSync(absolute, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(absolute)) throw error;
  }
}

/** For its owner only, unless it holds what is not the relay's, as a home directory does. */
function makePrivate(directory: string): void {
  const { mode, uid } = statSync(directory);
  const names = readdirSync(directory);
  const isRelays = names.length === 0 || names.includes('admin-token') || names.includes('store');
  if ((mode & 0o077) !== 0 && uid === process.getuid?.() && isRelays) chmodSync(directory, 0o700);
}
