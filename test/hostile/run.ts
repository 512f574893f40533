/**
 * `npm run test:fuzz [requests, 100000] [most seconds, 900] [seed]`: sends hostile requests to an API in a separate process, and
 * measures its memory after garbage collection; uses PostgreSQL if installed. Exits with 1 after a 5xx answer, a logged error, or
 * memory growth. With `-- pasted [bodies, 100000] [most seconds, 3600] [seed]`: pastes values into the texts of valid bodies.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startPostgresql } from '../postgresql.js';
import type { Cost } from './child.js';
import { fuzz, type Target } from './fuzz.js';
import { runPasted } from './run-pasted.js';

if (process.argv[2] === 'pasted') process.exit((await runPasted(...process.argv.slice(3).map(Number))) ? 0 : 1);

const [count = 100_000, seconds = 900, seed = Math.floor(Math.random() * 2 ** 31)] = process.argv.slice(2).map(Number);
const say = (line: string) => process.stdout.write(`${line}\n`);
const postgresql = await startPostgresql();
const child = fork(new URL('child.js', import.meta.url).pathname, {
  execArgv: ['--expose-gc'],
  env: { ...process.env, ...(postgresql && { DATABASE_URL: postgresql.url }) },
});
const [target] = (await once(child, 'message')) as [Target];
const cost = async (): Promise<Cost> => {
  child.send('cost');
  return ((await once(child, 'message')) as [Cost])[0];
};
const mega = (bytes: number) => (bytes / 2 ** 20).toFixed(0);
const shown = ({ rss, heapUsed, cpuMicros }: Cost) =>
  `RSS ${mega(rss)} MB, heap after a collection ${mega(heapUsed)} MB, CPU ${(cpuMicros / 1e6).toFixed(0)} s`;

say(`seed ${seed}`);
const began = Date.now();
const until = began + seconds * 1000;
const parts = 100;
const answers: Record<string, number> = {};
const wrong: string[] = [];
let [warm, last, sent, authenticated]: [Cost | undefined, Cost | undefined, number, number] = [undefined, undefined, 0, 0];
for (let part = 0; part < parts; part += 1) {
  const result = await fuzz(target, { count: Math.ceil(count / parts), seed: seed + part, until });
  sent += result.sent;
  authenticated += result.authenticated;
  for (const [answer, times] of Object.entries(result.answers)) answers[answer] = (answers[answer] ?? 0) + times;
  last = await cost();
  wrong.push(...result.wrong, ...last.errors.filter((line) => line.includes('"level":"error"')));
  // Memory counts from here: after a tenth of the requests, or of the time, the process has warmed up.
  if (part >= parts / 10 - 1 || Date.now() - began > seconds * 100) warm ??= last;
  if (part % 10 === 9 || warm === last) say(`${sent} sent: ${shown(last)}`);
  if (Date.now() > until) break;
}
if (last) say(`${sent} sent: ${shown(last)}`);
for (const [answer, times] of Object.entries(answers).sort()) say(`${String(times).padStart(8)}  ${answer}`);
const grown = last && warm ? last.heapUsed - warm.heapUsed : 0;
say(`${authenticated} of ${sent} were authenticated`);
say(`heap grew by ${mega(grown)} MB since the first tenth`);
for (const what of wrong.slice(0, 20)) say(what);
child.disconnect();
await postgresql?.stop();
process.exit(wrong.length > 0 || grown > 60 * 2 ** 20 ? 1 : 0);
