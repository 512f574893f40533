/** The world outside a command: environment, standard streams, and the person in front of them, if there is one. */

import { createInterface } from 'node:readline/promises';

export interface Terminal {
  env: Readonly<Record<string, string | undefined>>;
  /** Standard output. */
  out(text: string): void;
  /** Standard error. */
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
  async readStdin() {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks);
  },
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
