import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const directory = fileURLToPath(new URL('../../../console/', import.meta.url));
const mostBytes = 60_000;

it("the console's script is small", () => {
  const scripts = readdirSync(directory).filter((name) => name.endsWith('.js'));
  assert.ok(scripts.length > 0);
  const bytes = scripts.map((name) => gzipSync(readFileSync(directory + name)).length).reduce((sum, size) => sum + size, 0);
  assert.ok(bytes <= mostBytes, `${bytes} bytes compressed, of ${mostBytes}`);
});
