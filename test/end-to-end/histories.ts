/**
 * The recorded histories in test/histories. Each release has a folder. No history is ever removed, because a chain of its release
 * may still run. SHA256SUMS has a line for each history, in the format of `sha256sum`.
 */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const directory = fileURLToPath(new URL('../../../test/histories/', import.meta.url));
const sums = join(directory, 'SHA256SUMS');

/** The recorded histories, such as `0.1.0/plain.binpb`. */
export function recordedNames(): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.binpb'));
}

export function isRecorded(name: string): boolean {
  return existsSync(join(directory, name));
}

export function read(name: string): Buffer {
  return readFileSync(join(directory, name));
}

export function lineOf(name: string): string {
  return `${createHash('sha256').update(read(name)).digest('hex')}  ${name}`;
}

/** The lines of SHA256SUMS. */
export function lines(): string[] {
  return existsSync(sums) ? linesOf(readFileSync(sums, 'utf8')) : [];
}

/** @throws if the history exists already */
export function add(name: string, history: Uint8Array): void {
  mkdirSync(dirname(join(directory, name)), { recursive: true });
  writeFileSync(join(directory, name), history, { flag: 'wx' });
  const byName = (line: string) => line.split('  ')[1] ?? '';
  const all = [...lines(), lineOf(name)].sort((a, b) => (byName(a) < byName(b) ? -1 : 1));
  writeFileSync(sums, `${all.join('\n')}\n`);
}

/** The ids of patches in the source of the workflows. */
export function patchIds(): string[] {
  const room = fileURLToPath(new URL('../../../src/workflows/', import.meta.url));
  const files = readdirSync(room, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const called = /\b(?:patched|deprecatePatch)\(\s*'([^']+)'/g;
  return files.flatMap((file) => [...readFileSync(join(room, file), 'utf8').matchAll(called)].map(([, id = '']) => id));
}

/** The patches that are in no recorded history. No replay tests the code of these patches. */
export function unrecordedPatches(): string[] {
  const recorded = recordedNames().map((name) => read(name).toString('latin1'));
  return patchIds().filter((id) => !recorded.some((history) => history.includes('core_patch') && history.includes(id)));
}

/**
 * Every line about a released version that SHA256SUMS had in some commit, or the reason why git cannot read these lines. A
 * version without a tag is not released, so its folder may be recorded again.
 */
export function committedLines(): { lines: string[] } | { unknown: string } {
  const git = (...args: string[]) => execFileSync('git', ['-C', directory, ...args], { encoding: 'utf8', stdio: 'pipe' });
  try {
    if (git('rev-parse', '--is-shallow-repository').trim() === 'true')
      return { unknown: 'this clone is shallow: run git fetch --unshallow' };
    const changes = git('log', '--patch', '--no-renames', '--format=', '--', 'SHA256SUMS');
    const added = linesOf(changes.replaceAll(/^(?!\+[0-9a-f]{64} ).*$/gm, '').replaceAll(/^\+/gm, ''));
    const released = linesOf(git('tag', '--list', 'v*')).map((tag) => `  ${tag.slice(1)}/`);
    const kept = added.filter((line) => released.some((folder) => line.includes(folder)));
    return added.length > 0 ? { lines: kept } : { unknown: 'no commit has test/histories/SHA256SUMS' };
  } catch (error) {
    return { unknown: `git cannot tell: ${String(error).split('\n')[0]}` };
  }
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
