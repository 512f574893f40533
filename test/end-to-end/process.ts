/** The relay as processes of their own, as users start them. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
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

/** @param main - a compiled entry below src/: `sandbox/start.js`. */
export function startProcess(main: string, env: Record<string, string>): Process {
  const path = fileURLToPath(new URL(`../../src/${main}`, import.meta.url));
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
