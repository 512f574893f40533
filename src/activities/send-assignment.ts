import type { Activities } from '../contract/activities.js';
import { type Deps, effectActivity } from './effect.js';

export function sendAssignment(deps: Deps): Activities['sendAssignment'] {
  return effectActivity(deps, 'platform', ({ action }, company, call) => {
    const { assignmentId = '', groupIds = [], radiusMiles } = action;
    return deps.connectors.platformOf(company).sendAssignment(assignmentId, { groupIds, radiusMiles }, call);
  });
}
