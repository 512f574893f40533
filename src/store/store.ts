/** What the relay remembers outside Temporal. */

import { Audit } from './audit.js';
import { Companies, Pauses, Rules } from './companies.js';
import { Keys, Tokens } from './credentials.js';
import type { Database } from './database.js';
import { RejectedRequests } from './rejected.js';
import { Settings } from './settings.js';

export type Store = ReturnType<typeof createStore>;

/** The store in an open database: see openPostgres, and openEmbedded for the sandbox. */
export function createStore(opened: Database) {
  const settings = new Settings(opened);
  /** Its transactions change settings. */
  const database: Database = {
    ...opened,
    transaction: (work) => opened.transaction(work).finally(() => settings.outdate()),
  };
  return {
    settings,
    companies: new Companies(database),
    rules: new Rules(database),
    tokens: new Tokens(database, settings),
    keys: new Keys(database),
    audit: new Audit(database),
    pauses: new Pauses(database),
    rejected: new RejectedRequests(opened),
    /** Rejects where the database cannot be reached. */
    async ping() {
      await database.query('SELECT 1');
    },
    async close() {
      settings.close();
      await database.close();
    },
  };
}
