/** Brings a notice to the rule's and the company's contacts; where none can be reached, to the operator. */

import { createHash } from 'node:crypto';
import { ApplicationFailure, activityInfo, Context } from '@temporalio/activity';
import { z } from 'zod';
import { callTimeoutMs } from '../activities/action-context.js';
import type { Deps } from '../activities/deps.js';
import { ConnectorError } from '../connectors/call.js';
import type { FailureDetails } from '../contract/activities.js';
import type { Company } from '../contract/company.js';
import type { Notify } from '../contract/notify.js';
import type { Rule } from '../contract/rule.js';
import type { NoticeChannel, RenderedNotice } from './channels/channel.js';
import { channelsOf as channelsOfContact } from './channels/channels.js';

/** Who is told. */
export interface Addressees {
  company: Company;
  rule?: Rule;
}

/** A company that is gone has no contacts any more: then the operator is told. */
export async function addresseesOf({ store }: Deps, companyId: string, relayId: string): Promise<Addressees> {
  const [company, rule] = await Promise.all([store.companies.get(companyId), store.rules.get(companyId, relayId)]);
  return { company: company ?? { companyId, name: companyId, timeZone: 'UTC' }, ...(rule && { rule }) };
}

/** What an attempt leaves to the next by its heartbeat: the contacts that have the notice, and those that never will. */
const progressSchema = z.object({ settled: z.array(z.string()), reached: z.number() });

/** After about five minutes in which nobody could be reached, the operator is told as well. */
const lastAttemptAlone = 7;

/**
 * @param about.key - the same for every attempt at the same notice.
 * @throws ApplicationFailure `NoticeNotDelivered` while somebody may still be reached, or nobody was.
 */
export async function deliverNotice(
  deps: Deps,
  addressees: Addressees,
  rendered: RenderedNotice,
  { key, kind }: { key: string; kind: string },
): Promise<void> {
  const { log } = deps;
  const { workflowId } = activityInfo().workflowExecution ?? {};
  const progress = progressSchema.safeParse(activityInfo().heartbeatDetails);
  const { settled, reached } = progress.success ? progress.data : { settled: [], reached: 0 };
  let told = reached;
  const open: ConnectorError[] = [];
  // Side by side, since one that does not answer takes a good part of the activity's time.
  const deliver = async (channels: NoticeChannel[]) => {
    const left = channels.filter(({ contact }) => !settled.includes(contact));
    await Promise.all(
      left.map(async (channel) => {
        const failure = await deliverTo(channel, rendered, key);
        if (!failure) told += 1;
        else log.warn({ contact: channel.contact, workflowId, kind, error: failure.message }, 'a notice was not delivered');
        if (failure && failure.kind !== 'permanent') open.push(failure);
        else settled.push(channel.contact);
        Context.current().heartbeat({ settled, reached: told });
      }),
    );
  };

  const { company } = addressees;
  await deliver(channelsOf(deps, company, contactsOf(addressees)));
  const nobody = told === 0 && (open.length === 0 || activityInfo().attempt >= lastAttemptAlone);
  if (nobody && deps.operatorEmail !== undefined) await deliver(channelsOf(deps, company, [{ emails: [deps.operatorEmail] }]));
  deps.metrics.notice(kind, open[0] || told === 0 ? 'undelivered' : 'delivered');
  if (open[0] || told === 0) {
    const why =
      open[0]?.message ??
      'no contact could be reached: see the log for each, and set notify of the company or RELAY_OPERATOR_EMAIL';
    log.error(
      { workflowId, kind, why },
      told === 0 ? 'a notice has reached nobody yet' : 'a notice has not reached everybody yet',
    );
    const details: FailureDetails = { retryable: true, attempt: activityInfo().attempt };
    throw ApplicationFailure.create({ type: 'NoticeNotDelivered', message: why, details: [details] });
  }
  log.info({ workflowId, kind, told }, 'notice delivered');
}

/** One try. @param key - the same for every attempt at the same notice. @returns why it did not arrive. */
export async function deliverTo(
  channel: NoticeChannel,
  rendered: RenderedNotice,
  key: string,
): Promise<ConnectorError | undefined> {
  const id = noticeId(key, channel.contact);
  try {
    await channel.deliver(rendered, id, { idempotencyKey: id, timeoutMs: Math.min(callTimeoutMs(), 15_000) });
    return undefined;
  } catch (error) {
    if (error instanceof ConnectorError) return error;
    throw error;
  }
}

/** The rule's own, then the company's. */
export function contactsOf({ company, rule }: Addressees): Notify[] {
  return [rule?.notify, company.notify].filter((notify) => notify !== undefined);
}

/** The channels to all contacts, each once. */
export function channelsOf({ connectors }: Deps, company: Company, contacts: Notify[]): NoticeChannel[] {
  const channels = contacts.flatMap((contact) => channelsOfContact(connectors, company, contact));
  return [...new Map(channels.map((channel) => [channel.contact, channel])).values()];
}

/** The same for every attempt at the same notice to the same contact. */
function noticeId(key: string, contact: string): string {
  return `${createHash('sha256').update(`${key}\n${contact}`).digest('hex').slice(0, 40)}@relay.invalid`;
}
