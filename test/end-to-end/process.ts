/** The relay as separate processes, as users start it. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../src/service/server.js';
import { quickStart } from '../in-one-process.js';
import { eventually, Unmet } from './stack.js';

export interface Process {
  child: ChildProcess;
  /** All output so far. */
  output(): string;
  /** Waits for this output. */
  says(text: string | RegExp): Promise<void>;
  /** Sends a signal and waits for the end. @returns the exit code, or the signal's name. */
  end(signal: NodeJS.Signals): Promise<number | string | null>;
  /** Waits for the end. */
  ended: Promise<number | string | null>;
}

/**
 * A test's process runs only for seconds. With this option, V8 optimizes only code that runs very often. So the start takes a
 * seventh less time.
 */
const forSeconds = [quickStart, '--interrupt-budget=2000000'];

const built = fileURLToPath(new URL('../../', import.meta.url));

/**
 * @param main - a compiled main file, below src/: `sandbox/start.js`
 * @param dist - the compiled files of another version
 */
export function startProcess(main: string, env: Record<string, string>, dist = built): Process {
  return startProgram(process.execPath, ['--enable-source-maps', ...forSeconds, join(dist, 'src', main)], { env });
}

/** @param options - `env`: variables in addition to those of the tests. */
export function startProgram(
  program: string,
  args: string[],
  { env, cwd }: { env: Record<string, string>; cwd?: string },
): Process {
  const child = spawn(program, args, { env: { ...process.env, ...env }, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const name = [program, ...args].at(-1);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal);
  return {
    child,
    output: () => output,
    ended,
    async says(text) {
      await eventually(`${name} to say ${text}`, async () => {
        if (typeof text === 'string' ? output.includes(text) : text.test(output)) return true;
        if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${output}`);
        return new Unmet(output);
      });
    },
    async end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

/** The process ids of the Temporal servers whose data is below a directory. */
export function serversOf(path: string): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes('start-dev') && line.includes(path)).map((line) => Number.parseInt(line, 10));
}

/** `npm start` with its own ports and directory. Processes that still run after the file's tests are killed. */
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
    /** @param dist - the compiled files of another version */
    start(env: Record<string, string> = {}, dist?: string): Process {
      const own = { RELAY_DATA_DIR: join(directory, 'data'), TEMPORAL_ADDRESS: '', DATABASE_URL: '', SMTP_URL: '' };
      const started = startProcess('sandbox/start.js', { ...ports, ...own, ...env }, dist);
      running.push(started);
      return started;
    },
  };
}
