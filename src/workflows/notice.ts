/** Tells the contacts of a rule about it. Its workflow id, which names the mistake and the hour or day, sees to it that this happens once. */

import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../contract/activities.js';
import type { RuleNotice } from '../notices/rule-notice.js';
import { delivery } from './notices.js';

/** @throws ActivityFailure where a day was not enough to reach everybody. */
export async function Notice(notice: RuleNotice): Promise<void> {
  const { notifyRule } = proxyActivities<Activities>({ ...delivery, summary: `notice: ${notice.kind}` });
  await notifyRule(notice);
}
