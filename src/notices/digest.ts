/** Many actions of a company that fail for the same reason: which reason that is, and the ledger that a `NoticeDigest` keeps of them. */

import type { ActionState } from '../chain/action-state.js';
import type { ActionStatus } from '../chain/action-status.js';
import type { NoticeKind } from './chain-notice.js';

/** The input of a `NoticeDigest` workflow: what its members have in common. */
export interface Digest {
  companyId: string;
  /** A rule whose contacts are told, as those of all its members are. */
  relayId: string;
  kind: NoticeKind;
  reason: Reason;
  /** How long no more of them have to come before they are told of, as a third of this; at most twice this. */
  windowSeconds: number;
}

/** Why the first of them failed. */
export interface Reason {
  type: string;
  message: string;
}

/** An action that failed. */
export interface Member {
  chainId: string;
  index: number;
  relayId: string;
  assignmentId?: string;
  /** What was wrong, cut short. */
  message: string;
  /** The run of the chain's workflow. */
  runId?: string;
  receivedAt: string;
  heldUntil?: string;
}

export function memberKey({ chainId, index }: Pick<Member, 'chainId' | 'index'>): string {
  return `${chainId}/${index}`;
}

/** The chain in a member's key. */
function chainOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'));
}

export function reasonOf({ error, reason }: ActionStatus): Reason {
  return error ?? { type: 'Failed', message: reason ?? 'nothing was said' };
}

/** The reason without what differs from event to event: ids, numbers, addresses, names of assignments. The status that was answered stays. */
export function foldedReason(action: ActionStatus): string {
  const { type, message } = reasonOf(action);
  const assignment = action.assignmentId?.trim();
  const named = (assignment ? [assignment, encodeURIComponent(assignment)] : []).reduce(
    (text, name) => text.replaceAll(new RegExp(`(?<![\\p{L}\\p{N}])${literal(name)}(?![\\p{L}\\p{N}])`, 'gu'), '…'),
    message,
  );
  const folded = named
    .replaceAll(/(\/(?:assignments|tickets)\/)[^/\s]+/g, '$1…')
    .replaceAll(/[^\s"<>,;]+@[^\s"<>,;]+/g, '…')
    .replaceAll(/(answered "?\d{3}\b)|[\p{L}\p{N}_.-]*\p{N}[\p{L}\p{N}_-]*/gu, (_, answer?: string) => answer ?? '…');
  return `${type}: ${folded}`;
}

/** A pattern for the text itself. */
function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** Members that were not told of yet. */
export interface Batch {
  /** Of how many chains they are. */
  count: number;
  /** How many they are. */
  actions: number;
  /** The first ten, one of each chain. */
  first: Member[];
  /** When the earliest of their requests came in. */
  since: string;
}

/** A ledger as it goes from one run of the workflow to the next. */
export interface LedgerState {
  /** Members that are not over, with whether they were told of. */
  open: [key: string, told: boolean][];
  first: Member[];
  since: string;
  members: number;
  /** How many members ended in each way. */
  ended: Partial<Record<Ended, number>>;
  /** Chains whose last open member went on. */
  through: number;
  heldUntil?: string;
}

/** How a member left: its action's end, or it is held for another reason now. */
export type Ended = ActionState;

const shown = 10;
/** Those beyond are told of, and not waited for. */
const mostOpen = 20_000;

export class Ledger {
  readonly #open: Map<string, boolean>;
  /** How many of a chain's actions are open. */
  readonly #openOf = new Map<string, number>();
  #state: Omit<LedgerState, 'open'>;

  /** @param holds - whether members are held, so that they are waited for; otherwise what is told is done with. */
  constructor(
    private readonly holds: boolean,
    { open, ...state }: LedgerState,
  ) {
    this.#open = new Map(open);
    for (const [key] of open) this.#count(key, 1);
    this.#state = state;
  }

  /** One that begins with a member of which people are told at once. */
  static of(holds: boolean, first: Member): Ledger {
    const open: LedgerState['open'] = holds ? [[memberKey(first), true]] : [];
    const { receivedAt: since, heldUntil } = first;
    return new Ledger(holds, {
      open,
      first: [],
      since,
      members: 1,
      ended: {},
      through: 0,
      ...(heldUntil !== undefined && { heldUntil }),
    });
  }

  get state(): LedgerState {
    return { ...this.#state, open: [...this.#open] };
  }

  /** How many have joined, repetitions left out. */
  get members(): number {
    return this.#state.members;
  }

  get open(): number {
    return this.#open.size;
  }

  get untold(): boolean {
    return [...this.#open.values()].includes(false);
  }

  /** Until when at least one may be held; ISO 8601. */
  get heldUntil(): string | undefined {
    return this.#state.heldUntil;
  }

  /** A member that failed again is told of again. */
  join(member: Member): void {
    const key = memberKey(member);
    const { first, heldUntil, since } = this.#state;
    const known = this.#open.has(key);
    if (!known) this.#state.members += 1;
    if (!known && this.#open.size < mostOpen) this.#count(key, 1);
    if (known || this.#open.size < mostOpen) this.#open.set(key, false);
    if (first.length < shown && !first.some(({ chainId }) => chainId === member.chainId)) first.push(member);
    if (member.receivedAt < since) this.#state.since = member.receivedAt;
    if (member.heldUntil !== undefined && member.heldUntil > (heldUntil ?? '')) this.#state.heldUntil = member.heldUntil;
  }

  over(key: string, ended: Ended): void {
    if (!this.#open.delete(key)) return;
    const left = this.#count(key, -1);
    const state = this.#state;
    state.first = state.first.filter((member) => memberKey(member) !== key);
    state.ended[ended] = (state.ended[ended] ?? 0) + 1;
    if (left === 0 && (ended === 'done' || ended === 'skipped')) state.through += 1;
  }

  /** Those that were not told of, which are from now on. */
  take(): Batch {
    const untold = [...this.#open].filter(([, told]) => !told).map(([key]) => key);
    for (const key of untold)
      if (this.holds) this.#open.set(key, true);
      else {
        this.#open.delete(key);
        this.#count(key, -1);
      }
    const { first, since } = this.#state;
    this.#state.first = [];
    return { count: new Set(untold.map(chainOf)).size, actions: untold.length, first, since };
  }

  /** How those ended that were not told of, which are from now on. */
  takeEnded(): Pick<LedgerState, 'ended' | 'through' | 'since'> {
    const { ended, through, since } = this.#state;
    this.#state = { ...this.#state, ended: {}, through: 0 };
    return { ended, through, since };
  }

  /** @returns how many of the chain's actions are open now. */
  #count(key: string, change: 1 | -1): number {
    const chainId = chainOf(key);
    const open = (this.#openOf.get(chainId) ?? 0) + change;
    if (open > 0) this.#openOf.set(chainId, open);
    else this.#openOf.delete(chainId);
    return open;
  }
}
