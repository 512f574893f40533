/** The usage of companies today (UTC). This process counts in memory, and adds its counts to the database once a second. */

import { z } from 'zod';
import { type Queries, read } from './database.js';

export type Used = { actions: number; recipients: number };

const settleEveryMs = 1000;
const keptDays = 31;
const totalRow = z.object({ companyId: z.string(), actions: z.coerce.number(), recipients: z.coerce.number() });
const columns = 'company_id AS "companyId", actions, recipients';

const none: Used = { actions: 0, recipients: 0 };
const plus = (one: Used, other: Used, sign = 1): Used => ({
  actions: one.actions + sign * other.actions,
  recipients: one.recipients + sign * other.recipients,
});

export class Usage {
  #day = '';
  #loadedDay = '';
  readonly #counts = new Map<string, { settled: Used; unsettled: Used }>(); // by company, for today
  #settling: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly database: Queries) {
    this.#timer = setInterval(() => this.settle().catch(() => {}), settleEveryMs).unref();
  }

  /** Returns today's usage of a company, as far as this process knows. */
  of(companyId: string): Used {
    const count = this.#today().get(companyId);
    return count ? plus(count.settled, count.unsettled) : none;
  }

  /** @param sign - with -1, subtracts the usage. */
  add(companyId: string, used: Used, sign: 1 | -1 = 1): void {
    const counts = this.#today();
    const { settled, unsettled } = counts.get(companyId) ?? { settled: none, unsettled: none };
    counts.set(companyId, { settled, unsettled: plus(unsettled, used, sign) });
  }

  /** Adds new counts to the database. Also reads the totals of the companies in `also`. @throws if the database does not answer. */
  async settle(also: readonly string[] = []): Promise<void> {
    const settled = this.#settling.then(() => this.#settle(also));
    this.#settling = settled.catch(() => {});
    return settled;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.settle().catch(() => {});
  }

  #today() {
    const day = new Date().toISOString().slice(0, 10);
    if (day !== this.#day) this.#counts.clear();
    this.#day = day;
    return this.#counts;
  }

  async #settle(also: readonly string[]): Promise<void> {
    const counts = this.#today();
    const day = this.#day;
    if (this.#loadedDay !== day) {
      await this.database.query(`DELETE FROM daily_usage WHERE day < $1::text::date - ${keptDays}`, [day]);
      const ofDay = `SELECT ${columns} FROM daily_usage WHERE day = $1::text::date`;
      this.#note(day, await read(this.database, totalRow, ofDay, [day]));
      this.#loadedDay = day;
    }
    for (const companyId of also) if (!counts.has(companyId)) counts.set(companyId, { settled: none, unsettled: none });
    const isOpen = ({ actions, recipients }: Used) => actions !== 0 || recipients !== 0;
    const open = [...counts].filter(([companyId, { unsettled }]) => isOpen(unsettled) || also.includes(companyId));
    if (open.length === 0) return;
    const sent = new Map(open.map(([companyId, { unsettled }]) => [companyId, unsettled]));
    const rows = [...sent].map(([company_id, used]) => ({ company_id, day, ...used }));
    // The fixed order of rows prevents deadlocks between processes.
    const addRows = `INSERT INTO daily_usage AS known (company_id, day, actions, recipients)
      SELECT company_id, day, actions, recipients FROM json_populate_recordset(NULL::daily_usage, $1::text::json)
      WHERE company_id IN (SELECT company_id FROM companies) ORDER BY company_id
      ON CONFLICT (company_id, day)
      DO UPDATE SET actions = known.actions + excluded.actions, recipients = known.recipients + excluded.recipients
      RETURNING ${columns}`;
    this.#note(day, await read(this.database, totalRow, addRows, [JSON.stringify(rows)]), sent);
  }

  /** Keeps the totals of the database in memory. @param sent - the counts of this process that the totals now include. */
  #note(day: string, totals: z.infer<typeof totalRow>[], sent = new Map<string, Used>()): void {
    if (day !== this.#day) return;
    for (const { companyId, ...settled } of totals) {
      const unsettled = this.#counts.get(companyId)?.unsettled ?? none;
      this.#counts.set(companyId, { settled, unsettled: plus(unsettled, sent.get(companyId) ?? none, -1) });
    }
  }
}
