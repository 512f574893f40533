/**
 * The limits of a company: actions a day, e-mail recipients a day, open chains. Above a limit, the relay refuses new chains. It
 * also refuses an edit if the edit adds recipients. Accepted chains always run.
 */

import type { Client } from '@temporalio/client';
import { type ChainAction, recipientsOf } from '../chain/chain.js';
import { warningsOfKind } from '../chain/kinds.js';
import type { Issue } from '../chain/request.js';
import type { CompanyLimits } from '../contract/company.js';
import { Rejection } from '../contract/problem.js';
import { type Config, readConfig } from '../service/config.js';
import { Shares } from '../service/shares.js';
import type { Log, Metrics } from '../service/telemetry.js';
import type { Store } from '../store/store.js';
import { visibilityQuery } from '../temporal/list.js';
import { type AdmitRecipients, admitRecipients, assertLeft, outside, overDaily } from '../temporal/recipients.js';
import type { StartedChain } from '../temporal/start.js';

/** The default limits, from the environment. A company's own `limits` override the defaults. */
export function quotasOf(config: Config): Required<CompanyLimits> {
  const { RELAY_ACTIONS_PER_DAY: actionsPerDay, RELAY_RECIPIENTS_PER_DAY: recipientsPerDay } = config;
  return { actionsPerDay, recipientsPerDay, openChains: config.RELAY_OPEN_CHAINS };
}

const countEveryMs = 10_000; // the minimum time between two counts of a company's open chains
const countTimeoutMs = 10_000;
const saidEveryMs = 60_000; // the minimum time between two log lines about a failed count

interface OpenChains {
  /** The number of open chains at the last count. Undefined before the first count. */
  counted?: number;
  since: number; // the number of chains that this process has accepted since the last count
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

  /** Starts a chain and counts its usage. @throws Rejection 429 if the company has reached a limit */
  async within(companyId: string, actions: readonly ChainAction[], start: () => Promise<StartedChain>): Promise<StartedChain> {
    const { store, metrics } = this.options;
    const { limits } = await this.#boundsOf(companyId);
    const recipients = actions.reduce((sum, action) => sum + recipientsOf(action).length, 0);
    const asked = { actions: actions.length, recipients };
    const used = store.usage.of(companyId);
    if (used.actions + asked.actions > limits.actionsPerDay)
      throw overDaily('actions-per-day', `${limits.actionsPerDay} actions`, companyId);
    assertLeft(store, companyId, recipients, limits.recipientsPerDay);
    const open = this.#openOf(companyId, limits.openChains);
    if ((open.counted ?? 0) + open.since >= limits.openChains) {
      const detail = `Company ${companyId} has ${limits.openChains} open chains, which is its limit. Nothing has run.`;
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

  /** @throws Rejection 429 if the company has reached its daily limit of recipients. */
  async assertRecipientsLeft(companyId: string, count: number): Promise<void> {
    assertLeft(this.options.store, companyId, count, (await this.#boundsOf(companyId)).limits.recipientsPerDay);
  }

  /** The daily limit of recipients for companies without their own limit. */
  get recipientsPerDay(): number {
    return (this.options.quotas ?? this.#standard).recipientsPerDay;
  }

  readonly admit: AdmitRecipients = (companyId, recipients) =>
    admitRecipients(this.options.store, this.recipientsPerDay)(companyId, recipients);

  async #boundsOf(companyId: string) {
    const { store, quotas = this.#standard } = this.options;
    const { company } = (await store.settings.of(companyId)) ?? {};
    return { limits: { ...quotas, ...company?.limits }, domains: company?.mail?.recipientDomains, platform: company?.platform };
  }

  /**
   * @returns warnings about actions that the company's platform cannot do.
   * @throws Rejection 400 for recipients outside the allowed domains of the company
   */
  async checkActions(companyId: string, actions: readonly ChainAction[]): Promise<Issue[]> {
    const { domains, platform } = await this.#boundsOf(companyId);
    const errors = actions.flatMap((action) => {
      const detail = outside(recipientsOf(action), domains);
      return detail === undefined ? [] : [{ pointer: `/${action.index}/emails`, detail }];
    });
    if (errors.length === 0) return warningsOfKind(platform, actions);
    const detail = `Nothing has run. ${errors.map((error) => `${error.pointer} ${error.detail}`).join('; ')}`;
    throw new Rejection('invalid-chain', 'invalid-chain', detail, { errors });
  }

  /** Counts open chains in the background. Counts again when this process has used a tenth of the room for chains. */
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
            if (this.#said.take())
              log.warn({ err: error, companyId }, 'open chains cannot be counted: a company may exceed its limit now');
          },
        );
    }
    return open;
  }
}
