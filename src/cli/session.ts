/** One run of a command: the API that it asks, and how it shows what comes back. */

import type { z } from 'zod';
import type { Answer, Api } from './api.js';
import type { Options } from './command.js';
import { NotConfirmed, UsageError } from './exit-codes.js';
import type { Terminal } from './terminal.js';
import { type Line, render } from './text.js';

/** Options of what cannot be undone: see confirm. */
export const confirmOptions = { yes: { type: 'boolean', help: 'do not ask' } } as const satisfies Options;

export class Session {
  constructor(
    readonly api: Api,
    readonly terminal: Terminal,
    /** Whether standard output is for machines: answers as they came, and nothing else. */
    readonly json: boolean,
  ) {}

  /** Shows an answer: as it came, or as the lines that `lines` makes of it. @returns what it says. */
  show<Schema extends z.ZodType>(
    answer: Answer,
    schema: Schema,
    lines: (body: z.infer<Schema>) => readonly Line[],
  ): z.infer<Schema> {
    const body = this.api.read(schema, answer);
    if (this.json) this.terminal.out(`${answer.text.trimEnd()}\n`);
    else this.print(lines(body));
    return body;
  }

  /** For people; nothing with `--json`. */
  print(lines: readonly Line[]): void {
    const { env, columns } = this.terminal;
    const coloured = columns !== undefined && !env.NO_COLOR && env.TERM !== 'dumb';
    if (!this.json) this.terminal.out(lines.map((line) => `${render(line, coloured)}\n`).join(''));
  }

  /** On standard error, for what is not the result. */
  note(text: string): void {
    this.terminal.err(`${render(text, false)}\n`);
  }

  /** Makes sure that something which cannot be undone is meant. @throws UsageError, NotConfirmed */
  async confirm(yes: boolean | undefined, question: string): Promise<void> {
    if (yes) return;
    if (!this.terminal.interactive) throw new UsageError('This cannot be undone: say that it is meant, with --yes');
    const reply = await this.terminal.ask(render(`${question} This cannot be undone. y/N `, false));
    if (!/^y(es)?$/i.test(reply.trim())) throw new NotConfirmed('Nothing was done');
  }
}
