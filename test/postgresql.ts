/** A private PostgreSQL server for the tests, if its programs are installed (Debian: `apt-get install postgresql`). */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { withDescendants } from '../bench/processes.js';
import { freePort } from '../src/service/server.js';

/** @returns the server's URL, its `psql` and a function that stops it; undefined if PostgreSQL is not installed */
export async function startPostgresql(): Promise<{ url: string; psql: string; stop(): Promise<void> } | undefined> {
  const programs = programsDirectory();
  if (programs === undefined) return undefined;
  const directory = mkdtempSync(join(tmpdir(), 'relay-postgresql-'));
  const server = new PostgresqlServer(directory, await freePort('127.0.0.1'));
  await server.start();
  return {
    url: server.url,
    psql: join(programs, 'psql'),
    async stop() {
      await server.end('SIGINT');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export class PostgresqlServer {
  readonly url: string;
  readonly #programs: string;
  /** PostgreSQL refuses to run as root. */
  readonly #user = process.getuid?.() === 0 ? ids('postgres') : undefined;
  readonly #log: string;
  #server: ChildProcess | undefined;

  /** @param env - more variables for the server */
  constructor(
    private readonly directory: string,
    readonly port: number,
    private readonly env: Record<string, string> = {},
  ) {
    const programs = programsDirectory();
    if (programs === undefined) throw new Error('PostgreSQL is not installed here: apt-get install postgresql');
    this.#programs = programs;
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    mkdirSync(directory, { recursive: true });
    if (this.#user) chownSync(directory, this.#user.uid, this.#user.gid);
    this.#log = join(directory, 'log');
  }

  /** Creates the data directory at the first start. */
  async start(): Promise<void> {
    const { directory, port } = this;
    const data = join(directory, 'data');
    if (!existsSync(data))
      execFileSync(join(this.#programs, 'initdb'), ['--pgdata', data, '--username', 'postgres', '--auth', 'trust', '--no-sync'], {
        stdio: 'ignore',
        ...this.#user,
      });
    const settings = [
      ...[`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${directory}`],
      ...['fsync=off', 'max_connections=300'],
    ];
    const log = openSync(this.#log, 'a');
    const server = spawn(join(this.#programs, 'postgres'), ['-D', data, ...settings.flatMap((setting) => ['-c', setting])], {
      stdio: ['ignore', log, log],
      env: { ...process.env, ...this.env },
      ...this.#user,
    });
    closeSync(log);
    this.#server = server;
    for (const deadline = Date.now() + 60_000; ; await sleep(100)) {
      try {
        await this.query('SELECT 1');
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
        // The lock file of a killed server may have stopped this server. So the start is repeated.
        if (server.exitCode !== null) return this.start();
      }
    }
  }

  async query(statement: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url, connectionTimeoutMillis: 5_000 });
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  }

  isRunning(): boolean {
    return this.#server?.exitCode === null && this.#server.signalCode === null;
  }

  pids(): number[] {
    return this.#server?.pid === undefined ? [] : withDescendants([this.#server.pid]);
  }

  /**
   * Sends the signal, and waits for the end of the server. With SIGINT, the server closes its connections first. SIGKILL goes to
   * all processes of the server.
   */
  async end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server;
    if (!server || !this.isRunning()) return;
    const ended = once(server, 'exit');
    const pids = this.pids();
    server.kill(signal);
    // A killed server cannot stop its child processes, which end one by one.
    for (const pid of signal === 'SIGKILL' ? pids : []) {
      try {
        process.kill(pid, signal);
      } catch {}
    }
    await ended;
  }

  log(): string {
    return readFileSync(this.#log, 'utf8');
  }
}
/** The folder of `psql`, `pg_dump` and the server. */
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
