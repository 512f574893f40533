/** The keys that encrypt the store's rows, and the rotation to the current key. */

import type { Actor } from '../contract/audit.js';
import type { EncryptionStatus } from '../contract/encryption.js';
import { events as audit, recordEvent } from './audit.js';
import { causes } from './causes.js';
import { chains } from './chains.js';
import { companies, pauses, rules } from './companies.js';
import { unconfirmed } from './contacts.js';
import { type Database, exists } from './database.js';
import { doors } from './doors.js';
import { storedEvents } from './events.js';
import { notices } from './notices.js';
import { people } from './people.js';
import { whole } from './rejected.js';
import { serviceKeys } from './service-keys.js';
import { drafts, versions } from './versions.js';

/** All tables with encrypted fields. The rotation begins with the most urgent tables. */
const settings = [companies, rules, doors, versions];
const others = [serviceKeys, pauses, people, whole, causes, unconfirmed, notices, drafts, storedEvents, chains, audit];
const tables = [...settings, ...others];

export const encryptionIn = (database: Database) => {
  const { ids = [], currentId } = database.keyring ?? {};
  const status = async (): Promise<EncryptionStatus> => {
    const counted = await Promise.all(tables.map((table) => table.countByKey(database)));
    const rows = counted.flatMap((counts, place) =>
      Array.from(counts, ([keyId, rows]) => ({ table: tables[place]?.name ?? '', ...(keyId !== '' && { keyId }), rows })),
    );
    const left = rows.filter(({ keyId }) => keyId !== currentId).reduce((sum, { rows }) => sum + rows, 0);
    return { keys: [...ids], rows, left };
  };
  return {
    status,

    /** Whether some settings are still unencrypted. Faster than `status`, which counts all rows. */
    hasPlainSettings: async () => {
      for (const { name } of settings)
        if (await exists(database, `${name} WHERE encryption_key IS NULL LIMIT 1`, [])) return true;
      return false;
    },

    /** Encrypts at most `most` rows with the current key. @returns their number, the unreadable rows and the status. */
    async rotate(most: number, actor: Actor) {
      const { keyring } = database;
      let rotated = 0;
      const unreadable: string[] = [];
      for (const table of tables) {
        if (!keyring || rotated + unreadable.length >= most) break;
        const done = await database.transaction((queries) =>
          table.encryptAgain(queries, keyring, most - rotated - unreadable.length),
        );
        rotated += done.rows;
        unreadable.push(...done.unreadable);
      }
      const after = await status();
      if (rotated > 0 && after.left === 0)
        await recordEvent(database, { actor, action: 'encryption.rotate', details: { keyId: currentId } });
      return { ...after, rotated, unreadable };
    },
  };
};
