/** What the relay remembers outside Temporal. */

import { auditIn } from './audit.js';
import { companiesIn, pausesIn, rulesIn } from './companies.js';
import { keysIn, tokensIn } from './credentials.js';
import type { Database } from './database.js';
import { rejectedRequestsIn } from './rejected.js';
import { Settings } from './settings.js';

export type Store = ReturnType<typeof createStore>;

export function createStore(opened: Database) {
  const settings = new Settings(opened);
  /** Its transactions change settings. */
  const database: Database = {
    ...opened,
    transaction: (work) => opened.transaction(work).finally(() => settings.outdate()),
  };
  return {
    settings,
    companies: companiesIn(database),
    rules: rulesIn(database),
    tokens: tokensIn(database, settings),
    keys: keysIn(database),
    audit: auditIn(database),
    pauses: pausesIn(database),
    rejected: rejectedRequestsIn(opened),
    async ping() {
      await opened.query('SELECT 1');
    },
    async close() {
      settings.close();
      await opened.close();
    },
  };
}
