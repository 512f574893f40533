/** Sends a test notice to every contact, once, and says what became of each. */

import { activityInfo } from '@temporalio/activity';
import type { Activities } from '../contract/activities.js';
import type { NoticeChannel } from '../notices/channels/channel.js';
import { addresseesOf, channelsOf, contactsOf, deliverTo } from '../notices/deliver.js';
import { type ContactResult, renderTestNotice } from '../notices/test-notice.js';
import type { Deps } from './deps.js';

export function testNotice(deps: Deps): Activities['testNotice'] {
  return async (notice) => {
    const addressees = await addresseesOf(deps, notice.companyId, notice.relayId ?? '');
    const { company } = addressees;
    const rendered = renderTestNotice(notice, company.name);
    const key = activityInfo().workflowExecution?.workflowId ?? '';
    const sendTo = async (channel: NoticeChannel): Promise<ContactResult> => {
      const failure = await deliverTo(channel, rendered, key);
      return { contact: channel.contact, delivered: !failure, ...(failure && { error: failure.message }) };
    };
    const contacts = contactsOf(addressees);
    const operator = deps.operatorEmail === undefined ? [] : [{ emails: [deps.operatorEmail] }];
    const channels = channelsOf(deps, company, contacts);
    return Promise.all((channels.length > 0 ? channels : channelsOf(deps, company, operator)).map(sendTo));
  };
}
