/** The store contains all data of the relay that Temporal does not have. */

import type { Keyring } from '../contract/encryption.js';
import { auditIn } from './audit.js';
import { causesIn } from './causes.js';
import { Chains, type LostRow } from './chains.js';
import { companiesIn, pausesIn, rulesIn } from './companies.js';
import { contactsIn } from './contacts.js';
import { adminTokensIn, keysIn, tokensIn } from './credentials.js';
import type { Database } from './database.js';
import { doorsIn } from './doors.js';
import { encryptionIn } from './encryption.js';
import { Events } from './events.js';
import { healthIn } from './health.js';
import { leasesIn } from './leases.js';
import { noticesIn } from './notices.js';
import { peopleIn } from './people.js';
import { Pepper, pepperHashes } from './pepper.js';
import { quietIn, Uptime } from './quiet.js';
import { rejectedRequestsIn } from './rejected.js';
import { sessionsIn } from './sessions.js';
import { Settings } from './settings.js';
import { Usage } from './usage.js';
import { versionsIn } from './versions.js';

export type Store = ReturnType<typeof createStore>;

/** Without these secrets, data is not encrypted, and hashes have no pepper. */
export type Secrets = { keyring?: Keyring; secret?: string };

/** Called when the store cannot keep the copy of an event, or the row of a chain. */
export type Losses = { lostEvent?: () => void; lostRow?: LostRow };

export function createStore(connected: Database, { keyring, secret }: Secrets = {}, { lostEvent, lostRow }: Losses = {}) {
  const opened: Database = {
    ...connected,
    keyring,
    transaction: (work) => connected.transaction((queries) => work({ ...queries, keyring })),
  };
  const pepper = new Pepper(secret);
  const settings = new Settings(opened);
  const usage = new Usage(opened);
  const events = new Events(opened, lostEvent);
  const chains = new Chains(opened, lostRow);
  /** After each transaction, this database marks the settings in memory as outdated. */
  const database: Database = { ...opened, transaction: (work) => opened.transaction(work).finally(() => settings.outdate()) };
  return {
    settings,
    companies: companiesIn(database),
    rules: { ...rulesIn(database, pepper), ...doorsIn(database) },
    versions: versionsIn(database),
    events,
    chains,
    tokens: tokensIn(database, settings, pepper),
    keys: keysIn(database, pepper),
    adminTokens: adminTokensIn(database, pepper),
    people: peopleIn(database, pepper),
    sessions: sessionsIn(opened),
    audit: auditIn(database),
    pauses: pausesIn(database),
    health: healthIn(opened),
    quiet: quietIn(opened),
    uptime: new Uptime(opened),
    rejected: rejectedRequestsIn(opened),
    causes: causesIn(opened),
    leases: leasesIn(opened),
    notices: noticesIn(opened),
    contacts: contactsIn(opened),
    encryption: encryptionIn(opened),
    /** Every process calls this function before all others. @throws PepperError */
    pepperHashes: () => pepperHashes(opened, pepper),
    usage,
    async ping() {
      await opened.query('SELECT 1');
    },
    async close() {
      settings.close();
      await usage.close();
      await events.close();
      await chains.close();
      await opened.close();
    },
  };
}
