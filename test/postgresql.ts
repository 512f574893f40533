/** A private PostgreSQL server for the tests, where its programs are installed (Debian: `apt-get install postgresql`). */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../src/service/server.js';

/** @returns the server's URL, its `psql` and a way to stop it; undefined where PostgreSQL is not installed. */
export async function startPostgresql(): Promise<{ url: string; psql: string; stop(): Promise<void> } | undefined> {
  const programs = programsDirectory();
  if (programs === undefined) return undefined;
  const directory = mkdtempSync(join(tmpdir(), 'relay-postgresql-'));
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? ids('postgres') : undefined;
  if (user) chownSync(directory, user.uid, user.gid);
  const data = join(directory, 'data');
  execFileSync(join(programs, 'initdb'), ['--pgdata', data, '--username', 'postgres', '--auth', 'trust', '--no-sync'], {
    stdio: 'ignore',
    ...user,
  });
  const port = await freePort('127.0.0.1');
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${directory}`, 'fsync=off'];
  const server = spawn(join(programs, 'postgres'), ['-D', data, ...settings.flatMap((setting) => ['-c', setting])], {
    stdio: 'ignore',
    ...user,
  });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await untilReady(url);
  return {
    url,
    psql: join(programs, 'psql'),
    async stop() {
      server.kill('SIGINT');
      await once(server, 'close');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Where `psql`, `pg_dump` and the server are. */
export function programsDirectory(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const candidates = [...versions.map((version) => join(debian, version, 'bin')), ...(process.env.PATH ?? '').split(':')];
  return candidates.find((candidate) => existsSync(join(candidate, 'initdb')) && existsSync(join(candidate, 'postgres')));
}

function ids(user: string): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function untilReady(url: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(100);
    }
  }
}
