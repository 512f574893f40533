/** Lists, which the API gives in parts. */

import { z } from 'zod';
import type { Options } from './command.js';
import { UsageError } from './exit-codes.js';
import type { Session } from './session.js';
import { type Column, table } from './table.js';

/** Options of every long list. */
export const listOptions = {
  limit: { type: 'string', value: 'n', help: 'at most so many; default: 50' },
  all: { type: 'boolean', help: 'all there are' },
} as const satisfies Options;

export interface ListRequest<Item> {
  path: string;
  query?: Record<string, string | undefined>;
  /** The field of the answer that holds the items. */
  field: string;
  item: z.ZodType<Item>;
  columns: readonly Column<Item>[] | ((items: readonly Item[]) => readonly Column<Item>[]);
  /** What to say where there is nothing. */
  none: string;
}

/** The API's largest part. */
const largestPart = 200;

/** Shows a list as a table, or with `--json` every part as it came. */
export async function showList<Item>(
  session: Session,
  request: ListRequest<Item>,
  options: { limit?: string | undefined; all?: boolean | undefined } = {},
): Promise<void> {
  const wanted = options.all ? Number.POSITIVE_INFINITY : readLimit(options.limit);
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const limit = Math.min(wanted - items.length, largestPart);
    const answer = await session.api.ask('GET', request.path, { query: { ...request.query, limit, cursor } });
    const body = session.api.read(z.looseObject({ nextCursor: z.string().optional() }), answer);
    const part = session.api.read(z.object({ [request.field]: z.array(request.item) }), answer)[request.field] ?? [];
    if (session.json) session.terminal.out(`${answer.text.trimEnd()}\n`);
    items.push(...part);
    cursor = body.nextCursor;
  } while (cursor !== undefined && items.length < wanted);
  if (session.json) return;

  const columns = typeof request.columns === 'function' ? request.columns(items) : request.columns;
  if (items.length > 0) session.print(table(items, columns, session.terminal.columns));
  else session.note(request.none);
  if (cursor !== undefined) session.note('There are more: --limit shows so many, --all shows all.');
}

function readLimit(text = '50'): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new UsageError('--limit must be a whole number from 1');
}
