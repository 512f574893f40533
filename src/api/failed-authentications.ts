/** Counts failed authentications by reason, and logs the first failures of each address in a minute. */

import type { MiddlewareHandler } from 'hono';
import { companyIdPattern, relayIdPattern } from '../chain/chain.js';
import { loggableId } from '../contract/credential.js';
import { Problem, type Refusal } from '../contract/problem.js';
import { addressGroup, clientAddress } from '../service/client-address.js';
import type { Log, Metrics } from '../service/telemetry.js';

const mostLines = 5; // the maximum number of log lines a minute for one address
/** The maximum number of addresses a minute with their own log lines. All other addresses together count as one address. */
const mostAddresses = 1000;

type Options = { log: Log; metrics: Pick<Metrics, 'failedAuthentications'> };

export function reportFailures({ log, metrics }: Options): MiddlewareHandler {
  const addresses = new Map<string, { lines: number; leftOut: number }>();
  let minute = 0;
  return async (c, next) => {
    await next();
    if (c.res.status !== 401) return;
    const { error } = c;
    const { reason, relayId }: Refusal =
      error instanceof Problem && error.more.refusal ? error.more.refusal : { reason: 'wrong credential' };
    metrics.failedAuthentications.inc({ reason });

    const now = Math.floor(Date.now() / 60_000);
    if (now !== minute) {
      for (const [address, { leftOut }] of addresses)
        if (leftOut > 0) log.warn({ address, leftOut }, 'further authentications failed in the last minute');
      addresses.clear();
      minute = now;
    }
    const group = addressGroup(clientAddress(c));
    const address = addresses.has(group) || addresses.size < mostAddresses ? group : 'further addresses';
    const counted = addresses.get(address) ?? { lines: 0, leftOut: 0 };
    addresses.set(address, counted);
    if (counted.lines === mostLines) {
      counted.leftOut += 1;
      return;
    }
    counted.lines += 1;
    const companyId = loggableId(/^\/(?:co|admin\/companies)\/([^/]+)/.exec(c.req.path)?.[1]);
    log.warn(
      {
        address: group,
        reason,
        // A stranger could send any text as an id, even a token.
        ...(companyId !== undefined && companyIdPattern.test(companyId) && { companyId }),
        ...(relayId !== undefined && relayIdPattern.test(relayId) && { relayId }),
      },
      'an authentication failed',
    );
  };
}
