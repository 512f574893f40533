/** One run of the command: the API that it asks, how it shows what comes back, and how it ends. */

import { z } from 'zod';
import { type Answer, Api, readAddress } from './api.js';
import { exitCodes, NotConfirmed, type Terminal, UsageError } from './terminal.js';
import { type Columns, type Line, render, table } from './text.js';

interface ListRequest<Field extends string, Item> {
  path: string;
  query?: Record<string, unknown>;
  /** The field of the answer that holds the items. */
  field: Field;
  schema: z.ZodType<Record<Field, Item[]> & { nextCursor?: string }>;
  columns: Columns<Item>;
  /** The sentence for an empty list. */
  none: string;
}

/** The most items of a list that the API puts into one answer. */
const largestPart = 200;

export class Session {
  /** What the command ends with unless it throws. */
  exitCode: number = exitCodes.ok;
  #api: Api | undefined;

  constructor(
    readonly terminal: Terminal,
    /** Those of all commands, known once the command line is read. */
    private readonly options: () => { url?: string; json?: boolean },
  ) {}

  /** @throws UsageError where the address cannot be used. */
  get api(): Api {
    this.#api ??= new Api(readAddress(this.options().url, this.terminal.env));
    return this.#api;
  }

  /** Whether standard output is for machines: answers as they came, and nothing else. */
  get json(): boolean {
    return this.options().json ?? false;
  }

  /** Shows an answer of the API: what `lines` says of its body, or with `--json` the body as it came. */
  async show<Body>(asked: Answer<Body> | Promise<Answer<Body>>, lines: (body: Body) => readonly Line[]): Promise<void> {
    const { text, body } = await asked;
    if (this.json) this.terminal.out(`${text.trimEnd()}\n`);
    else this.print(lines(body));
  }

  /** Shows a list as a table, or with `--json` every part as it came. */
  async list<Field extends string, Item>(
    { limit: shown = 50, all }: { limit?: number; all?: true },
    { path, query, field, schema, columns, none }: ListRequest<Field, Item>,
  ): Promise<void> {
    const wanted = all ? Number.POSITIVE_INFINITY : shown;
    const items: Item[] = [];
    let cursor: string | undefined;
    do {
      const limit = Math.min(wanted - items.length, largestPart);
      const { text, body } = await this.api.ask('GET', path, schema, { query: { ...query, limit, cursor } });
      if (this.json) this.terminal.out(`${text.trimEnd()}\n`);
      items.push(...body[field]);
      cursor = body.nextCursor;
    } while (cursor !== undefined && items.length < wanted);
    if (this.json) return;

    if (items.length > 0) this.print(this.table(items, columns));
    else this.note(none);
    if (cursor !== undefined) this.note('There are more: --limit shows so many, --all shows all.');
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

  /** Deletes what is at the path, `what` as people call it, once that is confirmed. @throws UsageError, NotConfirmed */
  async delete(path: string, yes: boolean | undefined, what: string, verb: 'Delete' | 'Revoke' = 'Delete'): Promise<void> {
    const { api } = this; // An address that cannot be used is said before anybody is asked.
    await this.confirm(yes, `${verb} ${what}?`);
    await api.ask('DELETE', path, z.unknown());
    this.print([`${verb}d: ${what}.`]);
  }
}
