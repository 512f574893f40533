/** A scripted terminal, which types given input and records output. */

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
  /** The person's answer to each question. If unset, there is no terminal. */
  reply?: string;
}

/** Runs `relay <words>`. Unless `env` sets RELAY_DATA_DIR, this directory does not exist. */
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
