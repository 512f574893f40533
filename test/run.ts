/**
 * `npm test`: runs the test files with node's runner and ends with `N passed, N failed`. The files are dealt to a few processes,
 * which share one Temporal dev server and one PostgreSQL; a process runs its files one after another. Arguments choose files by a
 * part of their path: `npm test -- end-to-end/reset`. `npm test -- unit` runs those that need no server, `npm test -- long` those
 * that `npm test` leaves out; `npm test -- faults` is run by itself.
 */

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { keepTemporal } from '../src/sandbox/temporal.js';
import { startPostgresql } from './postgresql.js';
import { makeFirst } from './store/emptied.js';

/**
 * How long a file takes in a whole run on two cores, in seconds, where that is much longer than others of its kind. The longest
 * are dealt first, so that no process is left alone with one at the end.
 */
const seconds: Record<string, number> = {
  'api/admin': 15,
  'api/bearer-authentication': 15,
  'api/bounds': 15,
  'api/causes': 15,
  'api/events': 10,
  'api/who': 55,
  'chain/timestamp/differential': 25,
  'console/composing': 40,
  'console/in-a-browser': 230,
  'docs/operating': 210,
  'end-to-end/abuse': 170,
  'end-to-end/bulk': 25,
  'end-to-end/email': 45,
  'end-to-end/failure': 70,
  'end-to-end/hold': 100,
  'end-to-end/hostile': 45,
  'end-to-end/idempotency': 35,
  'end-to-end/killed-worker': 40,
  'end-to-end/late': 30,
  'end-to-end/limits': 110,
  'end-to-end/many-signals': 55,
  'end-to-end/mend': 65,
  'end-to-end/not-tried': 45,
  'end-to-end/notices': 105,
  'end-to-end/order': 25,
  'end-to-end/pause': 30,
  'end-to-end/processes': 175,
  'end-to-end/rejected': 30,
  'end-to-end/reopen': 65,
  'end-to-end/reset': 160,
  'end-to-end/restore': 60,
  'end-to-end/rotation': 25,
  'end-to-end/start': 80,
  'end-to-end/start-refused': 55,
  'end-to-end/steer': 45,
  'end-to-end/storm': 50,
  'end-to-end/upgrade': 110,
  'end-to-end/web-ui': 115,
  'faults/short': 150,
  'hostile/fuzz': 25,
  'sandbox/temporal': 25,
  'store/durability': 60,
  'store/encryption': 30,
  'store/store': 20,
};
const root = fileURLToPath(new URL('.', import.meta.url));
/** What is compiled may still have files that are no more. */
const sources = fileURLToPath(new URL('../../test/', import.meta.url));
/** Those with neither a database nor another process: the rest starts one or the other. */
const isUnit = (name: string) =>
  !/^(end-to-end|docs|faults|store|sandbox)\/|^(api|cli\/commands)\/admin$|^api\/(bounds|console|limits|openapi|dry-run|strangers|who)$|^hostile\/fuzz$|^console\/in-a-browser$/.test(
    name,
  );
const secondsOf = (name: string) => seconds[name] ?? (/^(end-to-end|docs)\//.test(name) ? 15 : isUnit(name) ? 0.5 : 4);

/** What takes a minute and more of both cores. */
const long = [
  'console/in-a-browser',
  'docs/operating',
  'end-to-end/abuse',
  'end-to-end/hostile',
  'end-to-end/limits',
  'end-to-end/many-signals',
  'end-to-end/processes',
  'end-to-end/reset',
  'end-to-end/restore',
  'end-to-end/start-refused',
  'end-to-end/upgrade',
  'end-to-end/web-ui',
  'store/durability',
];
/** By itself alone, since everything that it breaks waits for a core. */
const alone = ['faults/short'];
const isWanted = (name: string, part: string) =>
  part === 'unit' ? isUnit(name) : part === 'long' ? long.includes(name) : name.includes(part);

const wanted = process.argv.slice(2);
const names = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => file.slice(0, -'.test.ts'.length))
  .filter((name) => (wanted.length === 0 ? ![...long, ...alone].includes(name) : wanted.some((part) => isWanted(name, part))));
