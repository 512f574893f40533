/** Runs test files one after another in this process, each as a suite with the file's name. run.ts starts such processes. */

import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { closeFree } from './store/emptied.js';

/**
 * With this option, V8 does not optimize WebAssembly (PGlite). The optimization would take a sixth of the CPU time of a test
 * process, and most processes end too early to gain from it.
 */
export const quickStart = '--liftoff-only';

/**
 * Runs files until none is left. Several processes share the list.
 * @param files - modules, by the names of their suites, in the order in which they run
 * @param taken - a folder with a mark for each file that a process has started. At the end, the mark has the file's CPU time in
 * ms.
 */
export async function runFiles(files: Record<string, string>, taken: string): Promise<void> {
  setFlagsFromString(quickStart);
  const mine: string[] = [];
  for (const [name, url] of Object.entries(files)) {
    const mark = join(taken, name.replaceAll('/', '-'));
    if (!take(mark)) continue;
    mine.push(name);
    const before = cpuMs();
    // The promise resolves when the suite and its hooks have ended.
    await describe(name, async () => void (await import(url)));
    writeFileSync(mark, String(cpuMs() - before));
  }
  await closeFree();
  // After some tests (`faults/short`), Node 20 would loop forever in `CleanupHandles`.
  process.on('exit', (code) => process.exit(code));
  // Without this exit, the runner would wait for open handles of a test.
  setTimeout(() => {
    process.stderr.write(`left open after ${mine.join(', ')}: ${process.getActiveResourcesInfo().join(', ')}\n`);
    process.exit(1);
  }, 30_000).unref();
}

/** The CPU time of this process, and on Linux of its children that have ended (`man proc_pid_stat`, in ticks of 10 ms). */
export function cpuMs(): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
    return fields.slice(11, 15).reduce((sum, ticks) => sum + 10 * Number(ticks), 0);
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

/** Whether this process is the first that starts the file. */
function take(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx'));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
