/** The world outside a command: environment, standard streams, the person in front of them if there is one, and the exit code. */

import { createInterface } from 'node:readline/promises';
import { buffer } from 'node:stream/consumers';

export interface Terminal {
  env: Readonly<Record<string, string | undefined>>;
  /** To standard output. */
  out(text: string): void;
  /** To standard error. */
  err(text: string): void;
  readStdin(): Promise<Uint8Array>;
  /** Width of the terminal that standard output goes to; undefined where it goes elsewhere. */
  columns: number | undefined;
  /** Whether somebody is there to ask. */
  interactive: boolean;
  ask(question: string): Promise<string>;
}

export const processTerminal: Terminal = {
  env: process.env,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  readStdin: () => buffer(process.stdin),
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
  interactive: process.stdin.isTTY === true && process.stderr.isTTY === true,
  async ask(question) {
    const reader = createInterface({ input: process.stdin, output: process.stderr });
    const ended = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
    try {
      return await Promise.race([reader.question(question), ended]);
    } finally {
      reader.close();
    }
  },
};

/** What the exit code tells a script: `relay --help` says what each means. */
export const exitCodes = { ok: 0, refused: 1, usage: 2, unreachable: 3, trouble: 4 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Somebody was asked, and did not say yes. */
export class NotConfirmed extends Error {
  override readonly name = 'NotConfirmed';
}

/** The command line or what it names cannot be used; the message says what to write instead. Never holds a secret. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
