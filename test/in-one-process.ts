/** Runs test files one after another in this process, each as a suite that bears its name: run.ts starts such processes. */

import { describe } from 'node:test';
import { closeFree } from './store/emptied.js';

/** @param files - modules, by the names of their suites. */
export async function runFiles(files: Record<string, string>): Promise<void> {
  for (const [name, url] of Object.entries(files)) {
    // The promise resolves when the suite has ended, hooks and all.
    await describe(name, async () => void (await import(url)));
  }
  await closeFree();
  // What the file `faults/short` leaves makes Node 20 spin for ever in `CleanupHandles` after this event.
  process.on('exit', (code) => process.exit(code));
  // Whoever waits for the end of this process would wait as long as what was left open.
  setTimeout(() => {
    process.stderr.write(`left open after ${Object.keys(files).join(', ')}: ${process.getActiveResourcesInfo().join(', ')}\n`);
    process.exit(1);
  }, 30_000).unref();
}
