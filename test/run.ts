/**
 * `npm test`: runs the tests with node's runner and ends with `N passed, N failed`. A test's folder says what it needs: `unit`
 * needs nothing, `integration` needs a database, a server or another process, `long` also needs about a minute, `faults` some
 * minutes.
 * `npm test` runs `unit` and `integration`. Arguments choose a folder, or files by a part of their path: `npm test -- long`, `npm
 * test -- end-to-end/reset`. `npm test -- release` runs `integration` and `long` at their whole extent (extent.ts).
 * A few processes share one Temporal dev server and one PostgreSQL. Each process runs one file after another. With `--again`,
 * files with failures run once more, alone, because a test on a busy machine can time out. The output names these files: a test
 * that needs the second run is still a defect.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { keepTemporal } from '../src/sandbox/temporal.js';
import { cpuMs } from './in-one-process.js';
import { startPostgresql } from './postgresql.js';
import { makeFirst } from './store/emptied.js';

const root = fileURLToPath(new URL('.', import.meta.url));
/** The sources say which tests exist, because the compiled folder may still have deleted tests. */
const sources = fileURLToPath(new URL('../../test/', import.meta.url));
const folders = ['unit', 'integration', 'long', 'faults'];
if (process.argv.includes('release')) process.env.RELAY_TEST_RELEASE = '1';
const mayRunAgain = process.argv.includes('--again');
const wanted = process.argv
  .slice(2)
  .filter((part) => part !== '--again')
  .flatMap((part) => (part === 'release' ? ['integration', 'long'] : part));
const isWanted = (name: string) =>
  (wanted.length > 0 ? wanted : ['unit', 'integration']).some((part) =>
    folders.includes(part) ? name.startsWith(`${part}/`) : name.includes(part),
  );
/** Files that take longer than others of their size. */
const slowOfLong = [
  ...['connectors/kinds/workmarket', 'docs/operating', 'console/in-a-browser', 'deployment/package', 'hostile/openapi'],
  ...['web-ui-hostile', 'processes', 'poison', 'abuse', 'first-sight', 'start-refused', 'notices', 'start', 'web-ui', 'not-tried']
    .concat('mend', 'reset', 'reopen', 'own-tries', 'storm', 'many-signals')
    .map((name) => `end-to-end/${name}`),
  'hostile/attacks/notice-flood',
];
const slow = ['faults/short', ...slowOfLong.map((name) => `long/${name}`)];
/**
 * The slowest files come first, then all other files of `long`, then the largest. So no process has a long file at the end, while
 * no other process runs.
 */
const placeOf = (name: string) => {
  if (slow.includes(name)) return slow.indexOf(name);
  return name.startsWith('long/') ? slow.length : slow.length + 1;
};
const sizeOf = (name: string) => statSync(join(sources, `${name}.test.ts`)).size;
const names = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => file.slice(0, -'.test.ts'.length))
  .filter(isWanted)
  .sort((a, b) => placeOf(a) - placeOf(b) || sizeOf(b) - sizeOf(a));
if (names.length === 0) {
  process.stderr.write(`no test file matches ${wanted.join(', ')}\n`);
  process.exit(1);
}

const directory = mkdtempSync(join(tmpdir(), 'relay-test-'));
const say = (line: string) => process.stdout.write(`${line}\n`);

/** @returns the entry files of the processes that run these tests. */
function share(kind: string, names: string[], processes: number): string[] {
  const taken = join(directory, kind);
  mkdirSync(taken);
  const files = Object.fromEntries(names.map((name) => [name, pathToFileURL(join(root, `${name}.test.js`)).href]));
  const runFiles = new URL('in-one-process.js', import.meta.url).href;
  return Array.from({ length: Math.min(processes, names.length) }, (_, number) => {
    const entry = join(directory, `${kind}-${number + 1}.mjs`);
    const call = `await runFiles(${JSON.stringify(files, undefined, 2)}, ${JSON.stringify(taken)});`;
    writeFileSync(entry, `import { runFiles } from '${runFiles}';\n${call}\n`);
    return entry;
  });
}

const isUnit = (name: string) => name.startsWith('unit/');
const [unit, others] = [names.filter(isUnit), names.filter((name) => !isUnit(name))];
const cores = availableParallelism();
const atOnce = 3 * cores; // most tests wait more than they compute
// The unit tests start when a process has nothing else left to do.
const processes = [...share('others', others, atOnce), ...share('unit', unit, cores)];

