/**
 * What a company may use: actions and e-mail recipients a day, chains open at once. Refused at the POST, and at a
 * mend for what it adds; what is accepted runs.
 */

import type { Client } from '@temporalio/client';
import { isOfDomains } from '../chain/address.js';
import { type ChainAction, recipientsOf } from '../chain/chain.js';
import { type CompanyLimits, domainsRule } from '../contract/company.js';
import { Rejection, type RejectionReason } from '../contract/problem.js';
import { type Config, readConfig } from '../service/config.js';
import { Shares } from '../service/shares.js';
import type { Log, Metrics } from '../service/telemetry.js';
import type { Store } from '../store/store.js';
import { visibilityQuery } from '../temporal/list.js';
import type { AdmitRecipients } from '../temporal/mend.js';
import type { StartedChain } from '../temporal/start.js';

/** What the environment says; a company's own `limits` go before it. */
export function quotasOf(config: Config): Required<CompanyLimits> {
  const { RELAY_ACTIONS_PER_DAY: actionsPerDay, RELAY_RECIPIENTS_PER_DAY: recipientsPerDay } = config;
  return { actionsPerDay, recipientsPerDay, openChains: config.RELAY_OPEN_CHAINS };
}

/** How often the open chains of a company are counted at most. */
const countEveryMs = 10_000;
const countTimeoutMs = 10_000;
/** How often it is logged that they cannot be counted. */
const saidEveryMs = 60_000;

interface OpenChains {
  /** When they were counted last; undefined: never yet. */
  counted?: number;
  /** Accepted since then. */
  since: number;
  askedAt: number;
}

interface QuotaOptions {
  store: { settings: Pick<Store['settings'], 'of'>; usage: Pick<Store['usage'], 'of' | 'add'> };
  client: Pick<Client, 'withDeadline'> & { workflow: Pick<Client['workflow'], 'count'> };
  quotas?: Required<CompanyLimits>;
  metrics: Pick<Metrics, 'accepted'>;
  log: Log;
}

export class Quotas {
  readonly #open = new Map<string, OpenChains>();
  readonly #said = new Shares(1, saidEveryMs);

  constructor(private readonly options: QuotaOptions) {}

  readonly #standard = quotasOf(readConfig({}));

  /** Starts a chain and counts it. @throws Rejection 429 where the company has used up what it may. */
  async within(companyId: string, actions: readonly ChainAction[], start: () => Promise<StartedChain>): Promise<StartedChain> {
    const { store, metrics } = this.options;
    const { limits } = await this.#boundsOf(companyId);
    const recipients = actions.reduce((sum, action) => sum + recipientsOf(action).length, 0);
    const asked = { actions: actions.length, recipients };
    const used = store.usage.of(companyId);
    if (used.actions + asked.actions > limits.actionsPerDay)
      throw overDaily('actions-per-day', `${limits.actionsPerDay} actions`, companyId);
    this.#assertLeft(companyId, recipients, limits);
    const open = this.#openOf(companyId, limits.openChains);
    if ((open.counted ?? 0) + open.since >= limits.openChains) {
      const detail = `Company ${companyId} has ${limits.openChains} chains open, as many as it may. Nothing has run.`;
      throw new Rejection('open-chains', 'too-many-open-chains', detail, { headers: { 'Retry-After': '60' } });
    }
    store.usage.add(companyId, asked);
    open.since += 1;
    const giveBack = () => {
      store.usage.add(companyId, asked, -1);
      open.since -= 1;
    };
    try {
      const started = await start();
      if (started.replayed) giveBack();
      else metrics.accepted.inc();
      return started;
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  /** @throws Rejection 429 where the company may not write to so many more today. */
  async assertRecipientsLeft(companyId: string, count: number): Promise<void> {
    this.#assertLeft(companyId, count, (await this.#boundsOf(companyId)).limits);
  }

  #assertLeft(companyId: string, count: number, { recipientsPerDay }: Required<CompanyLimits>): void {
    if (count > 0 && this.options.store.usage.of(companyId).recipients + count > recipientsPerDay)
      throw overDaily('recipients-per-day', `${recipientsPerDay} e-mail recipients`, companyId);
  }

  /** Counts recipients that come by a mend. @returns what is wrong with them. @throws Rejection 429 as those of a request. */
  readonly admit: AdmitRecipients = async (companyId, recipients) => {
    const { limits, domains } = await this.#boundsOf(companyId);
    const detail = outside(recipients, domains);
    if (detail !== undefined) return [{ pointer: '/emails', detail }];
    this.#assertLeft(companyId, recipients.length, limits);
    this.options.store.usage.add(companyId, { actions: 0, recipients: recipients.length });
    return [];
  };

  async #boundsOf(companyId: string): Promise<{ limits: Required<CompanyLimits>; domains?: readonly string[] | undefined }> {
    const { store, quotas = this.#standard } = this.options;
    const { company } = (await store.settings.of(companyId)) ?? {};
    return { limits: { ...quotas, ...company?.limits }, domains: company?.mail?.recipientDomains };
  }

  /** @throws Rejection 400 for recipients outside the domains to which the company writes. */
  async checkRecipients(companyId: string, actions: readonly ChainAction[]): Promise<void> {
    const { domains } = await this.#boundsOf(companyId);
    const errors = actions.flatMap((action) => {
      const detail = outside(recipientsOf(action), domains);
      return detail === undefined ? [] : [{ pointer: `/${action.index}/emails`, detail }];
    });
    if (errors.length === 0) return;
    const detail = `Nothing has run. ${errors.map((error) => `${error.pointer} ${error.detail}`).join('; ')}`;
    throw new Rejection('invalid-chain', 'invalid-chain', detail, { errors });
  }

  /** Counts in the background, at first and whenever a tenth of what was free has been taken: other processes take some, too. */
  #openOf(companyId: string, most: number): OpenChains {
    const open = this.#open.get(companyId) ?? { since: 0, askedAt: Number.NEGATIVE_INFINITY };
    this.#open.set(companyId, open);
    const isDue = open.counted === undefined || open.since >= (most - open.counted) / 10;
    if (isDue && performance.now() - open.askedAt > countEveryMs) {
      open.askedAt = performance.now();
      const { since } = open;
      const query = visibilityQuery({}, companyId, ["ExecutionStatus = 'Running'"]);
      const { client, log } = this.options;
      client
        .withDeadline(Date.now() + countTimeoutMs, () => client.workflow.count(query))
        .then(
          ({ count }) => {
            open.counted = count;
            open.since -= since;
          },
          (error: unknown) => {
            // The next request after a while asks again.
            if (this.#said.take())
              log.warn({ err: error, companyId }, 'open chains cannot be counted: a company may have more than it may meanwhile');
          },
        );
    }
    return open;
  }
}

/** What is wrong where some are outside the domains to which a company writes. */
function outside(recipients: readonly string[], domains?: readonly string[]): string | undefined {
  const found = domains ? recipients.filter((one) => !isOfDomains(one, domains)) : [];
  return domains && found.length > 0 ? `${found.join(', ')}: ${domainsRule(domains)}` : undefined;
}

function overDaily(reason: RejectionReason, most: string, companyId: string): Rejection {
  const secondsOfDay = 86_400 - (Math.floor(Date.now() / 1000) % 86_400);
  const detail = `Company ${companyId} has not enough left of its ${most} a day (UTC). Nothing has run.`;
  return new Rejection(reason, 'quota-exceeded', detail, { headers: { 'Retry-After': String(secondsOfDay) } });
}
