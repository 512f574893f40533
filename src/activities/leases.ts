/** Companies with the same account share the vendor's limits. So for each effect, a worker takes a lease of the account. */

import { hash } from 'node:crypto';
import { type Connector, pausableWords } from '../chain/pause.js';
import type { Bounds } from '../connectors/call.js';
import type { Log } from '../service/telemetry.js';
import type { Store } from '../store/store.js';
import { notTried } from './failure.js';
import { inTime } from './in-time.js';

/** The maximum time of a lease, which is longer than an activity. After this time, the lease of a lost worker ends. */
const leaseMs = 40_000;

/** @throws ApplicationFailure `NotTried` if no lease is free, or if the database does not answer */
export async function leased<Result>(
  { store, log }: { store: Pick<Store, 'leases'>; log: Log },
  companyId: string,
  connector: Connector,
  { limits }: Bounds,
  run: () => Promise<Result>,
): Promise<Result> {
  if (!limits) return run();
  const account = hash('sha256', limits.account); // `limits.account` contains credentials, so only its hash is stored
  const taken = inTime(store.leases.take({ ...limits, account, ms: leaseMs }), 5_000);
  const lease = await taken.catch((error: unknown) => {
    log.warn({ err: error, companyId, connector }, 'an effect waits: its lease cannot be taken');
    throw notTried('NotTried', "the relay's own database does not answer (for the operator: `relay health`)");
  });
  if (!lease)
    throw notTried('NotTried', `${pausableWords[connector]} takes no more requests now: the limit of the account is reached`);
  return run().finally(() => inTime(lease.release(), 1_000).catch(() => {})); // If this fails, the lease ends by itself.
}
