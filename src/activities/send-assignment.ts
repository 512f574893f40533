import { unableToSend } from '../chain/kinds.js';
import type { Activities } from '../contract/activities.js';
import { type Deps, effectActivity } from './effect.js';
import { mistake } from './failure.js';

export function sendAssignment(deps: Deps): Activities['sendAssignment'] {
  return effectActivity(deps, 'platform', deps.connectors.platformOf, (platform, { action }, company, call) => {
    const { assignmentId = '', groupIds = [], radiusMiles } = action;
    const unable = unableToSend(company.platform, action);
    if (unable !== undefined) throw mistake('DataMistake', unable);
    return platform.sendAssignment(assignmentId, { groupIds, radiusMiles }, call);
  });
}