process.env.GOGC ??= '400'; // The Temporal server collects garbage less often. So it uses more memory and less CPU time.
const stops: (() => Promise<void>)[] = [];
if (others.length > 0) {
  await makeFirst(join(directory, 'pglite.tar'));
  const temporal = await keepTemporal({ dataDir: directory, host: '127.0.0.1', port: 0, uiPort: 0, namespace: 'default', say });
  stops.push(async () => {
    await temporal.stop();
    // The CPU time of a child process counts only after the process has gone, a moment after its end.
    for (let wait = 0; wait < 100 && existsSync(`/proc/${temporal.run.pid}`); wait += 1) await sleep(10);
  });
  process.env.RELAY_TEST_TEMPORAL_ADDRESS = temporal.address;
  process.env.RELAY_TEST_TEMPORAL_DIRECTORY = directory;
  process.env.RELAY_TEST_TEMPORAL_UI_URL = temporal.uiUrl;
}
if (others.length > 0 && !process.env.RELAY_TEST_DATABASE_URL) {
  const postgresql = await startPostgresql();
  if (postgresql) {
    stops.push(() => postgresql.stop());
    process.env.RELAY_TEST_DATABASE_URL = postgresql.url;
  } else say('PostgreSQL is not installed here: the tests that need it are skipped, each by name');
}

const counts = { passed: 0, failed: 0, skipped: 0 };
/** The files without a result so far. */
const unreported = new Set(names);
const failing = new Set<string>();
const tests = run({ files: processes, concurrency: atOnce, timeout: 60 * 60_000 }); // each process runs many files
tests.on('test:pass', ({ skip, details, name, file }) => {
  unreported.delete(name);
  if (skip !== undefined) {
    counts.skipped += 1;
    say(`SKIPPED ${relative(sources, file ?? '')}: ${name}: ${skip}`);
  } else if (details.type !== 'suite') counts.passed += 1;
});
tests.on('test:fail', ({ name, details: { error } }) => {
  unreported.delete(name);
  if (names.includes(name)) failing.add(name);
  // A failed test is counted, and its suite and process fail, too. A suite or a process can also fail without a failed test,
  // because of a hook or a file that cannot be loaded.
  if (!('failureType' in error) || error.failureType !== 'subtestsFailed') counts.failed += 1;
  // The process ended too early.
  if ('exitCode' in error && 'signal' in error) say(`${name} ended with ${error.signal ?? error.exitCode}`);
});
tests.compose(new spec()).pipe(process.stdout);
tests.once('end', () => void finish());

async function finish(): Promise<void> {
  for (const stop of stops.reverse()) await stop();
  sayCpu();
  rmSync(directory, { recursive: true, force: true });
  for (const name of unreported) say(`${name} did not report how it ended`);
  counts.failed += unreported.size;
  const left = [...failing, ...unreported];
  if (mayRunAgain && left.length > 0 && left.length <= mostAgain && runAgain(left)) {
    say(`${counts.failed} failed first, and passed when their files ran again alone: ${left.join(', ')}`);
    counts.passed += counts.failed;
    counts.failed = 0;
  }
  say(`${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`);
  process.exit(counts.failed > 0 || counts.passed === 0 ? 1 : 0);
}

/** If more than this number of files have failures, a busy machine is not the reason. */
const mostAgain = 20;

/** @returns whether all tests of the files pass. */
function runAgain(files: readonly string[]): boolean {
  say(`running again, alone: ${files.join(', ')}`);
  const { RELAY_TEST_TEMPORAL_ADDRESS: _, RELAY_TEST_DATABASE_URL: _own, ...env } = process.env;
  const self = fileURLToPath(import.meta.url);
  return files.every(
    (file) => spawnSync(process.execPath, ['--enable-source-maps', self, file], { env, stdio: 'inherit' }).status === 0,
  );
}

/** Says which files took most of the CPU time, because on a machine with few cores, the CPU limits the speed. */
function sayCpu(): void {
  const times = ['others', 'unit'].flatMap((kind) => {
    const taken = join(directory, kind);
    return (existsSync(taken) ? readdirSync(taken) : []).map((file) => ({
      file,
      ms: Number(readFileSync(join(taken, file), 'utf8')),
    }));
  });
  const ofFiles = times.reduce((sum, { ms }) => sum + ms, 0);
  const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
  const most = times.sort((a, b) => b.ms - a.ms).slice(0, 10);
  say(`CPU time: ${seconds(cpuMs())}, of which Temporal, PostgreSQL and the runner ${seconds(cpuMs() - ofFiles)}; most:`);
  for (const { file, ms } of most) say(`  ${seconds(ms).padStart(6)} ${file}`);
}
