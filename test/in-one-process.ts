/** Runs test files one after another in this process, each as a suite that bears its name: run.ts starts such processes. */

import { describe } from 'node:test';

/** @param files - modules, by the names of their suites. */
export async function runFiles(files: Record<string, string>): Promise<void> {
  for (const [name, url] of Object.entries(files)) {
    // The promise resolves when the suite has ended, hooks and all.
    await describe(name, async () => void (await import(url)));
  }
}
