/**
 * Only the locked packages are installed, even if a registry serves other packages. No script of a package runs during the
 * installation.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { z } from 'zod';

const read = (name: string): string => readFileSync(new URL(`../../../../${name}`, import.meta.url), 'utf8');
const entry = z.object({
  integrity: z.string().optional(),
  resolved: z.string().optional(),
  hasInstallScript: z.boolean().optional(),
});
const { packages } = z.object({ packages: z.record(z.string(), entry) }).parse(JSON.parse(read('package-lock.json')));
const { allowScripts } = z
  .object({ allowScripts: z.record(z.string(), z.literal(false)) })
  .parse(JSON.parse(read('package.json')));
const locked = Object.entries(packages).filter(([path]) => path !== '');

it('the lock file has the hash of every package, for every platform, and no address', () => {
  assert(locked.length > 100);
  for (const [path, { integrity, resolved }] of locked) {
    assert.match(integrity ?? '', /^sha512-[A-Za-z0-9+/]{86}==$/, path);
    assert.equal(resolved, undefined, `${path} is bound to an address`);
  }
});

it('packages with an install script are known, and their scripts do not run', () => {
  const withScript = locked
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.replace(/^.*node_modules\//, ''));
  assert.deepEqual(withScript.sort(), Object.keys(allowScripts).sort());
  for (const file of ['.ci/run', 'Dockerfile', 'docs/deploying.md']) {
    const installs = read(file).match(/npm ci.*$/gm) ?? [];
    assert(installs.length > 0, file);
    for (const line of installs) assert.match(line, /^npm ci --ignore-scripts/, file);
  }
});
