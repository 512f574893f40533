/** Tells the contacts about many actions that failed for the same reason. */

import { activityInfo } from '@temporalio/activity';
import { chainWorkflowId } from '../chain/chain.js';
import type { Activities } from '../contract/activities.js';
import { addresseesOf, deliverNotice } from '../notices/deliver.js';
import { renderDigestNotice } from '../notices/digest-notice.js';
import { workflowLink } from '../service/config.js';
import type { Deps } from './deps.js';

export function notifyDigest(deps: Deps): Activities['notifyDigest'] {
  return async (notice) => {
    const { companyId, relayId } = notice.digest;
    const addressees = await addresseesOf(deps, companyId, relayId);
    const rendered = renderDigestNotice(notice, {
      companyName: addressees.company.name,
      apiUrl: deps.links.api,
      webUi: (chain, runId) => workflowLink(deps.links, chainWorkflowId(chain), runId),
    });
    const { workflowId } = activityInfo().workflowExecution ?? {};
    await deliverNotice(deps, addressees, rendered, { key: [workflowId, notice.kind, notice.at].join('\n'), kind: notice.kind });
  };
}
