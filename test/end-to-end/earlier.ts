/** The program at an earlier commit. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** @returns the folder of its compiled files, and a function that removes it */
export function buildEarlier(commit: string): { dist: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'relay-earlier-'));
  const options = { cwd: directory, maxBuffer: 2 ** 30 };
  execFileSync('tar', ['-x'], { ...options, input: execFileSync('git', ['-C', root, 'archive', commit], options) });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '--noCheck'], options);
  execFileSync(process.execPath, ['dist/src/worker/bundle.js'], options);
  return { dist: join(directory, 'dist'), remove: () => rmSync(directory, { recursive: true, force: true }) };
}
