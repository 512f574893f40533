/** What the relay remembers outside Temporal, and the questions that the rest of the code may ask of it. */

import { Audit } from './audit.js';
import { Companies } from './companies.js';
import type { Database } from './database.js';
import { Keys } from './keys.js';
import { Pauses } from './pauses.js';
import { RejectedRequests } from './rejected.js';
import { Rules } from './rules.js';
import { Tokens } from './tokens.js';

export interface Store {
  companies: Companies;
  rules: Rules;
  tokens: Tokens;
  keys: Keys;
  audit: Audit;
  pauses: Pauses;
  rejected: RejectedRequests;
  /** Rejects where the database cannot be reached. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The store in an open database: see openPostgres, and openEmbedded for the sandbox. */
export function createStore(database: Database): Store {
  return {
    companies: new Companies(database),
    rules: new Rules(database),
    tokens: new Tokens(database),
    keys: new Keys(database),
    audit: new Audit(database),
    pauses: new Pauses(database),
    rejected: new RejectedRequests(database),
    async ping() {
      await database.query('SELECT 1');
    },
    close: () => database.close(),
  };
}
