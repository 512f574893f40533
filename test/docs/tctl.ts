/** Temporal's older command line, tctl 1.18.0, built once with Go inside its module, because `go install` cannot build it. */

import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

const run = promisify(execFile);
const version = '1.18.0';

/** The program's path, or the reason why it is missing. */
export async function findTctl(): Promise<{ path: string } | { missing: string }> {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'relay', `tctl-${version}`);
  const path = join(folder, 'tctl');
  if (existsSync(path)) return { path };
  const hasGo = await run('go', ['version']).then(
    () => true,
    () => false,
  );
  if (!hasGo) return { missing: `Go is not installed, and tctl ${version} is not at ${path}` };
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'relay-tctl-'));
  try {
    const download = await run('go', ['mod', 'download', '-json', `github.com/temporalio/tctl@v${version}`], { cwd: work });
    const { Dir } = z.object({ Dir: z.string() }).parse(JSON.parse(download.stdout));
    const source = join(work, 'source');
    cpSync(Dir, source, { recursive: true });
    await run('chmod', ['-R', 'u+w', work]); // The module cache is read-only.
    await run('go', ['build', '-o', join(folder, 'work'), './cmd/tctl'], { cwd: source });
    renameSync(join(folder, 'work'), path);
    return { path };
  } catch (error) {
    return {
      missing: `tctl ${version} cannot be built: ${error instanceof Error ? error.message.slice(0, 500) : String(error)}`,
    };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
