/** The doors of rules: who may send events, how repeated events are found, and how long events are kept. */

import { z } from 'zod';
import type { Actor } from '../contract/audit.js';
import { doorSchema, type EventDoor } from '../contract/rule-event.js';
import { changedFields, recordChange } from './audit.js';
import { type Database, exists, Table } from './database.js';
import { purgeEvents } from './events.js';

export const doors = new Table('rule_doors', z.object({ relayId: z.string(), door: doorSchema }), 'relayId');
/** The door of a rule that has no settings for its door. */
export const usualDoor: EventDoor = doorSchema.parse({});

const named = 'company_id = $1 AND relay_id = $2';

export const doorsIn = (database: Database) => ({
  /** @returns undefined if there is no such rule. */
  getDoor: async (companyId: string, relayId: string): Promise<EventDoor | undefined> => {
    const stored = await doors.find(database, named, [companyId, relayId]);
    if (stored) return stored.door;
    return (await exists(database, `rules WHERE ${named}`, [companyId, relayId])) ? usualDoor : undefined;
  },

  /** `change` gets the stored door. If `change` throws, nothing changes. @returns undefined if there is no such rule. */
  setDoor: (companyId: string, relayId: string, change: (stored: EventDoor) => EventDoor, actor: Actor) =>
    database.transaction(async (queries): Promise<EventDoor | undefined> => {
      if (!(await exists(queries, `rules WHERE ${named} FOR UPDATE`, [companyId, relayId]))) return undefined;
      const stored = await doors.find(queries, named, [companyId, relayId]);
      const before = stored?.door ?? usualDoor;
      const row = { companyId, relayId, door: change(before) };
      if (stored) await doors.update(queries, row, { companyId, relayId });
      else await doors.insert(queries, row);
      if (row.door.eventDays < before.eventDays) await purgeEvents(queries, companyId, relayId);
      const details = { relayId, changed: changedFields(before, row.door) };
      await recordChange(queries, { actor, action: 'rule.door', companyId, details });
      return row.door;
    }),
});
