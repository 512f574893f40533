/** Lists, which the API answers in parts. */

import type { z } from 'zod';
import type { Session } from './session.js';
import type { Columns } from './table.js';

export interface ListRequest<Field extends string, Item> {
  path: string;
  query?: Record<string, string | undefined>;
  /** The field of the answer that holds the items. */
  field: Field;
  schema: z.ZodType<Record<Field, Item[]> & { nextCursor?: string | undefined }>;
  columns: Columns<Item> | ((items: readonly Item[]) => Columns<Item>);
  /** The sentence for an empty list. */
  none: string;
}

/** The most items that the API puts into one answer. */
const largestPart = 200;

/** Shows a list as a table, or with `--json` every part as it came. */
export async function showList<Field extends string, Item>(
  session: Session,
  { limit: shown = 50, all }: { limit?: number | undefined; all?: boolean | undefined },
  { path, query, field, schema, columns, none }: ListRequest<Field, Item>,
): Promise<void> {
  const wanted = all ? Number.POSITIVE_INFINITY : shown;
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const limit = Math.min(wanted - items.length, largestPart);
    const { text, body } = await session.api.ask('GET', path, schema, { query: { ...query, limit, cursor } });
    if (session.json) session.terminal.out(`${text.trimEnd()}\n`);
    items.push(...body[field]);
    cursor = body.nextCursor;
  } while (cursor !== undefined && items.length < wanted);
  if (session.json) return;

  if (items.length > 0) session.print(session.table(items, typeof columns === 'function' ? columns(items) : columns));
  else session.note(none);
  if (cursor !== undefined) session.note('There are more: --limit shows so many, --all shows all.');
}
