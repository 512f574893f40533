/** One run of the command: the API that it asks, how it shows what comes back, and how it ends. */

import { z } from 'zod';
import { readAddress } from './address.js';
import { type Answer, Api } from './api.js';
import { type ExitCode, exitCodes, NotConfirmed, UsageError } from './exit-codes.js';
import { type Columns, table } from './table.js';
import type { Terminal } from './terminal.js';
import { type Line, render } from './text.js';

/** Options of all commands. */
interface GlobalOptions {
  url?: string | undefined;
  /** Whether standard output is for machines: answers as they came, and nothing else. */
  json?: boolean | undefined;
}

export class Session {
  /** What the command ends with unless it throws. */
  exitCode: ExitCode = exitCodes.ok;
  #api: Api | undefined;

  constructor(
    readonly terminal: Terminal,
    /** Known once the command line is read. */
    private readonly options: () => GlobalOptions,
  ) {}

  /** @throws UsageError where the address cannot be used. */
  get api(): Api {
    this.#api ??= new Api(readAddress(this.options().url, this.terminal.env));
    return this.#api;
  }

  get json(): boolean {
    return this.options().json ?? false;
  }

  /** Shows an answer: these lines, or with `--json` the body as it came. */
  show({ text }: Answer, lines: readonly Line[]): void {
    if (this.json) this.terminal.out(`${text.trimEnd()}\n`);
    else this.print(lines);
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

  /** A table that is cut at the width of the terminal. */
  table<Item>(items: readonly Item[], columns: Columns<Item>): Line[] {
    return table(items, columns, this.terminal.columns);
  }

  /** Makes sure that something which cannot be undone is meant. @throws UsageError, NotConfirmed */
  async confirm(yes: boolean | undefined, question: string): Promise<void> {
    if (yes) return;
    if (!this.terminal.interactive) throw new UsageError('This cannot be undone: say that it is meant, with --yes');
    const reply = await this.terminal.ask(render(`${question} This cannot be undone. y/N `, false));
    if (!/^y(es)?$/i.test(reply.trim())) throw new NotConfirmed('Nothing was done');
  }

  /** Deletes what is at the path, once that is confirmed. @throws UsageError, NotConfirmed */
  async delete(path: string, yes: boolean | undefined, question: string, done: string): Promise<void> {
    const { api } = this; // An address that cannot be used is said before anybody is asked.
    await this.confirm(yes, question);
    await api.ask('DELETE', path, z.unknown());
    this.print([done]);
  }
}
