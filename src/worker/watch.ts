import { type WatchDeps, watch } from '../notices/quiet.js';
import type { Store } from '../store/store.js';

/** No worker releases this lease, so only one worker checks in each minute. It ends by itself, even if its worker is lost. */
const lease = { account: 'quiet rules', threads: 1, callsPerHour: 1000, callsPerLease: 1, ms: 55_000 };
const tryEveryMs = 15_000;

/** Checks rules and digests once a minute. @returns a function that stops the checks */
export function keepWatching(deps: WatchDeps & { store: Pick<Store, 'leases'> }): () => Promise<void> {
  let checking: Promise<void> | undefined;
  const check = async () => {
    if (await deps.store.leases.take(lease)) await watch(deps);
  };
  const timer = setInterval(() => {
    checking ??= check()
      .catch((err: unknown) => deps.log.warn({ err }, 'quiet rules could not be checked'))
      .finally(() => (checking = undefined));
  }, tryEveryMs);
  return async () => {
    clearInterval(timer);
    await checking;
  };
}
