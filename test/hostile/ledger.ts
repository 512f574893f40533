/** Finds out what happened to requests: which chains the fake Temporal got, and which refused requests are in the store. */

import type { Database } from '../../src/store/database.js';

/** The outcomes of a company's requests since the last clear, by idempotency key. */
export interface Ledger {
  started: { chainId: string; actions: unknown }[];
  kept: { key: string; reason: string }[];
  /** `4711 malformed-body` means that the contacts of the rule 4711 got a notice with this reason. */
  told: string[];
}

/** Creates a ledger that reads the fake Temporal and the store. */
export function keepLedger(database: Database) {
  let started: (Ledger['started'][number] & { companyId: string })[] = [];
  let told: { companyId: string; what: string }[] = [];
  return {
    start: async (type: string, { args: [first] }: { args: unknown[] }) => {
      const { companyId = '', chainId = '', actions, relayId, reason } = first as Record<string, string>;
      if (type === 'RuleChain') started.push({ companyId, chainId, actions: JSON.parse(JSON.stringify(actions)) });
      else told.push({ companyId, what: `${relayId} ${reason}` });
      return {};
    },
    async read(companyId: string): Promise<Ledger> {
      const kept = await database.query('SELECT idempotency_key AS key, reason FROM rejected_requests WHERE company_id = $1', [
        companyId,
      ]);
      const own = <Item extends { companyId: string }>(items: Item[]) => items.filter((item) => item.companyId === companyId);
      return { started: own(started), kept: kept as Ledger['kept'], told: [...new Set(own(told).map(({ what }) => what))] };
    },
    async clear(companyId: string): Promise<void> {
      const other = (item: { companyId: string }) => item.companyId !== companyId;
      [started, told] = [started.filter(other), told.filter(other)];
      await database.query('DELETE FROM rejected_requests WHERE company_id = $1', [companyId]);
    },
  };
}
