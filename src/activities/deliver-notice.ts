/** Brings a notice to everybody whom it concerns, under the key of its workflow. */

import { activityInfo } from '@temporalio/activity';
import type { Activities } from '../contract/activities.js';
import { deliver } from '../notices/deliver.js';
import type { Deps } from './deps.js';

export function deliverNotice(deps: Deps): Activities['deliverNotice'] {
  return async (notice) => deliver(deps, notice, activityInfo().workflowExecution?.workflowId ?? '');
}
