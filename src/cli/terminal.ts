/** The parts of a process that a command uses: environment, standard streams, questions to a person, exit codes. */

import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';

export type Terminal = typeof processTerminal;

export const processTerminal = {
  env: process.env as Readonly<Record<string, string | undefined>>,
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
  readStdin: (): Promise<Uint8Array> => buffer(process.stdin),
  columns: process.stdout.isTTY ? process.stdout.columns : undefined, // undefined if standard output is not a terminal
  interactive: process.stdin.isTTY && process.stderr.isTTY, // whether a person can answer questions
  async ask(question: string): Promise<string> {
    process.stderr.write(question);
    for await (const reply of createInterface({ input: process.stdin })) return reply;
    return '';
  },
};

/** `relay --help` explains the exit codes. */
export const exitCodes = { ok: 0, refused: 1, usage: 2, unreachable: 3, trouble: 4 } as const;

export const isYes = (reply: string): boolean => /^y(es)?$/i.test(reply.trim());

/** A person answered a question with no. */
export class NotConfirmed extends Error {
  override readonly name = 'NotConfirmed';
}

/** The command line is wrong. The message says what to write instead, and contains no secret. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
