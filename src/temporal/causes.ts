/** Corrects the stored holds with data from Temporal. The store may have missed the end of a hold, or all changes in an outage. */

import type { Client } from '@temporalio/client';
import { chainOfWorkflow, type Links } from '../chain/chain.js';
import { causeOf, type HeldAction, heldFor } from '../contract/causes.js';
import type { Log } from '../service/telemetry.js';
import { reasonOf } from '../service/temporal.js';
import type { Store } from '../store/store.js';
import { runsOf, visibilityQuery } from './list.js';
import { readChain } from './read.js';

interface Options {
  client: Client;
  links: Links;
  store: Pick<Store, 'causes' | 'rules'>;
  log: Pick<Log, 'warn'>;
}

const freshMs = 2_000; // all callers within this time share one check
const lookMs = 5_000; // time limit of a check
const visibleWithinMs = 15_000; // after this time, a new hold is visible in Temporal's lists
const mostAsked = 50; // one check queries at most this many chains; if there are more, the check begins at a random chain
const askedTogether = 10;

/** If Temporal does not answer, the stored holds do not change. */
export class HeldActions {
  readonly #looks = new Map<string, { at: number; look: Promise<void> }>();

  constructor(private readonly options: Options) {}

  async refresh(companyId: string): Promise<void> {
    const now = Date.now();
    for (const [company, { at }] of this.#looks) if (at + freshMs <= now) this.#looks.delete(company);
    const known = this.#looks.get(companyId);
    const look = known?.look ?? this.#look(companyId);
    if (!known) this.#looks.set(companyId, { at: now, look });
    await look;
  }

  async #look(companyId: string): Promise<void> {
    try {
      await this.options.client.withDeadline(Date.now() + lookMs, () => compare(this.options, companyId));
    } catch (error) {
      this.options.log.warn(`actions that need attention cannot be compared with their chains: ${reasonOf(error)}`);
    }
  }
}

async function compare(options: Options, companyId: string): Promise<void> {
  const { client, store } = options;
  const now = Date.now();
  const [noted, visible] = await Promise.all([store.causes.held(companyId), heldChains(client, companyId)]);
  const byChain = new Map([...visible].map((chainId): [string, HeldAction[]] => [chainId, []]));
  for (const action of noted) byChain.set(action.chainId, [...(byChain.get(action.chainId) ?? []), action]);

  const over: HeldAction[] = [];
  const doubtful: [chainId: string, noted: HeldAction[]][] = [];
  for (const [chainId, actions] of byChain) {
    const isNew = actions.some(({ since }) => Date.parse(since) > now - visibleWithinMs);
    if (visible.has(chainId) ? actions.length !== 1 : isNew) doubtful.push([chainId, actions]);
    else if (!visible.has(chainId)) over.push(...actions);
  }
  const from = doubtful.length > mostAsked ? Math.floor(Math.random() * doubtful.length) : 0;
  const asked = [...doubtful.slice(from), ...doubtful.slice(0, from)].slice(0, mostAsked);
  for (let begin = 0; begin < asked.length; begin += askedTogether) {
    const some = asked.slice(begin, begin + askedTogether);
    over.push(...(await Promise.all(some.map(([chainId, actions]) => ask(options, companyId, chainId, actions)))).flat());
  }
  await store.causes.end(companyId, over, new Date(now).toISOString());
}

/** Compares a chain with its stored holds. Adds missing holds to the store. @returns stored holds that have ended. */
async function ask({ client, links, store }: Options, companyId: string, chainId: string, noted: readonly HeldAction[]) {
  const chain = await readChain(client, links, companyId, chainId);
  if (chain?.partial && !chain.closedAt) return [];
  const held = chain?.actions.filter(({ state }) => state === 'needs-attention') ?? [];
  for (const { index, relayId, assignmentId, heldUntil, startedAt } of held) {
    if (!chain || noted.some((action) => action.index === index)) continue;
    const { receivedAt, actions } = chain;
    const since = startedAt ?? receivedAt;
    const notice = { kind: 'needs-attention', companyId, relayId, chainId, index, at: since, receivedAt, actions } as const;
    const cause = causeOf(notice, await store.rules.get(companyId, relayId));
    await store.causes.hold(heldFor(cause), { chainId, index, relayId, assignmentId, since, heldUntil });
  }
  return noted.filter(({ index }) => !held.some((action) => action.index === index));
}

/** Returns the chains with held actions, from Temporal's visibility, which is about a second late. */
async function heldChains(client: Client, companyId: string): Promise<Set<string>> {
  const query = visibilityQuery({ status: 'needs-attention' }, companyId);
  const found = new Set<string>();
  for await (const { execution } of runsOf(client, query)) {
    const chain = chainOfWorkflow(execution?.workflowId ?? '');
    if (chain) found.add(chain.chainId);
  }
  return found;
}
