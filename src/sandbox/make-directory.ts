/** Makes a directory and what leads to it. */

import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Each for its owner only. Node's own `recursive` never returns where the file system answers ENOENT, as in `/proc`. */
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
