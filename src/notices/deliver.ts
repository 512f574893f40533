/** Delivers a notice to the contacts of the rule and the company. If no contact gets the notice, delivers it to the operator. */

import { hash } from 'node:crypto';
import { ApplicationFailure, activityInfo, Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { Logger } from 'pino';
import type { Links } from '../chain/chain.js';
import { ConnectorError } from '../connectors/call.js';
import type { Connectors } from '../connectors/connectors.js';
import type { FailureDetails } from '../contract/activities.js';
import { causeOf } from '../contract/causes.js';
import type { Company } from '../contract/company.js';
import { contactMark, HoldLinks } from '../contract/hold-link.js';
import type { Joined, Notice } from '../contract/notices.js';
import { type ContactResult, noticeTestResponse } from '../contract/notify.js';
import type { Rule } from '../contract/rule.js';
import type { Metrics } from '../service/telemetry.js';
import { reasonOf } from '../service/temporal.js';
import type { NoticeBudget, Turn } from '../store/notices.js';
import type { Store } from '../store/store.js';
import { channelsOf, type NoticeChannel } from './channels.js';
import type { NoticeContext, RenderedNotice } from './frame.js';
import { joinedOf, renderNotice } from './words.js';

export interface DeliveryDeps {
  store: Pick<Store, 'companies' | 'rules' | 'causes' | 'notices' | 'contacts' | 'usage'>;
  connectors: Pick<Connectors, 'noticeMailOf' | 'httpOf'>;
  client: Client;
  /** Limits the concurrent deliveries of one company. */
  inFlight: { run<Result>(companyId: string, what: 'notices', work: () => Promise<Result>): Promise<Result> };
  noticeBudget: NoticeBudget;
  links: Links;
  /** RELAY_SECRET, which signs links. Without this secret, notices have no links for decisions. */
  secret?: string;
  /** The operator's address. If a notice reaches no contact, this address gets the notice. */
  operatorEmail?: string;
  log: Logger;
  metrics: Metrics;
}

/** A pause, or time without workers, makes a hold longer than the notice says. So a link stays valid for this additional time. */
const linkGraceMs = 24 * 3600 * 1000;

/** From this attempt on (about five minutes after the first), the operator gets the notice if no contact has got it. */
const lastAttemptAlone = 7;

/**
 * Makes one attempt to deliver a notice, within an activity.
 * @param key - the idempotency key: every attempt at this notice has the same key.
 * @throws ApplicationFailure `NoticeNotDelivered` if a contact may still get the notice later, or if nobody got the notice;
 *   `NoticeWaits` if the notice waits for a digest. A test notice causes neither error.
 */
export async function deliver(deps: DeliveryDeps, notice: Notice, key: string): Promise<ContactResult[]> {
  const { store, connectors, client, links, log } = deps;
  const { companyId, relayId = '', kind } = notice;
  const { attempt, heartbeatDetails } = activityInfo();
  const [found, rule] = await Promise.all([store.companies.get(companyId), store.rules.get(companyId, relayId)]);
  // A deleted company has no contacts, so the operator gets the notice.
  const company: Company = found ?? { companyId, name: companyId, timeZone: 'UTC' };
  if (await isSilent(deps, notice, rule)) {
    deps.metrics.notices.inc({ kind, result: 'silent' });
    log.info({ workflowId: key, kind }, 'a notice is not sent, because somebody turned off the notices about this problem');
    return [];
  }
  const { name: companyName, timeZone, noticeEdits: edits } = company;
  const { namespace } = client.options;
  // Only operators can read decrypted data in Temporal's Web UI, so the company's contacts get no link to the Web UI.
  const context = { companyName, timeZone, ruleName: rule?.name ?? relayId, links: { api: links.api }, namespace, edits };
  const own = { ...joinedOf(notice, context), causeId: toldUnder(notice, rule), noticeKey: key };
  // The budget does not apply to test notices, which have their own limit, or to notices of a deleted company.
  const isCounted = found && kind !== 'test';
  const turn: Turn = isCounted ? await store.notices.turn(companyId, own, deps.noticeBudget) : { told: 'alone' };
  if (turn.told === 'elsewhere') {
    deps.metrics.notices.inc({ kind, result: 'joined' });
    return [];
  }
  if (turn.told === 'later') throw joined(deps.noticeBudget, turn.waitMs, attempt);
  const entries: readonly Joined[] = turn.told === 'digest' ? turn.joined : [{ ...own, count: 1 }];

  const signing = new HoldLinks(found && found.noticeLinks !== false ? deps.secret : undefined);
  /** Writes the notice for a contact. The links are made only here, so that no history and no log contains the links. */
  const renderedFor = ({ contact, decides }: NoticeChannel, told: Joined[], contactId?: string) => {
    const holdLink: NoticeContext['holdLink'] = ({ companyId, chainId, index, at, heldUntil = at }) => {
      if (!decides) return undefined;
      const until = Math.ceil((Date.parse(heldUntil) + linkGraceMs) / 1000);
      const link = signing.sign({ companyId, chainId, index, at, until, contact: contactMark(contact) });
      return link && `${links.api}/hold/${link}`;
    };
    const confirmLink = contactId && `${links.api}/confirm/${contactId}`;
    const [first] = told;
    const isAlone = told.length === 1 && first?.count === 1 && first.noticeKey === key;
    const at = new Date().toISOString();
    const words = isAlone ? notice : ({ kind: 'digest', companyId, at, joined: told } as const);
    const forReader = contact === deps.operatorEmail ? { ...context, links, forOperator: true } : context;
    return renderNotice(words, { ...forReader, holdLink, confirmLink });
  };

  // Contacts that got the notice, or whose delivery failed permanently. The next attempt gets this list as heartbeat details.
  const settled: ContactResult[] = noticeTestResponse.shape.contacts.safeParse(heartbeatDetails).data ?? [];
  const open: ContactResult[] = [];
  const addressees = await addresseesOf(deps, company, entries, key);
  if (kind === 'weekly') for (const [contact, { channel }] of addressees) if (channel.kind !== 'mail') addressees.delete(contact);
  // Delivers in parallel, because one contact that does not answer can use most of the activity's time.
  const deliverTo = (some: Iterable<Addressee>) =>
    Promise.all(
      [...some].map(async ({ channel, told, contactId }) => {
        const { contact } = channel;
        if (told.length === 0) return { contact, delivered: false, error: unconfirmed };
        const failure = await tryOnce(channel, renderedFor(channel, told, contactId), key);
        // The log does not contain the address and the error message, because both are personal. The workflow's result has both.
        if (failure) {
          const facts = { channel: channel.kind, workflowId: key, kind, failure: failure.kind, status: failure.facts.status };
          log.warn(facts, 'a notice was not delivered');
        } else deps.metrics.noticeMessages.inc({ channel: channel.kind });
        // The message counts towards the company's limit of recipients, but the limit never stops a notice.
        if (!failure && found && channel.kind === 'mail' && addressees.has(contact))
          store.usage.add(companyId, { actions: 0, recipients: 1 });
        const result = { contact, delivered: !failure, error: failure?.message };
        (failure && failure.kind !== 'permanent' ? open : settled).push(result);
        Context.current().heartbeat(settled);
        return result;
      }),
    );

  const gets = (contact: string, entry: Joined) => addressees.get(contact)?.told.includes(entry) ?? true;
  const isTold = (entry: Joined) => settled.some(({ contact, delivered }) => delivered && gets(contact, entry));
  const isSettled = (to: string) => settled.some(({ contact }) => contact === to);
  const isHopeless = (entry: Joined) => attempt >= lastAttemptAlone || !open.some(({ contact }) => gets(contact, entry));
  const unsettled = [...addressees.values()].filter(({ channel }) => !isSettled(channel.contact));
  const results = await deps.inFlight.run(companyId, 'notices', () => deliverTo(unsettled));
  const untold = entries.filter((entry) => !isTold(entry));
  const nobody = kind === 'test' ? results.length === 0 : untold.some(isHopeless);
  const { operatorEmail } = deps;
  if (nobody && operatorEmail !== undefined && !isSettled(operatorEmail)) {
    const operator = channelsOf(connectors, company, { emails: [operatorEmail] }, {});
    results.push(...(await deliverTo(operator.map((channel) => ({ channel, told: untold })))));
  }
  if (kind === 'test') return results;

  const isDelivered = open.length === 0 && entries.every(isTold);
  if (isDelivered) await store.notices.delivered(companyId, key);
  deps.metrics.notices.inc({ kind, result: isDelivered ? 'delivered' : 'undelivered' });
  if (!isDelivered) {
    const why =
      open[0]?.error ??
      'no contact could be reached, and the log says why; check the contacts of the company (notify), or set RELAY_OPERATOR_EMAIL';
    const whom = entries.some(isTold) ? 'all contacts' : 'any contact';
    log.error({ workflowId: key, kind, open: open.length }, `a notice has not reached ${whom} yet`);
    const details: FailureDetails = { retryable: true, attempt };
    throw ApplicationFailure.create({ type: 'NoticeNotDelivered', message: why, details: [details] });
  }
  log.info({ workflowId: key, kind, told: settled.filter(({ delivered }) => delivered).length }, 'a notice was delivered');
  return settled;
}

interface Addressee {
  channel: NoticeChannel;
  told: Joined[];
  /** The id of a contact that has not confirmed yet. */
  contactId?: string | undefined;
}

const unconfirmed =
  'not sent, because this contact has not confirmed its address. Until then, the contact gets only the first notice of each problem, and at most ten a day';

/** Finds each contact and its notices. An unconfirmed contact gets only the first notice of each problem, at most ten a day. */
async function addresseesOf({ store, connectors }: DeliveryDeps, company: Company, entries: readonly Joined[], key: string) {
  const { companyId } = company;
  const addressees = new Map<string, Addressee>();
  const add = (whose: Pick<Company, 'notify' | 'setByCompany'> | undefined, some: readonly Joined[]) => {
    for (const channel of whose?.notify ? channelsOf(connectors, company, whose.notify, whose) : []) {
      const { told = [] } = addressees.get(channel.contact) ?? {};
      addressees.set(channel.contact, { channel, told: [...new Set([...told, ...some])] });
    }
  };
  for (const relayId of new Set(entries.map(({ relayId }) => relayId))) {
    const ofRule = entries.filter((entry) => entry.relayId === relayId);
    add(await store.rules.get(companyId, relayId), ofRule);
  }
  add(company, entries);
  for (const { contact, contactId } of await store.contacts.unconfirmed(companyId)) {
    const addressee = addressees.get(contact);
    if (!addressee) continue;
    const causes = addressee.told.map(({ causeId }) => causeId);
    const first = await store.contacts.firstOf(contactId, causes, key);
    addressees.set(contact, { ...addressee, contactId, told: addressee.told.filter(({ causeId }) => first.includes(causeId)) });
  }
  return addressees;
}

/** Returns an id for the cause of the notice. An unconfirmed contact gets only the first notice with this id. */
function toldUnder(notice: Notice, rule: Rule | undefined): string {
  const { kind, relayId } = notice;
  if (kind === 'test') return `test ${notice.at.slice(0, 'yyyy-mm-dd'.length)}`;
  if (kind === 'rejected') return `${kind} ${relayId} ${notice.reason}`;
  if (kind === 'missing-property') return `${kind} ${relayId} ${hash('sha256', notice.path).slice(0, 16)}`;
  if (kind === 'paused') return `${kind} ${relayId} ${notice.what}`;
  if (kind === 'quiet') return `${kind} ${relayId} ${notice.eventAt === undefined}`;
  if (kind === 'weekly') return kind;
  const { id } = 'cause' in notice ? notice.cause : causeOf(notice, rule);
  return kind === 'through' || kind === 'recovered' ? `${id} recovered` : id;
}

/** Delays the next attempt until a digest is due. If no digest has contained the notice by then, the attempt sends a digest. */
function joined({ notices, seconds }: NoticeBudget, waitMs: number, attempt: number): ApplicationFailure {
  const details: FailureDetails = { retryable: true, attempt };
  return ApplicationFailure.create({
    type: 'NoticeWaits',
    message: `the company has reached its limit of ${notices} notices in ${seconds} seconds: this notice will come later, together with others`,
    details: [details],
    nextRetryDelay: Math.ceil(waitMs + (Math.random() * waitMs) / 20) + 1,
    category: ApplicationFailureCategory.BENIGN, // The SDK logs a benign failure only at level debug.
  });
}

/** Whether the notice is about a hold whose cause is silenced; `false` if the store cannot be read. */
async function isSilent({ store, log }: DeliveryDeps, notice: Notice, rule: Rule | undefined): Promise<boolean> {
  const cause = notice.kind === 'many' ? notice.cause : notice.kind === 'needs-attention' ? causeOf(notice, rule) : undefined;
  if (cause?.kind !== 'needs-attention') return false;
  const { companyId, id: causeId } = cause;
  return store.causes.isSilent(companyId, causeId).catch((error: unknown) => {
    log.warn(
      { companyId, causeId },
      `the relay cannot read whether somebody turned off the notices about this problem, so it sends the notice: ${reasonOf(error)}`,
    );
    return false;
  });
}

/** @returns the error if the notice did not arrive. */
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