if (names.length === 0) {
  process.stderr.write(`no test file matches ${wanted.join(', ')}\n`);
  process.exit(1);
}

/** Deals the files to so many processes that take about as long as each other. @returns each one's files. */
function deal(names: string[], processes: number): string[][] {
  const hands = Array.from({ length: Math.min(processes, names.length) }, () => ({ names: [] as string[], seconds: 0 }));
  for (const name of names.toSorted((a, b) => secondsOf(b) - secondsOf(a) || (a < b ? -1 : 1))) {
    const [least] = hands.toSorted((a, b) => a.seconds - b.seconds);
    least?.names.push(name);
    if (least) least.seconds += secondsOf(name);
  }
  return hands.map(({ names }) => names);
}

const directory = mkdtempSync(join(tmpdir(), 'relay-test-'));
const say = (line: string) => process.stdout.write(`${line}\n`);
const unit = names.filter(isUnit);
const endToEnd = names.filter((name) => !isUnit(name));
const cores = availableParallelism();
// What waits most of the time needs more processes than there are cores, what loads them less. The unit tests come when the
// first of those has ended.
const atOnce = names.every((name) => long.includes(name)) ? 2 * cores : 3 * cores;
const processes = [...deal(endToEnd, atOnce), ...deal(unit, cores)].map((names, number) => {
  const entry = join(directory, `process-${number + 1}.mjs`);
  const files = Object.fromEntries(names.map((name) => [name, pathToFileURL(join(root, `${name}.test.js`)).href]));
  const runFiles = new URL('in-one-process.js', import.meta.url).href;
  writeFileSync(entry, `import { runFiles } from '${runFiles}';\nawait runFiles(${JSON.stringify(files, undefined, 2)});\n`);
  return entry;
});

const stops: (() => Promise<void>)[] = [];
if (endToEnd.length > 0) {
  await makeFirst(join(directory, 'pglite.tar'));
  const temporal = await keepTemporal({ dataDir: directory, host: '127.0.0.1', port: 0, uiPort: 0, namespace: 'default', say });
  stops.push(() => temporal.stop());
  process.env.RELAY_TEST_TEMPORAL_ADDRESS = temporal.address;
  process.env.RELAY_TEST_TEMPORAL_DIRECTORY = directory;
  process.env.RELAY_TEST_TEMPORAL_UI_URL = temporal.uiUrl;
}
if (endToEnd.length > 0 && !process.env.RELAY_TEST_DATABASE_URL) {
  const postgresql = await startPostgresql();
  if (postgresql) {
    stops.push(() => postgresql.stop());
    process.env.RELAY_TEST_DATABASE_URL = postgresql.url;
  } else say('PostgreSQL is not installed here: the tests that need it are skipped, each by name');
}

const counts = { passed: 0, failed: 0, skipped: 0 };
/** Files of which nothing was heard. */
const unreported = new Set(names);
const tests = run({ files: processes, concurrency: atOnce, timeout: 20 * 60_000 });
tests.on('test:pass', ({ skip, details, name, file }) => {
  unreported.delete(name);
  if (skip !== undefined) {
    counts.skipped += 1;
    say(`SKIPPED ${relative(sources, file ?? '')}: ${name}: ${skip}`);
  } else if (details.type !== 'suite') counts.passed += 1;
});
tests.on('test:fail', ({ name, details: { error } }) => {
  unreported.delete(name);
  // A suite or a process fails with its tests, which are counted, or by itself: a file that cannot be loaded, a hook.
  if (!('failureType' in error) || error.failureType !== 'subtestsFailed') counts.failed += 1;
  // Of a process that ended by itself.
  if ('exitCode' in error && 'signal' in error) say(`${name} ended with ${error.signal ?? error.exitCode}`);
});
tests.compose(new spec()).pipe(process.stdout);
tests.once('end', () => void finish());

async function finish(): Promise<void> {
  for (const stop of stops.reverse()) await stop();
  rmSync(directory, { recursive: true, force: true });
  for (const name of unreported) say(`${name} did not report how it ended`);
  counts.failed += unreported.size;
  say(`${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`);
  process.exit(counts.failed > 0 || counts.passed === 0 ? 1 : 0);
}
