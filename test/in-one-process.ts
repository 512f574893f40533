/** Runs test files one after another in this process, each as a suite that bears its name: run.ts starts such processes. */

import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { closeFree } from './store/emptied.js';

/**
 * Runs files until none is left: several processes share the list.
 * @param files - modules, by the names of their suites, in the order in which they are taken.
 * @param taken - a folder with a mark for each file that a process has taken.
 */
export async function runFiles(files: Record<string, string>, taken: string): Promise<void> {
  const mine: string[] = [];
  for (const [name, url] of Object.entries(files)) {
    if (!take(join(taken, name.replaceAll('/', '-')))) continue;
    mine.push(name);
    // The promise resolves when the suite has ended, hooks and all.
    await describe(name, async () => void (await import(url)));
  }
  await closeFree();
  // What the file `faults/short` leaves makes Node 20 spin for ever in `CleanupHandles` after this event.
  process.on('exit', (code) => process.exit(code));
  // The runner would wait for open handles of a test.
  setTimeout(() => {
    process.stderr.write(`left open after ${mine.join(', ')}: ${process.getActiveResourcesInfo().join(', ')}\n`);
    process.exit(1);
  }, 30_000).unref();
}

/** Whether this process is the first to take it. */
function take(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx'));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
