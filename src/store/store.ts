/** What the relay remembers outside Temporal, and the questions that the rest of the code may ask of it. */

import type { MailSettings, Notify, PlatformSettings, TicketingSettings } from '../connectors/settings.js';
import { Audit } from './audit.js';
import { Companies } from './companies.js';
import type { Database } from './database.js';
import { Keys } from './keys.js';
import { Pauses } from './pauses.js';
import { RejectedRequests } from './rejected.js';
import { Rules } from './rules.js';
import { Tokens } from './tokens.js';

export interface Company {
  companyId: string;
  name: string;
  /** An IANA name or `±hh:mm`. */
  timeZone: string;
  notify?: Notify;
  platform?: PlatformSettings;
  ticketing?: TicketingSettings;
  mail?: MailSettings;
  /** `whsec_…`: its webhooks are signed as Standard Webhooks says, and nothing unsigned is taken. */
  webhookSecret?: string;
}

/** What happens to the rest of a sequence when an action of this rule cannot be done. */
export type OnFailure = 'hold' | 'continue';
/** What happens when nobody can say whether an effect took place. */
export type OnUnknown = 'resend' | 'hold';

export interface Rule {
  companyId: string;
  relayId: string;
  name: string;
  enabled: boolean;
  onFailure: OnFailure;
  onUnknown: OnUnknown;
  notify?: Notify;
}

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
