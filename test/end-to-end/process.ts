/** The relay as processes of their own, as users start them. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../src/service/server.js';
import { eventually, Unmet } from './stack.js';

export interface Process {
  child: ChildProcess;
  /** Everything that it said so far. */
  output(): string;
  /** Waits until it has said this. */
  says(text: string | RegExp): Promise<void>;
  /** Sends a signal and waits for the end. @returns the exit code, or the signal's name. */
  end(signal: NodeJS.Signals): Promise<number | string | null>;
  /** Waits for the end. */
  ended: Promise<number | string | null>;
}

const built = fileURLToPath(new URL('../../', import.meta.url));

/** @param main - a compiled entry below src/: `sandbox/start.js`. @param dist - of another version. */
export function startProcess(main: string, env: Record<string, string>, dist = built): Process {
  const path = join(dist, 'src', main);
  const child = spawn(process.execPath, ['--enable-source-maps', path], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal);
  return {
    child,
    output: () => output,
    ended,
    async says(text) {
      await eventually(`${main} to say ${text}`, async () => {
        if (typeof text === 'string' ? output.includes(text) : text.test(output)) return true;
        if (child.exitCode !== null) throw new Error(`${main} ended with ${child.exitCode}: ${output}`);
        return new Unmet(output);
      });
    },
    async end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

/** The Temporal servers that keep their data below a directory. */
export function serversOf(path: string): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes('start-dev') && line.includes(path)).map((line) => Number.parseInt(line, 10));
}

/** `npm start` on ports and in a directory of its own; what still runs when the file's tests are over is killed. */
export async function sandbox() {
  const directory = mkdtempSync(join(tmpdir(), 'relay-start-'));
  const running: Process[] = [];
  after(async () => {
    for (const { child, ended } of running) {
      child.kill('SIGKILL');
      await ended;
    }
    for (const pid of serversOf(directory)) process.kill(pid, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });
  const ports: Record<string, string> = {};
  for (const name of ['', 'TEMPORAL_', 'TEMPORAL_UI_', 'SMTP_', 'MAIL_UI_', 'SANDBOX_'])
    ports[name === '' ? 'PORT' : `RELAY_${name}PORT`] = String(await freePort('127.0.0.1'));
  return {
    directory,
    ports,
    running,
    start(env: Record<string, string> = {}): Process {
      const own = { RELAY_DATA_DIR: join(directory, 'data'), TEMPORAL_ADDRESS: '', DATABASE_URL: '', SMTP_URL: '' };
      const started = startProcess('sandbox/start.js', { ...ports, ...own, ...env });
      running.push(started);
      return started;
    },
  };
}
