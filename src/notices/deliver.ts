/** Brings a notice to the rule's and the company's contacts; where none can be reached, to the operator. */

import { hash } from 'node:crypto';
import { ApplicationFailure, activityInfo, Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Links } from '../chain/chain.js';
import { ConnectorError } from '../connectors/call.js';
import type { Connectors } from '../connectors/connectors.js';
import type { FailureDetails } from '../contract/activities.js';
import { causeOf } from '../contract/causes.js';
import type { Company } from '../contract/company.js';
import { contactMark, HoldLinks } from '../contract/hold-link.js';
import type { Notice } from '../contract/notices.js';
import { type ContactResult, type Notify, noticeTestResponse } from '../contract/notify.js';
import type { Rule } from '../contract/rule.js';
import type { Metrics } from '../service/telemetry.js';
import { reasonOf } from '../service/temporal.js';
import type { Store } from '../store/store.js';
import { channelsOf, type NoticeChannel } from './channels.js';
import type { NoticeContext, RenderedNotice } from './frame.js';
import { renderNotice } from './words.js';

export interface DeliveryDeps {
  store: Pick<Store, 'companies' | 'rules' | 'causes'>;
  connectors: Pick<Connectors, 'noticeMailOf' | 'http'>;
  client: Client;
  links: Links;
  /** RELAY_SECRET, with which links are signed; absent: notices have none. */
  secret?: string;
  /** Is told when nobody else can be. */
  operatorEmail?: string;
  log: Logger;
  metrics: Metrics;
}

/** A window may last longer than the notice says: by pauses, and time without workers. The link ends with the hold all the same. */
const linkGraceMs = 24 * 3600 * 1000;

/** After about five minutes in which nobody could be reached, the operator is told as well. */
const lastAttemptAlone = 7;

/**
 * One attempt, within an activity, under the key that every attempt at this notice has.
 * @throws ApplicationFailure `NoticeNotDelivered` while somebody may still be reached, or nobody was; not for a test.
 */
export async function deliver(deps: DeliveryDeps, notice: Notice, key: string): Promise<ContactResult[]> {
  const { store, connectors, client, links, log } = deps;
  const { companyId, relayId = '', kind } = notice;
  const { attempt, heartbeatDetails } = activityInfo();
  const [found, rule] = await Promise.all([store.companies.get(companyId), store.rules.get(companyId, relayId)]);
  // A company that is gone has no contacts any more: then the operator is told.
  const company: Company = found ?? { companyId, name: companyId, timeZone: 'UTC' };
  const contacts = [rule?.notify, company.notify].filter((notify) => notify !== undefined);
  if (await isSilent(deps, notice, rule)) {
    deps.metrics.notices.inc({ kind, result: 'silent' });
    log.info({ workflowId: key, kind }, 'nobody is told: the cause of the notice is silent');
    return [];
  }
  const names = { companyName: company.name, ruleName: rule?.name ?? relayId };
  const signing = new HoldLinks(found && found.noticeLinks !== false ? deps.secret : undefined);
  /** Each contact has links of its own. They are in no history and no log: this is where they are made. */
  const renderedFor = (contact: string) => {
    const holdLink: NoticeContext['holdLink'] = ({ companyId, chainId, index, at, heldUntil = at }) => {
      const until = Math.ceil((Date.parse(heldUntil) + linkGraceMs) / 1000);
      const link = signing.sign({ companyId, chainId, index, at, until, contact: contactMark(contact) });
      return link && `${links.api}/hold/${link}`;
    };
    return renderNotice(notice, { ...names, links, namespace: client.options.namespace, holdLink });
  };

  // What an attempt leaves to the next by its heartbeat: the contacts that have the notice, and those that never will.
  const settled: ContactResult[] = noticeTestResponse.shape.contacts.safeParse(heartbeatDetails).data ?? [];
  const open: ContactResult[] = [];
  // Side by side, since one that does not answer takes a good part of the activity's time.
  const deliverTo = (notify: Notify[]) => {
    const channels = new Map(notify.flatMap((to) => channelsOf(connectors, company, to)).map((to) => [to.contact, to]));
    for (const { contact } of settled) channels.delete(contact);
    return Promise.all(
      [...channels].map(async ([contact, channel]) => {
        const failure = await tryOnce(channel, renderedFor(contact), key);
        // Who it is, and what was answered, which may quote the address, is in the result of the workflow.
        if (failure)
          log.warn(
            { channel: channel.kind, workflowId: key, kind, failure: failure.kind, status: failure.facts.status },
            'a notice was not delivered',
          );
        const result = { contact, delivered: !failure, error: failure?.message };
        (failure && failure.kind !== 'permanent' ? open : settled).push(result);
        Context.current().heartbeat(settled);
        return result;
      }),
    );
  };

  const isTold = () => settled.some(({ delivered }) => delivered);
  const results = await deliverTo(contacts);
  const nobody = kind === 'test' ? results.length === 0 : !isTold() && (open.length === 0 || attempt >= lastAttemptAlone);
  if (nobody && deps.operatorEmail !== undefined) results.push(...(await deliverTo([{ emails: [deps.operatorEmail] }])));
  if (kind === 'test') return results;

  const isDelivered = open.length === 0 && isTold();
  deps.metrics.notices.inc({ kind, result: isDelivered ? 'delivered' : 'undelivered' });
  if (!isDelivered) {
    const why =
      open[0]?.error ??
      'no contact could be reached: see the log for each, and set notify of the company or RELAY_OPERATOR_EMAIL';
    const message = isTold() ? 'a notice has not reached everybody yet' : 'a notice has reached nobody yet';
    log.error({ workflowId: key, kind, open: open.length }, message);
    const details: FailureDetails = { retryable: true, attempt };
    throw ApplicationFailure.create({ type: 'NoticeNotDelivered', message: why, details: [details] });
  }
  log.info({ workflowId: key, kind, told: settled.filter(({ delivered }) => delivered).length }, 'notice delivered');
  return settled;
}

/** Whether the notice says that something is held, and somebody has silenced the reason. What cannot be known is told. */
async function isSilent({ store, log }: DeliveryDeps, notice: Notice, rule: Rule | undefined): Promise<boolean> {
  const cause = notice.kind === 'many' ? notice.cause : notice.kind === 'needs-attention' ? causeOf(notice, rule) : undefined;
  if (cause?.kind !== 'needs-attention') return false;
  const { companyId, id: causeId } = cause;
  return store.causes.isSilent(companyId, causeId).catch((error: unknown) => {
    log.warn({ companyId, causeId }, `whether a cause is silent cannot be read, people are told: ${reasonOf(error)}`);
    return false;
  });
}

/** @returns why it did not arrive. */
async function tryOnce(channel: NoticeChannel, rendered: RenderedNotice, key: string): Promise<ConnectorError | undefined> {
  const idempotencyKey = `${hash('sha256', `${key}\n${channel.contact}`).slice(0, 40)}@relay.invalid`;
  const timeoutMs = Math.min(activityInfo().startToCloseTimeoutMs - 300, 15_000);
  try {
    await channel.deliver(rendered, { idempotencyKey, timeoutMs });
    return undefined;
  } catch (error) {
    if (error instanceof ConnectorError) return error;
    throw error;
  }
}
