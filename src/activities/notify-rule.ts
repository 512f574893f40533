/** Tells the rule's and the company's contacts about the rule itself: a refused request, a condition that asks for what is not there. */

import { activityInfo } from '@temporalio/activity';
import type { Activities } from '../contract/activities.js';
import { addresseesOf, deliverNotice } from '../notices/deliver.js';
import { renderRuleNotice } from '../notices/rule-notice.js';
import type { Deps } from './deps.js';

export function notifyRule(deps: Deps): Activities['notifyRule'] {
  return async (notice) => {
    const addressees = await addresseesOf(deps, notice.companyId, notice.relayId);
    const rendered = renderRuleNotice(notice, {
      companyName: addressees.company.name,
      ruleName: addressees.rule?.name ?? notice.relayId,
      apiUrl: deps.links.api,
    });
    const key = activityInfo().workflowExecution?.workflowId ?? '';
    await deliverNotice(deps, addressees, rendered, { key, kind: notice.kind });
  };
}
