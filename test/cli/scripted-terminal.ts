/** A terminal without a person: what is typed is given, what is shown is kept. */

import { runCommandLine } from '../../src/cli/program.js';
import type { Terminal } from '../../src/cli/terminal.js';

export interface Shown {
  exitCode: number;
  out: string;
  err: string;
}

export interface Scripted extends Partial<Pick<Terminal, 'columns'>> {
  env?: Terminal['env'];
  stdin?: string;
  /** What the person says to a question; without it nobody is there. */
  reply?: string;
}

/** Runs `relay <words>`; RELAY_DATA_DIR is nowhere unless `env` says otherwise. */
export async function relay(words: readonly string[], { env, stdin = '', reply, columns }: Scripted = {}): Promise<Shown> {
  const shown = { out: '', err: '' };
  const exitCode = await runCommandLine(words, {
    env: { RELAY_DATA_DIR: '/nowhere', ...env },
    out: (text) => {
      shown.out += text;
    },
    err: (text) => {
      shown.err += text;
    },
    readStdin: async () => new TextEncoder().encode(stdin),
    columns,
    interactive: reply !== undefined,
    ask: async (question) => {
      shown.err += question;
      return reply ?? '';
    },
  });
  return { exitCode, ...shown };
}
