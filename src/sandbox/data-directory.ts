/**
 * The data directory of an all-in-one relay. Only one process can use it. To claim the directory, a process makes a file
 * whose name has the process's pid and start time. The claim is valid if no other running process has a claim.
 */

import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../service/config.js';
import { isRunning, startOf } from './processes.js';

/**
 * Creates the directory for its owner only, and claims the directory for this process. Cannot detect processes in other containers.
 * @returns the real path of the directory, and `release`, which removes the claim
 * @throws StartError if the directory cannot be written, or another process uses it
 */
export async function openDataDirectory(path: string): Promise<{ path: string; release(): void }> {
  // If two processes start together, each finds the other's claim, removes its own claim and retries. The first retry wins.
  for (let attempt = 1; ; attempt++) {
    const { claim, holder } = stakeClaim(path);
    if (holder === undefined) return { path: dirname(claim), release: () => rmSync(claim, { force: true }) };
    if (attempt === 5)
      throw new StartError(`${path} is in use by process ${holder}: stop that process first, or set RELAY_DATA_DIR`);
    await sleep(10 + Math.random() * 100);
  }
}

/** Makes a claim. If a running process already has a claim, `holder` is its pid, and this call leaves no new claim. */
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
    throw new StartError(`${refusal}: set RELAY_DATA_DIR to a writable directory`);
  }
}

/** Creates the directory and its parents for their owner only. Does not use Node's option `recursive`, which hangs in `/proc`. */
export function makeDirectory(path: string): void {
  const absolute = resolve(path);
  if (existsSync(absolute)) return;
  makeDirectory(dirname(absolute));
  try {
    mkdirSync(absolute, { mode: 0o700 });
  } catch (error) {
    // Another process may have created the directory meanwhile.
    if (!existsSync(absolute)) throw error;
  }
}

/** Makes an empty directory or a relay's directory private. Changes no other directory, because it may be a home directory. */
function makePrivate(directory: string): void {
  const { mode, uid } = statSync(directory);
  const names = readdirSync(directory);
  const isRelays = names.length === 0 || names.includes('admin-token') || names.includes('store');
  if ((mode & 0o077) !== 0 && uid === process.getuid?.() && isRelays) chmodSync(directory, 0o700);
}
