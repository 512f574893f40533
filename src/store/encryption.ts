/** Which keys the rows of the store are encrypted with, and how they come to the present one. */

import type { Actor } from '../contract/audit.js';
import type { EncryptionStatus } from '../contract/encryption.js';
import { events, recordEvent } from './audit.js';
import { causes } from './causes.js';
import { companies, pauses, rules } from './companies.js';
import type { Database } from './database.js';
import { whole } from './rejected.js';

/** All that hold something to be encrypted; what is most urgent first. */
const tables = [companies, rules, pauses, whole, causes, events];

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

    /** Encrypts at most so many rows with the present key. @returns how many; why others cannot be; and what is left. */
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
