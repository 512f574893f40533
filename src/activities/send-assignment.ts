/** Sends an assignment to groups of workers. */

import type { Activities } from './activities.js';
import type { Deps } from './deps.js';
import { effectFailure } from './failure.js';
import { effectResult } from './result.js';
import { effectCall, readSetting } from './setting.js';

export function sendAssignment(deps: Deps): Activities['sendAssignment'] {
  return async (input) => {
    const setting = await readSetting(deps, input, 'platform');
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
