/**
 * The faults. Each fault repairs its damage, and returns evidence that the fault had an effect. Without evidence, the fault
 * throws.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, Unmet, udf } from '../end-to-end/stack.js';
import { type Name, names, type Part, type World } from './world.js';

export interface Fault {
  name: string;
  /** The reason why this machine cannot produce the fault. */
  missing?: string;
  /** @param seconds - the duration of a lasting fault. @returns the evidence that the fault had an effect */
  strike(seconds: number): Promise<string>;
}

const stateOf = (pid: number) => /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];

/** Does nothing if the process has ended in the meantime. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** @param older - compiled files of an earlier commit, whose worker can continue the same chains */
export function faultsOf(world: World, older?: string): Fault[] {
  const { parts, wires, clocks, missing, postgresql, ledger } = world;
  const killed = (name: Name): Fault => ({
    name: `kill -9 ${name}`,
    async strike() {
      const before = parts[name].pids();
      assert(before.length > 0);
      await parts[name].end('SIGKILL');
      await parts[name].start();
      const after = parts[name].pids();
      assert(!after.some((pid) => before.includes(pid)));
      return `process ${before[0]} gone, ${after[0]} in its place`;
    },
  });
  const replaced = (name: Name): Fault => ({
    name: `SIGTERM ${name}, and start it again`,
    async strike() {
      const began = Date.now();
      await parts[name].end('SIGTERM');
      const took = Date.now() - began;
      await parts[name].start();
      return `it ended by itself within ${took} ms`;
    },
  });
  const away = (name: 'temporal' | 'postgresql'): Fault => ({
    name: `${name} is away`,
    async strike(seconds) {
      const until = Date.now() + seconds * 1000;
      await parts[name].end('SIGKILL');
      try {
        const { relayId, relayAccessToken } = world.rules.hold as World['rules'][string];
        const body = JSON.stringify([{ relayId, relayAccessToken, ...udf('while-it-is-away') }]);
        const headers = { 'content-type': 'application/json' };
        const refused = await eventually('a request to be refused', async () => {
          const answer = await fetch(`${world.urls.api1}/co/faults/relay`, { method: 'POST', headers, body });
          return answer.status === 503 ? answer : new Unmet(answer.status);
        });
        assert(Number(refused.headers.get('retry-after')) > 0, 'Retry-After');
        const statuses = async () =>
          Promise.all(['healthz', 'readyz'].map(async (path) => (await fetch(`${world.urls.api1}/${path}`)).status));
        // The API checks the database and Temporal only once a second.
        await eventually('/readyz to say so', async () => {
          const seen = await statuses();
          return `${seen}` === '200,503' || new Unmet(seen);
        });
        await sleep(Math.max(0, until - Date.now()));
        assert.deepEqual(await statuses(), [200, 503]);
      } finally {
        await parts[name].start();
      }
      const back = Date.now();
      await eventually('/readyz to say that it is back', async () => {
        const { status } = await fetch(`${world.urls.api1}/readyz`);
        return status === 200 || new Unmet(status);
      });
      const later = Math.round((Date.now() - back) / 1000);
      return `for ${seconds} s requests were answered 503 with Retry-After, /healthz 200, /readyz 503; ready ${later} s after it was back`;
    },
  });
  const stopped = (name: Name): Fault => ({
    name: `SIGSTOP ${name}`,
    async strike(seconds) {
      const pids = parts[name].pids();
      for (const pid of pids) signal(pid, 'SIGSTOP');
      try {
        await sleep(seconds * 1000);
        const states = pids.map(stateOf);
        assert(
          states.every((state) => state === 'T' || state === 'Z'),
          `${states}`,
        );
        return `${pids.length} processes stood still for ${seconds} s`;
      } finally {
        for (const pid of pids) signal(pid, 'SIGCONT');
      }
    },
  });
  const hung = (wire: keyof typeof wires): Fault => ({
    name: `the connections to the ${wire} hang`,
    async strike(seconds) {
      wires[wire].hang();
      try {
        await sleep(seconds * 1000);
        const waited = await eventually('a connection to wait', async () => wires[wire].waiting() || new Unmet(0));
        return `${waited} connections waited ${seconds} s`;
      } finally {
        wires[wire].resume();
      }
    },
  });
  const cut = (wire: keyof typeof wires): Fault => ({
    name: `the connections to the ${wire} are cut`,
    async strike(seconds) {
      let count = 0;
      for (const until = Date.now() + seconds * 1000; Date.now() < until || count === 0; await sleep(100 + Math.random() * 900))
        count += wires[wire].cut();
      return `${count} connections cut in ${seconds} s`;
    },
  });
  const shifted = (name: Name, by: number): Fault => ({
    name: `the clock of ${name} is ${Math.abs(by) / 3600} h ${by < 0 ? 'slow' : 'fast'}`,
    missing: missing.clocks,
    async strike(seconds) {
      const told = async () => {
        if (name === 'postgresql')
          return Number((await postgresql.query('SELECT extract(epoch FROM clock_timestamp()) AS now'))[0]?.now) * 1000;
        const answer = await fetch(`${world.urls[name as keyof typeof world.urls]}/healthz`);
        return Date.parse(answer.headers.get('date') ?? '');
      };
      clocks[name].set(by);
      try {
        const shift = await eventually(`the clock of ${name} to be set`, async () => {
          const off = ((await told()) - Date.now()) / 1000;
          return Math.abs(off - by) < 10 ? off : new Unmet(off);
        });
        await sleep(seconds * 1000);
        return `it was ${shift.toFixed(0)} s off`;
      } finally {
        clocks[name].set(0);
      }
    },
  });
  return [
    ...names.map(killed),
    ...(['api2', 'worker2'] as const).map(replaced),
    ...(['api1', 'worker1', 'temporal', 'postgresql'] as const).map(stopped),
    away('temporal'),
    away('postgresql'),
    hung('database'),
    hung('platform'),
    ...(['database', 'temporal', 'platform', 'mail'] as const).map(cut),
    shifted('api1', 3600),
    shifted('api2', -3600),
    shifted('worker1', 3600),
    shifted('worker2', -3600),
    shifted('postgresql', 3600),
    {
      name: 'the mail server breaks off after the body',
      async strike(seconds) {
        const broken = async () => (await ledger.entries()).filter(({ mail }) => mail?.broken).length;
        const before = await broken();
        await ledger.breakMail(true);
        await sleep(seconds * 1000);
        const count = await eventually('a message to be broken off', async () => (await broken()) - before || new Unmet(0));
        await ledger.breakMail(false);
        return `${count} messages were accepted without an acknowledgement`;
      },
    },
    {
      name: 'the disk of the databases is full',
      missing: missing.disk,
      async strike(seconds) {
        const ballast = join(world.disk, 'ballast');
        let ballasts = 0;
        const fill = () => {
          const { bavail, bsize } = statfsSync(world.disk);
          // Other processes write at the same time. The next round fills the rest of the disk.
          const length = Math.ceil(bavail * 0.98) * bsize;
          if (length > 0) spawnSync('fallocate', ['--length', `${length}`, `${ballast}-${ballasts++}`]);
        };
        const until = Date.now() + seconds * 1000;
        // The evidence is in these errors, not in PostgreSQL's log, because the log is on the full disk, too.
        const refusals: string[] = [];
        const isFull = () => !postgresql.isRunning() || refusals.length > 0;
        const note = (error: { code?: string }) => {
          if (error.code === '53100') refusals.push(String(error)); // The disk is full.
          return String(error);
        };
        await postgresql.query('CREATE TABLE IF NOT EXISTS heavy (text text)');
        try {
          await eventually('PostgreSQL to have no room', async () => {
            fill();
            const rows = 'SELECT md5(random()::text) FROM generate_series(1, 20000)';
            const said = await postgresql.query(`INSERT INTO heavy ${rows}`).catch(note);
            return (isFull() && Date.now() > until) || new Unmet(said);
          });
        } finally {
          while (ballasts > 0) rmSync(`${ballast}-${--ballasts}`, { force: true });
        }
        const seen = postgresql.isRunning() ? `refused ${refusals.length} statements: ${refusals[0]}` : 'ended';
        if (!postgresql.isRunning()) await postgresql.start();
        await eventually('PostgreSQL to go on', () =>
          postgresql.query('DROP TABLE IF EXISTS heavy').catch((error) => new Unmet(String(error))),
        );
        return `PostgreSQL ${seen}`;
      },
    },
    ...(older === undefined ? [] : [besideOlder(world, older)]),
  ];
}

/** A worker of an earlier commit runs beside the current ones while the Temporal server is killed and restarted. */
function besideOlder({ relay, parts }: World, dist: string): Fault {
  return {
    name: 'a worker of an earlier commit beside the others, and Temporal starts again',
    async strike(seconds) {
      const worker: Part = await relay('worker2', 'worker', dist);
      const effects = () => worker.log().match(/effect attempted/g)?.length ?? 0;
      await worker.start();
      try {
        await parts.temporal.end('SIGKILL');
        await parts.temporal.start();
        const before = effects();
        await sleep(seconds * 1000);
        const count = await eventually(
          'an effect by the older worker',
          async () => effects() - before || new Unmet(worker.log().slice(-500)),
        );
        return `it attempted ${count} effects`;
      } finally {
        await worker.end('SIGTERM');
      }
    },
  };
}
