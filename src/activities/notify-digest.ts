/** Tells the contacts about many actions that failed for the same reason. */

import { activityInfo } from '@temporalio/activity';
import { chainWorkflowId } from '../chain/chain.js';
import { renderDigestNotice } from '../chain/digest-notice.js';
import { workflowLink } from '../config.js';
import type { Activities } from './activities.js';
import { addresseesOf, deliverNotice } from './deliver-notice.js';
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
