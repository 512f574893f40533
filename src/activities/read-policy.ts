/** What a rule says now about failures and unknown outcomes. */

import type { Activities } from '../contract/activities.js';
import { skipReason } from './action-context.js';
import type { Deps } from './deps.js';

export function readPolicy({ store }: Deps): Activities['readPolicy'] {
  return async ({ companyId, relayId }) => {
    const rule = await store.rules.get(companyId, relayId);
    return {
      onFailure: rule?.onFailure ?? 'hold',
      onUnknown: rule?.onUnknown ?? 'hold',
      skips: rule?.enabled ? undefined : skipReason(rule, relayId),
    };
  };
}
