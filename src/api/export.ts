/** `/co/{companyId}/export/…`: streams all chains, events or audit entries that match a filter. Reads them page by page. */

import { ReadableStream } from 'node:stream/web';
import type { Context } from 'hono';
import { z } from 'zod';
import { auditEntrySchema } from '../contract/audit.js';
import { listedChainSchema } from '../contract/chain-resource.js';
import { storedEventSchema } from '../contract/rule-event.js';
import type { PageRequest } from '../store/database.js';
import { chainFilterSchema } from '../temporal/list.js';
import { linksFor } from './bearer-authentication.js';
import { listedOf, rowFilter, rowQuery } from './chains.js';
import { csvLine, csvStart } from './csv.js';
import { found } from './problems.js';
import { type Answer, type ApiOptions, type Route, route } from './route.js';
import { eventFilterSchema } from './rule-event-list.js';
import { auditSheet, type Columns, chainSheet, eventSheet, type SheetOf } from './sheets.js';

const formatted = z.object({
  format: z
    .enum(['ndjson', 'csv', 'sheet'])
    .default('ndjson')
    .describe(
      '`ndjson`: one JSON object in each line. `csv`: the same fields as CSV. `sheet`: CSV for people, with words and local times.',
    ),
});
type Format = z.infer<typeof formatted>['format'];

const description =
  'The answer is a stream of all rows that match. If the stream ends too early, rows are missing: send the request again. In ' +
  'CSV, the relay writes an apostrophe before a text that a spreadsheet would run as a formula, and semicolons between the parts of lists and objects.';
const answers: Record<number, Answer> = { 200: ['The rows.', '*/*'] };

export function exportRoutes({ store, links }: Pick<ApiOptions, 'store' | 'links'>): Route[] {
  const { companies, rules, events, audit } = store;
  /** Exports rule by rule, because the index of events begins with the rule. */
  async function* eventsOf(companyId: string, { relayId, ...filter }: z.infer<typeof eventQuery>) {
    const of = (relayId: string) => pages((page) => events.listWhole(companyId, relayId, page, filter), 100); // with bodies
    if (relayId !== undefined) return yield* of(relayId);
    for await (const some of pages((page) => rules.list(companyId, page))) for (const rule of some) yield* of(rule.relayId);
  }
  const eventQuery = eventFilterSchema.extend({ relayId: chainFilterSchema.shape.relayId.describe('Only events of this rule.') });
  const timeQuery = chainFilterSchema.pick({ since: true, until: true });
  /** Only a sheet needs the names of the rules. @throws Problem not-found. */
  const sheetFor = async <Item>(companyId: string, format: Format, columns: (of: SheetOf) => Columns<Item>) => {
    const company = found(await companies.get(companyId), `company ${companyId}`);
    if (format !== 'sheet') return undefined;
    const names = new Map<string, string>();
    for await (const some of pages((page) => rules.list(companyId, page)))
      for (const { relayId, name } of some) names.set(relayId, name);
    return columns({ company, api: links.api, ruleName: (relayId) => names.get(relayId) ?? relayId });
  };
  return [
    route.company('GET /co/:companyId/export/chains', 'exportChains', 'Export chains', {
      ...{ description, use: 'lists', answers },
      query: rowQuery.extend(formatted.shape),
      async handle(c, { companyId, actor, query: { format, ...filter } }) {
        const sheet = await sheetFor(companyId, format, chainSheet);
        const shown = linksFor(actor, links);
        const listed = pages(async (page) => {
          const { items, nextCursor } = await store.chains.list(companyId, rowFilter(filter), page);
          return { items: items.map((row) => listedOf(row, shown)), nextCursor };
        });
        return streamed(c, `${companyId}-chains`, format, listedChainSchema.omit({ next: true }), listed, sheet);
      },
    }),
    route.company('GET /co/:companyId/export/events', 'exportEvents', 'Export events', {
      ...{ description, use: 'lists', answers },
      query: eventQuery.extend(formatted.shape),
      async handle(c, { companyId, query: { format, ...filter } }) {
        const sheet = await sheetFor(companyId, format, eventSheet);
        return streamed(
          c,
          `${companyId}-events`,
          format,
          storedEventSchema.omit({ hash: true }),
          eventsOf(companyId, filter),
          sheet,
        );
      },
    }),
    route.manager('GET /co/:companyId/export/audit', 'exportAudit', 'Export the audit log of a company', {
      ...{ description, use: 'lists', answers },
      query: timeQuery.extend(formatted.shape),
      async handle(c, { companyId, query: { format, ...filter } }) {
        const sheet = await sheetFor(companyId, format, auditSheet);
        const entries = pages((page) => audit.list({ companyId, ...page, ...filter }));
        return streamed(c, `${companyId}-audit`, format, auditEntrySchema, entries, sheet);
      },
    }),
  ];
}

/** Reads the next page only when the caller needs it. */
async function* pages<Item>(
  read: (page: PageRequest) => Promise<{ items: Item[]; nextCursor?: string | undefined }>,
  limit = 500,
) {
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = await read({ limit, ...(cursor !== undefined && { cursor }) });
    yield items;
    cursor = nextCursor;
  } while (cursor !== undefined);
}

/** Answers with the fields of the schema. The client's connection decides how fast the stream reads the pages. */
function streamed<Noun extends z.ZodObject>(
  c: Context,
  name: string,
  format: Format,
  noun: Noun,
  items: AsyncIterable<readonly z.infer<Noun>[]>,
  sheet: Columns<z.infer<Noun>> | undefined,
): Response {
  const fields = Object.keys(noun.shape).map((field) => [field, (item: z.infer<Noun>): unknown => item[field]] as const);
  const columns = sheet ? Object.entries(sheet) : fields;
  const [isJson, headings] = [format === 'ndjson', columns.map(([heading]) => heading)];
  async function* lines() {
    const encoder = new TextEncoder();
    if (!isJson) yield encoder.encode(csvStart + csvLine(headings));
    for await (const page of items) {
      const shown = page.map((item) => noun.parse(item));
      const written = shown.map((item) => (isJson ? jsonLine(item) : csvLine(columns.map(([, read]) => read(item)))));
      if (written.length > 0) yield encoder.encode(written.join(''));
    }
  }
  return c.body(ReadableStream.from(lines()), 200, {
    'Content-Type': isJson ? 'application/x-ndjson' : 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name}.${isJson ? format : 'csv'}"`,
    'Cache-Control': 'no-store',
  });
}

const jsonLine = (item: unknown) => `${JSON.stringify(item)}\n`;
