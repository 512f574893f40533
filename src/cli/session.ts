/** One run of the command: its API, its output and its exit code. */

import { z } from 'zod';
import { type Answer, Api, readAddress } from './api.js';
import { exitCodes, isYes, NotConfirmed, type Terminal, UsageError } from './terminal.js';
import { type Columns, type Line, render, table } from './text.js';

type ListBody<Field extends string> = Record<Field, unknown[]> & { nextCursor?: string | undefined };

interface ListRequest<Field extends string, Body extends ListBody<Field>> {
  path: string;
  query?: Record<string, unknown>;
  field: Field;
  schema: z.ZodType<Body>;
  columns: Columns<Body[Field][number]>;
  none: string; // the text for an empty list
  /** Makes the lines to print below the list. @param first - the first page of the list. */
  below?(first: Body): readonly Line[];
}

const largestPart = 200; // the API returns at most this many items in one page

export class Session {
  exitCode: number = exitCodes.ok;
  #api: Api | undefined;

  constructor(
    readonly terminal: Terminal,
    /** Returns the global options. The options are known only after the command line is parsed. */
    private readonly options: () => { url?: string; json?: boolean },
  ) {}

  /** @throws UsageError if the address is invalid. */
  get api(): Api {
    this.#api ??= new Api(readAddress(this.options().url, this.terminal.env));
    return this.#api;
  }

  /** Whether `--json` is set. If so, standard output contains only answers of the API. */
  get json(): boolean {
    return this.options().json ?? false;
  }

  /** Prints the lines. With `--json`, prints the answer of the API instead. */
  async show<Body>(asked: Answer<Body> | Promise<Answer<Body>>, lines: (body: Body) => readonly Line[]): Promise<void> {
    const { text, body } = await asked;
    if (this.json) this.terminal.out(`${text.trimEnd()}\n`);
    else this.print(lines(body));
  }

  /** Prints a table. With `--json`, prints the API's answers instead, one for each page. */
  async list<Field extends string, Body extends ListBody<Field>>(
    { limit: shown = 50, all }: { limit?: number; all?: true },
    { path, query, field, schema, columns, none, below }: ListRequest<Field, Body>,
  ): Promise<void> {
    const wanted = all ? Number.POSITIVE_INFINITY : shown;
    const items: Body[Field][number][] = [];
    let first: Body | undefined;
    let cursor: string | undefined;
    do {
      const limit = Math.min(wanted - items.length, largestPart);
      const { text, body } = await this.api.ask('GET', path, schema, { query: { ...query, limit, cursor } });
      if (this.json) this.terminal.out(`${text.trimEnd()}\n`);
      items.push(...body[field]);
      first ??= body;
      cursor = body.nextCursor;
    } while (cursor !== undefined && items.length < wanted);
    if (this.json) return;

    if (items.length > 0) this.print(this.table(items, columns));
    else this.note(none);
    if (cursor !== undefined) this.note('There are more items: use --limit <n> or --all.');
    if (first && below) this.print(below(first));
  }

  /** Prints nothing with `--json`. */
  print(lines: readonly Line[]): void {
    const { env, columns } = this.terminal;
    const coloured = columns !== undefined && !env.NO_COLOR && env.TERM !== 'dumb';
    if (!this.json) this.terminal.out(lines.map((line) => `${render(line, coloured)}\n`).join(''));
  }

  /** Writes to standard error, even with `--json`. */
  note(line: Line): void {
    this.terminal.err(`${render(line, false)}\n`);
  }

  table<Item>(items: readonly Item[], columns: Columns<Item>): Line[] {
    return table(items, columns, this.terminal.columns);
  }

  /** Asks for confirmation. @param why - the reason that the question gives. @throws UsageError, NotConfirmed */
  async confirm(yes: boolean | undefined, question: string, why = 'This cannot be undone'): Promise<void> {
    if (yes) return;
    if (!this.terminal.interactive) throw new UsageError(`${why}: confirm it with --yes`);
    const reply = await this.terminal.ask(render(`${question} ${why}. y/N `, false));
    if (!isYes(reply)) throw new NotConfirmed('Nothing was done');
  }

  /** Asks for confirmation, then deletes. @param what - names the deleted thing in the question. @throws UsageError, NotConfirmed */
  async delete(path: string, yes: boolean | undefined, what: string, verb: 'Delete' | 'Revoke' = 'Delete'): Promise<void> {
    const { api } = this; // Throws an error for an invalid address before the person must answer.
    await this.confirm(yes, `${verb} ${what}?`);
    await api.ask('DELETE', path, z.unknown());
    this.print([`${verb}d: ${what}.`]);
  }
}
