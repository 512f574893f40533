/** Leases for vendors that limit how many calls run at the same time and in an hour. A lease of a lost worker ends by itself. */

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Queries, read } from './database.js';

/** `account`: the account that has these limits. `ms`: the maximum duration of a lease. */
export interface LeaseLimits {
  account: string;
  threads: number;
  callsPerHour: number;
  callsPerLease?: number;
  ms: number;
}

const makeSlots =
  'INSERT INTO leases (account, slot) SELECT $1, generate_series(1, $2::int) ON CONFLICT DO NOTHING RETURNING slot';
/** A lease with an impossibly late end counts as free, because the lease was taken while the clock of the database was wrong. */
const takeSlot = `UPDATE leases SET holder = $2, until = now() + $3::int * interval '1 ms', hour = date_trunc('hour', now()),
    used = CASE WHEN hour = date_trunc('hour', now()) THEN used ELSE 0 END + $4::int
  WHERE (account, slot) = (
    SELECT account, slot FROM leases
    WHERE account = $1 AND slot <= $5::int AND (until < now() OR until > now() + 2 * $3::int * interval '1 ms')
      AND (hour <> date_trunc('hour', now()) OR used + $4::int <= $6::int)
    ORDER BY slot LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING slot`;
const freeSlot = "UPDATE leases SET until = '-infinity' WHERE account = $1 AND slot = $2 AND holder = $3";

export function leasesIn(database: Queries) {
  return {
    /** @returns undefined if all slots are taken, or the hour's calls are used up */
    async take(limits: LeaseLimits): Promise<{ release(): Promise<unknown> } | undefined> {
      const { account, threads, callsPerHour, callsPerLease = 6, ms } = limits;
      const holder = randomUUID();
      const each = Math.floor(callsPerHour / threads); // every slot has its share of the hour's calls
      const wanted = [account, holder, ms, callsPerLease, threads, each];
      const take = async () => (await read(database, z.object({ slot: z.int() }), takeSlot, wanted))[0];
      let row = await take();
      if (!row && (await database.query(makeSlots, [account, threads])).length > 0) row = await take();
      if (!row) return undefined;
      const held = [account, row.slot, holder];
      const release = () => database.query(freeSlot, held).catch(() => {}); // If the query fails, the lease ends by itself.
      return { release };
    },
  };
}
