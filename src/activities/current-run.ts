/** Tells a workflow which run of it this is: a new one after each reset. */

import { activityInfo } from '@temporalio/activity';
import type { Activities } from './activities.js';

export const currentRun: Activities['currentRun'] = async () => activityInfo().workflowExecution?.runId ?? '';
