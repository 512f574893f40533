/**
 * `npm run bench:collector` makes a backlog: many chains have closed, but their rows in the database still say that they run, as
 * if all workers had crashed. It measures how fast the collector completes these rows, how fast the same machine closes chains,
 * and how much slower the API answers POSTs during the backlog. Needs PostgreSQL.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { z } from 'zod';
import { startTemporal } from '../src/sandbox/temporal.js';
import { read } from '../src/store/database.js';
import { openPostgres } from '../src/store/postgres.js';
import { startPostgresql } from '../test/postgresql.js';
import { now } from './clock.js';
import { cpuSeconds, withDescendants } from './processes.js';
import { startSide } from './sides.js';
import { Trial } from './trial.js';

const { values } = parseArgs({
  options: {
    chains: { type: 'string', default: '2000' },
    clients: { type: 'string', default: '20' },
    'per-second': { type: 'string', default: '5' }, // chains to POST per second while the response times are measured
    seconds: { type: 'string', default: '40' },
  },
});
const [chains, clients, perSecond, seconds] = [values.chains, values.clients, values['per-second'], values.seconds].map(
  Number,
) as [number, number, number, number];
const say = (line: string) => process.stderr.write(`${line}\n`);
const closing: (() => unknown)[] = [];
try {
  await measure();
} finally {
  for (const close of closing.reverse()) await close();
}
process.exit(0);

async function measure(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'relay-bench-'));
  closing.push(() => rmSync(directory, { recursive: true, force: true }));
  const postgresql = await startPostgresql();
  if (!postgresql) throw new Error('PostgreSQL is not installed here: apt-get install postgresql');
  closing.push(() => postgresql.stop());
  const engine = await startTemporal({ dataDir: directory, host: '127.0.0.1', port: 0, uiPort: 0, namespace: 'default', say });
  closing.push(() => engine.stop());
  const { pid: enginePid } = z
    .object({ pid: z.number() })
    .parse(JSON.parse(readFileSync(join(directory, 'temporal.pid'), 'utf8')));
  const systems = fork(fileURLToPath(new URL('./platform.js', import.meta.url)));
  closing.push(() => systems.kill());
  const [message] = await once(systems, 'message');
  const { platformUrl, smtpUrl } = z.object({ platformUrl: z.string(), smtpUrl: z.string() }).parse(message);
  const connection = await Connection.connect({ address: engine.address });
  closing.push(() => connection.close());
  const at = { directory, temporalAddress: engine.address, connection, platformUrl, smtpUrl, bareBundle: '', separate: true };
  const side = await startSide('relay', { ...at, databaseUrl: postgresql.url });
  const trial = new Trial(side, new Client({ connection, namespace: side.taskQueue }), platformUrl, [enginePid], clients, false);
  closing.push(() => trial.end());
  const database = await openPostgres(side.databaseUrl);
  closing.push(() => database.close());

  /** Takes the collector's lease, so that no worker collects while this process has the lease. */
  const hold = (until: string) =>
    database.query(
      `UPDATE leases SET holder = 'bench', until = ${until}
       WHERE account = $1 AND (until < now() OR holder = 'bench') RETURNING slot`,
      [`collector:${side.taskQueue}`],
    );
  const soon = "now() + interval '30 s'";
  while ((await hold(soon)).length === 0) await sleep(20);
  const holding = setInterval(() => hold(soon), 10_000);
  const actions = (run: string) => (n: number) =>
    [...'abc'].map((part) => ({
      action: 'platform_sendAssignment',
      platformAssignmentId: `${run}.${n}.${part}`,
      groupId: '501',
    }));
  /** The number of rows that say how their chain ended. Counts only chains that were received before this time (ISO 8601). */
  const completed = async (until: string) => {
    const text = 'SELECT count(*)::int AS rows FROM chains WHERE closed_at IS NOT NULL AND received_at < $1::text::timestamptz';
    return (await read(database, z.object({ rows: z.int() }), text, [until]))[0]?.rows ?? 0;
  };
  /** POSTs chains at the rate of `--per-second` until `isOver` is true. @returns the response times in ms, in ascending order */
  const postUntil = async (isOver: () => Promise<boolean>) => {
    const [run, began, posts] = [trial.newRun(), now(), [] as Promise<number>[]];
    while (!(await isOver())) {
      const post = trial.post(actions(run)(posts.length)).then(({ sent, answered }) => answered - sent);
      posts.push(post);
      await sleep(Math.max(0, began + (posts.length / perSecond) * 1000 - now()));
    }
    return (await Promise.all(posts)).sort((a, b) => a - b);
  };
  const middle = (times: number[]) => `${times[Math.floor(times.length / 2)]?.toFixed(1)} ms (${times.length} POSTs)`;

  const began = now();
  await trial.burst(chains, actions(trial.newRun()));
  await trial.closed();
  const closed = chains / ((now() - began) / 1000);
  await trial.idle();
  const measured = now();
  const before = await postUntil(async () => now() > measured + seconds * 1000);
  await trial.closed();
  const backlog = chains + before.length;
  const until = new Date().toISOString();
  while ((await completed(until)) < backlog) await sleep(100);
  await database.query(
    `UPDATE chains SET status = 'running', place = '2' || chain_id, closed_at = NULL, done_at = NULL, run_id = NULL,
       started_at = NULL, details = NULL`,
  );

  const pids = withDescendants(side.pids);
  const cpu = cpuSeconds(pids);
  const released = now();
  clearInterval(holding);
  await hold("'-infinity'");
  let rows = 0;
  const during = await postUntil(async () => {
    rows = await completed(until);
    return rows >= backlog;
  });
  const took = (now() - released) / 1000;
  const used = cpuSeconds(pids) - cpu;
  const after = now();
  const quiet = await postUntil(async () => now() > after + seconds * 1000);
  console.log(`chains closed a second: ${closed.toFixed(1)}`);
  console.log(`rows completed a second: ${(rows / took).toFixed(1)} (${rows} in ${took.toFixed(1)} s)`);
  console.log(`CPU of API and worker meanwhile: ${((used / rows) * 1000).toFixed(1)} ms per row`);
  console.log(
    `202 without collector ${middle(before)}, with a backlog ${middle(during)}, with a collector at work ${middle(quiet)}`,
  );
  console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`);
}
