/**
 * `npm test`: runs the test files with node's runner, on one Temporal dev server for all of them, and ends with `N passed, N failed`.
 * Arguments choose files by a part of their path: `npm test -- end-to-end/reset`.
 */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { startTemporal } from '../src/sandbox/temporal.js';
import { startPostgresql } from './postgresql.js';

const root = fileURLToPath(new URL('.', import.meta.url));
const wanted = process.argv.slice(2);
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js') && (wanted.length === 0 || wanted.some((part) => file.includes(part))))
  .map((file) => join(root, file))
  .sort();
if (files.length === 0) {
  process.stderr.write(`no test file matches ${wanted.join(', ')}\n`);
  process.exit(1);
}

const directory = mkdtempSync(join(tmpdir(), 'relay-test-'));
const say = (line: string) => process.stdout.write(`${line}\n`);
const temporal = await startTemporal({ dataDir: directory, host: '127.0.0.1', port: 0, uiPort: 0, namespace: 'default', say });
process.env.RELAY_TEST_TEMPORAL_ADDRESS = temporal.address;
process.env.RELAY_TEST_TEMPORAL_UI_URL = temporal.uiUrl;
const postgresql = process.env.RELAY_TEST_DATABASE_URL ? undefined : await startPostgresql();
if (postgresql) process.env.RELAY_TEST_DATABASE_URL = postgresql.url;
else if (!process.env.RELAY_TEST_DATABASE_URL)
  say('PostgreSQL is not installed here: the tests that need it are skipped, each by name');

const counts = { passed: 0, failed: 0, skipped: 0 };
const tests = run({ files, concurrency: 2, timeout: 20 * 60_000 });
tests.on('test:pass', ({ skip, details, name, file }) => {
  if (details.type === 'suite' || isFile(name, file)) return;
  if (skip === undefined) counts.passed += 1;
  else {
    counts.skipped += 1;
    say(`SKIPPED ${relative(root, file ?? '')}: ${name}: ${skip}`);
  }
});
tests.on('test:fail', ({ details, name, file }) => {
  if (details.type !== 'suite' || isFile(name, file)) counts.failed += 1;
});
tests.compose(new spec()).pipe(process.stdout);
tests.once('end', () => void finish());

async function finish(): Promise<void> {
  await postgresql?.stop();
  await temporal.stop();
  rmSync(directory, { recursive: true, force: true });
  say(`${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`);
  process.exit(counts.failed > 0 || counts.passed === 0 ? 1 : 0);
}

/** The runner reports each file as a test of its own, too. */
function isFile(name: string, file: string | undefined): boolean {
  return name === file;
}
