/** Sends an assignment to groups of workers. */

import type { Activities } from '../contract/activities.js';
import { effectCall, readActionContext } from './action-context.js';
import type { Deps } from './deps.js';
import { effectFailure } from './failure.js';
import { effectResult } from './result.js';

export function sendAssignment(deps: Deps): Activities['sendAssignment'] {
  return async (input) => {
    const setting = await readActionContext(deps, input, 'platform');
    if ('skipped' in setting) return effectResult(setting);
    const { assignmentId = '', groupIds = [], radiusMiles } = input.action;
    try {
      const platform = deps.connectors.platformOf(setting.company);
      return effectResult(
        await platform.sendAssignment(
          assignmentId,
          { groupIds, ...(radiusMiles !== undefined && { radiusMiles }) },
          effectCall(input),
        ),
      );
    } catch (error) {
      throw effectFailure('PlatformError', error, input, { once: setting.rule.onUnknown === 'hold' });
    }
  };
}
