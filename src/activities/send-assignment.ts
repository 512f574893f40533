import { unableToSend } from '../chain/kinds.js';
import type { Activities } from '../contract/activities.js';
import { type Deps, effectActivity } from './effect.js';
import { mistake } from './failure.js';
import { filled } from './late.js';

export function sendAssignment(deps: Deps): Activities['sendAssignment'] {
  return effectActivity(deps, 'platform', deps.connectors.platformOf, async (platform, input, company, call) => {
    const action = filled(input.action, input.values);
    const { assignmentId = '', groupIds = [], radiusMiles } = action;
    const unable = unableToSend(company.platform, action);
    if (unable !== undefined) throw mistake('DataMistake', unable);
    const sent = await platform.sendAssignment(assignmentId, { groupIds, radiusMiles }, call);
    if (sent?.recipients !== undefined) deps.store.chains.sent(input, assignmentId, sent.recipients === 0);
    return sent;
  });
}
