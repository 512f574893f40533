/** The world outside a command: environment, standard streams, the person in front of them if there is one, and the exit code. */

import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';

export type Terminal = typeof processTerminal;

export const processTerminal = {
  env: process.env as Readonly<Record<string, string | undefined>>,
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
  readStdin: (): Promise<Uint8Array> => buffer(process.stdin),
  /** Width of the terminal that standard output goes to; undefined where it goes elsewhere. */
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
  /** Whether somebody is there to ask. */
  interactive: process.stdin.isTTY && process.stderr.isTTY,
  async ask(question: string): Promise<string> {
    process.stderr.write(question);
    for await (const reply of createInterface({ input: process.stdin })) return reply;
    return '';
  },
};

/** What the exit code tells a script: `relay --help` says what each means. */
export const exitCodes = { ok: 0, refused: 1, usage: 2, unreachable: 3, trouble: 4 } as const;

/** Somebody was asked, and did not say yes. */
export class NotConfirmed extends Error {
  override readonly name = 'NotConfirmed';
}

/** The command line or what it names cannot be used; the message says what to write instead. Never holds a secret. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
