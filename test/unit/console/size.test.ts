import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const directory = fileURLToPath(new URL('../../../console/', import.meta.url));
const mostBytes = 60_000;

/** The script, and the scripts that it needs before it runs: its imports and their imports, but no `import()`. */
function withImports(name: string, known = new Set<string>()): Set<string> {
  if (known.has(name)) return known;
  known.add(name);
  const text = readFileSync(directory + name, 'utf8');
  for (const [, imported = ''] of text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) withImports(imported, known);
  return known;
}

it('the script of the first page is small, and so is each further script', () => {
  const scripts = readdirSync(directory).filter((name) => name.endsWith('.js') && !name.startsWith('docs-')); // /docs has its own script.
  const [main = ''] = scripts.filter((name) => name.startsWith('main-'));
  const sizeOf = (names: Iterable<string>) =>
    [...names].map((name) => gzipSync(readFileSync(directory + name)).length).reduce((sum, size) => sum + size, 0);
  const first = withImports(main);
  const later = scripts.filter((name) => !first.has(name));
  for (const [names, what] of [
    [first, 'first'],
    [later, 'later'],
  ] as const)
    assert.ok(sizeOf(names) <= mostBytes, `${what}: ${sizeOf(names)} bytes compressed, of ${mostBytes}`);
});
