import { unableToSend } from '../chain/kinds.js';
import type { Activities } from '../contract/activities.js';
import { type Deps, effectActivity } from './effect.js';
import { mistake } from './failure.js';
import { filled } from './late.js';

export function sendAssignment(deps: Deps): Activities['sendAssignment'] {
  return effectActivity(deps, 'platform', deps.connectors.platformOf, (platform, input, company, call) => {
    const action = filled(input.action, input.values);
    const { assignmentId = '', groupIds = [], radiusMiles } = action;
    const unable = unableToSend(company.platform, action);
    if (unable !== undefined) throw mistake('DataMistake', unable);
    return platform.sendAssignment(assignmentId, { groupIds, radiusMiles }, call);
  });
}
