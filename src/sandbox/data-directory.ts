/**
 * The directory that holds all state of an all-in-one relay, for one process at a time: PGlite takes no lock of its own.
 * A process that wants the directory puts a claim into it, a file named by its pid and start time. The directory is its own
 * if no other process with a claim lives.
 */

import { readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../service/config.js';
import { makeDirectory } from './make-directory.js';
import { isRunning, startOf } from './processes.js';

interface DataDirectory {
  /** Absolute, symbolic links followed. */
  path: string;
  release(): void;
}

/**
 * Makes the directory (mode 0700) if it is not there, and takes it for this process. A process that was killed no longer has
 * it, even when its pid is in use again. Processes in another container are not seen.
 * @throws StartError when it cannot be written, or another process has it
 */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  const directory = refuseUnwritable(path, () => {
    makeDirectory(path);
    return realpathSync(path);
  });
  // Two that start at the same moment see each other and both step back: whoever returns first gets it.
  for (let attempt = 1; ; attempt++) {
    const { claim, holder } = refuseUnwritable(path, () => stakeClaim(directory));
    if (holder === undefined) return { path: directory, release: () => rmSync(claim, { force: true }) };
    if (attempt === 5) throw new StartError(`${path} is in use by process ${holder}: stop that one first, or set RELAY_DATA_DIR`);
    await sleep(10 + Math.random() * 100);
  }
}

/** Leaves a claim only if nobody else has a live one; claims of the dead are swept away. */
function stakeClaim(directory: string): { claim: string; holder?: number } {
  const claim = join(directory, `lock.${process.pid}.${startOf(process.pid)}`);
  try {
    writeFileSync(claim, '', { flag: 'wx' });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return { claim, holder: process.pid };
    throw error;
  }
  for (const name of readdirSync(directory)) {
    const [, pid, start] = /^lock\.(\d+)\.(\w+)$/.exec(name) ?? [];
    const other = join(directory, name);
    if (pid === undefined || start === undefined || other === claim) continue;
    if (isRunning({ pid: Number(pid), start })) {
      rmSync(claim);
      return { claim, holder: Number(pid) };
    }
    rmSync(other, { force: true });
  }
  return { claim };
}

function refuseUnwritable<T>(path: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    const code = codeOf(error);
    throw new StartError(
      `cannot write to the data directory ${path} (${reasons[code] ?? code}): set RELAY_DATA_DIR to one that can be written`,
    );
  }
}

const reasons: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'read-only file system',
  ENOSPC: 'no space left',
  ENOTDIR: 'not a directory',
  ENOENT: 'cannot be created',
};

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
