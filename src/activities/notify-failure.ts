/** The compensation activity: tells the rule's and the company's contacts; where none can be reached, the operator. */

import { createHash } from 'node:crypto';
import { ApplicationFailure, activityInfo, Context } from '@temporalio/activity';
import { z } from 'zod';
import { chainWorkflowId } from '../chain/chain.js';
import { type Notice, renderNotice } from '../chain/notice.js';
import { workflowLink } from '../config.js';
import { ConnectorError } from '../connectors/call.js';
import type { NoticeChannel } from '../connectors/notice/notice.js';
import type { Notify } from '../connectors/settings.js';
import type { Company } from '../store/store.js';
import type { Activities } from './activities.js';
import type { Deps } from './deps.js';
import type { TroubleDetails } from './failure.js';
import { callTimeout } from './setting.js';

/** What an attempt leaves to the next by its heartbeat: the contacts that have the notice, and those that never will. */
const progressSchema = z.object({ settled: z.array(z.string()), reached: z.number() });

export function notifyFailure(deps: Deps): Activities['notifyFailure'] {
  return async (notice) => {
    const { store, links, log } = deps;
    const relayId = notice.actions.find(({ index }) => index === notice.index)?.relayId ?? '';
    const [stored, rule] = await Promise.all([store.companies.get(notice.companyId), store.rules.get(notice.companyId, relayId)]);
    const company: Company = stored ?? { companyId: notice.companyId, name: notice.companyId, timeZone: 'UTC' };
    const workflowId = chainWorkflowId(notice);
    const webUi = workflowLink(links, workflowId);
    const rendered = renderNotice(notice, {
      companyName: company.name,
      ruleName: rule?.name ?? relayId,
      chainUrl: `${links.api}/co/${notice.companyId}/chains/${notice.chainId}`,
      namespace: deps.client.options.namespace,
      ...(webUi !== undefined && { webUi }),
    });

    const progress = progressSchema.safeParse(activityInfo().heartbeatDetails);
    const { settled, reached } = progress.success ? progress.data : { settled: [], reached: 0 };
    let told = reached;
    const open: ConnectorError[] = [];
    const deliver = async (channels: NoticeChannel[]) => {
      for (const channel of channels.filter(({ contact }) => !settled.includes(contact))) {
        const failure = await deliverTo(channel);
        if (!failure) told += 1;
        else
          log.warn(
            { contact: channel.contact, workflowId, kind: notice.kind, error: failure.message },
            'a notice was not delivered',
          );
        if (failure && failure.kind !== 'permanent') open.push(failure);
        else settled.push(channel.contact);
        Context.current().heartbeat({ settled, reached: told });
      }
    };
    const deliverTo = async (channel: NoticeChannel): Promise<ConnectorError | undefined> => {
      const id = noticeId(notice, workflowId, channel.contact);
      try {
        await channel.deliver(rendered, id, { idempotencyKey: id, timeoutMs: Math.min(callTimeout(), 15_000) });
        return undefined;
      } catch (error) {
        if (error instanceof ConnectorError) return error;
        throw error;
      }
    };

    const contacts = [...(rule?.notify ? [rule.notify] : []), ...(company.notify ? [company.notify] : [])];
    await deliver(channelsOf(deps, company, contacts));
    if (told === 0 && open.length === 0 && deps.operatorEmail !== undefined)
      await deliver(channelsOf(deps, company, [{ emails: [deps.operatorEmail] }]));
    if (open[0] || told === 0) {
      const why =
        open[0]?.message ??
        'no contact could be reached: see the log for each, and set notify of the company or RELAY_OPERATOR_EMAIL';
      log.error(
        { workflowId, kind: notice.kind, why },
        told === 0 ? 'a notice has reached nobody yet' : 'a notice has not reached everybody yet',
      );
      const details: TroubleDetails = { retryable: true, attempt: activityInfo().attempt };
      throw ApplicationFailure.create({ type: 'NoticeNotDelivered', message: why, details: [details] });
    }
    log.info({ workflowId, kind: notice.kind, index: notice.index, told }, 'notice delivered');
  };
}

/** The channels to all contacts, each once. */
function channelsOf({ connectors }: Deps, company: Company, contacts: Notify[]): NoticeChannel[] {
  const channels = contacts.flatMap((contact) => connectors.noticeChannelsOf(company, contact));
  return [...new Map(channels.map((channel) => [channel.contact, channel])).values()];
}

/** The same for every attempt at the same notice to the same contact. */
function noticeId({ kind, index, at }: Notice, workflowId: string, contact: string): string {
  return `${createHash('sha256').update([workflowId, index, kind, at, contact].join('\n')).digest('hex').slice(0, 40)}@relay.invalid`;
}
