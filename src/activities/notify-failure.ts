/** The compensation activity: tells the rule's and the company's contacts what became of an action. */

import { activityInfo } from '@temporalio/activity';
import { chainWorkflowId } from '../chain/chain.js';
import type { Activities } from '../contract/activities.js';
import { renderNotice } from '../notices/chain-notice.js';
import { addresseesOf, deliverNotice } from '../notices/deliver.js';
import { workflowLink } from '../service/config.js';
import type { Deps } from './deps.js';
import { tellsOfRecovery } from './join-digest.js';

export function notifyFailure(deps: Deps): Activities['notifyFailure'] {
  return async (notice) => {
    const { companyId, kind, index, at } = notice;
    if (notice.digest !== undefined && (await tellsOfRecovery(deps, notice.digest))) return;
    const relayId = notice.actions.find((action) => action.index === index)?.relayId ?? '';
    const addressees = await addresseesOf(deps, companyId, relayId);
    const workflowId = chainWorkflowId(notice);
    const webUi = workflowLink(deps.links, workflowId, activityInfo().workflowExecution?.runId);
    const rendered = renderNotice(notice, {
      companyName: addressees.company.name,
      ruleName: addressees.rule?.name ?? relayId,
      apiUrl: deps.links.api,
      namespace: deps.client.options.namespace,
      ...(webUi !== undefined && { webUi }),
    });
    await deliverNotice(deps, addressees, rendered, { key: [workflowId, index, kind, at].join('\n'), kind });
  };
}
