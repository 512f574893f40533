/** What a `Notifier` knows of the actions that failed for its cause, and what is to be told of them. It only decides. */

import type { ActionState } from '../chain/outcome.js';
import type { ManyNotice, Member, News, Over, ThroughNotice } from '../contract/notices.js';

/** A ledger as it goes from one run of the workflow to the next. */
export interface LedgerState {
  /** Members that are held, or untold. */
  open: [key: string, Open][];
  /** The last members that are not open any more: when they left, and whether one recovery tells of them and others. */
  gone: [key: string, Gone][];
  /** Members since the first, who was told by itself; 0: none is known. */
  members: number;
  /** The first ten that are untold, one of each chain. */
  first: Member[];
  /** Untold members beyond those that are known one by one. */
  beyond: number;
  /** When the earliest request of a member came in. */
  since: string;
  /** How many members left in each way. */
  ended: Partial<Record<ActionState, number>>;
  /** Chains whose last open member went on. */
  through: number;
  /** Members that were waited for in vain. */
  expired: number;
}

/** `at`: since when it is held. `until`: how long it is waited for, in Unix milliseconds. */
interface Open {
  at: string;
  until: number;
  told: boolean;
}

interface Gone {
  at: string;
  many: boolean;
}

const shown = 10;
/** More members than these are told and not waited for: the ledger has to fit into the input of a workflow, 2 MB. */
const mostOpen = 8_000;
/** Repetitions of a word come within minutes. */
const mostGone = 1_000;
/** A member whose end nobody tells is waited for so much longer than it is held, in milliseconds. */
const graceMs = 24 * 3600 * 1000;

/** What a ledger says of a notice. */
type Finding<Notice> = Omit<Notice, 'cause' | 'companyId' | 'relayId' | 'at'>;

function memberKey({ chainId, index }: Pick<Member, 'chainId' | 'index'>): string {
  return `${chainId}/${index}`;
}

/** The chain in a member's key. */
function chainOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'));
}

export class Ledger {
  readonly #open: Map<string, Open>;
  readonly #gone: Map<string, Gone>;
  #state: Omit<LedgerState, 'open' | 'gone'>;

  /** @param holds - whether members are held, so that they are waited for; otherwise what is told is done with. */
  constructor(
    private readonly holds: boolean,
    { open, gone, ...state }: LedgerState = { open: [], gone: [], ...nobody() },
  ) {
    this.#open = new Map(open);
    this.#gone = new Map(gone);
    this.#state = state;
  }

  get state(): LedgerState {
    return { ...this.#state, open: [...this.#open], gone: [...this.#gone] };
  }

  /** How many have joined since the first, repetitions left out. */
  get members(): number {
    return this.#state.members;
  }

  get open(): number {
    return this.#open.size;
  }

  get untold(): boolean {
    for (const { told } of this.#open.values()) if (!told) return true;
    return this.#state.beyond > 0;
  }

  /** Whether there is something to tell or to wait for. */
  get gathers(): boolean {
    return this.members > 0;
  }

  /** Whether several are held, and all that is known of them is told. */
  get waits(): boolean {
    return this.holds && this.members > 1 && this.open > 0 && !this.untold;
  }

  /** Whether several were held, and none is any more. */
  get isThrough(): boolean {
    return this.holds && this.members > 1 && this.open === 0 && !this.untold;
  }

  /** Whether a recovery may follow of which `over` has told already. */
  get awaitsRecovery(): boolean {
    return this.holds && this.#gone.size > 0;
  }

  /** @returns whether it is told at once, and by itself. */
  hear({ notice, member }: News): boolean {
    return notice.kind === 'recovered' ? this.recovered(member) : this.join(member);
  }

  /** A member that failed again is told again. @returns whether it is the first. */
  join(member: Member): boolean {
    const key = memberKey(member);
    const known = this.#open.get(key);
    if (member.at <= (known ?? this.#gone.get(key) ?? { at: '' }).at) return false; // A repetition, or out of date.
    const state = this.#state;
    const isFirst = state.members === 0;
    if (!known) state.members += 1;
    if (state.since === '' || member.receivedAt < state.since) state.since = member.receivedAt;
    const until = Date.parse(member.heldUntil ?? member.at) + graceMs;
    if (isFirst && !this.holds) this.#leave(key, member.at);
    else if (known || this.#open.size < mostOpen) this.#open.set(key, { at: member.at, until, told: isFirst });
    else state.beyond += 1;
    if (!isFirst && state.first.length < shown && !state.first.some(({ chainId }) => chainId === member.chainId))
      state.first.push(member);
    return isFirst;
  }

  over(member: Over): void {
    const key = memberKey(member);
    const known = this.#open.get(key);
    if (!known || member.at < known.at) return;
    const state = this.#state;
    this.#leave(key, member.at);
    const isLast = ![...this.#open.keys()].some((other) => chainOf(other) === member.chainId);
    state.ended[member.state] = (state.ended[member.state] ?? 0) + 1;
    if (isLast && (member.state === 'done' || member.state === 'skipped')) state.through += 1;
  }

  /** @returns whether that is told by itself: of several, one notice tells when all of them are through. */
  recovered(member: Member): boolean {
    const key = memberKey(member);
    if (this.members > 1) this.over(member);
    else if (this.#open.has(key)) this.#leave(key, member.at);
    return !this.#gone.get(key)?.many;
  }

  /** Milliseconds until a member is not waited for any longer. */
  left(now: number): number {
    return Math.max(1000, Math.min(...[...this.#open.values()].map(({ until }) => until)) - now);
  }

  /** What is to be told now that no more come, if anything; after that there is nothing to wait for unless the ledger says so. */
  next(now: number): Finding<ManyNotice> | Finding<ThroughNotice> | undefined {
    for (const [key, { until, at }] of this.#open)
      if (until <= now) {
        this.#leave(key, at);
        this.#state.expired += 1;
      }
    if (this.untold) return { kind: 'many', ...this.take() };
    if (this.waits) return undefined;
    const { members, ended, through, since, expired: open } = this.#state;
    this.#state = nobody();
    this.#open.clear();
    return this.holds && members > 1 && through > 0 ? { kind: 'through', ended, through, since, open } : undefined;
  }

  /** Those that were not told, which are from now on. */
  take(): Pick<ManyNotice, 'count' | 'actions' | 'first' | 'since'> {
    const { first, since, beyond } = this.#state;
    const untold = [...this.#open].filter(([, { told }]) => !told);
    for (const [key, { at, until }] of untold)
      if (this.holds) this.#open.set(key, { at, until, told: true });
      else this.#leave(key, at);
    this.#state = { ...this.#state, first: [], beyond: 0 };
    const count = new Set(untold.map(([key]) => chainOf(key))).size + beyond;
    return { count, actions: untold.length + beyond, first, since };
  }

  #leave(key: string, at: string): void {
    this.#open.delete(key);
    this.#state.first = this.#state.first.filter((member) => memberKey(member) !== key);
    this.#gone.delete(key);
    this.#gone.set(key, { at, many: this.members > 1 });
    const [oldest = ''] = this.#gone.keys();
    if (this.#gone.size > mostGone) this.#gone.delete(oldest);
  }
}

function nobody(): Omit<LedgerState, 'open' | 'gone'> {
  return { members: 0, first: [], beyond: 0, since: '', ended: {}, through: 0, expired: 0 };
}

/** Whether a signal's argument is one: what somebody typed must not stop the workflow. */
export function isNews(argument: unknown): argument is News {
  const { notice, member } = fieldsOf(argument);
  const { kind, companyId, chainId, index, at } = fieldsOf(notice);
  const { message, receivedAt } = fieldsOf(member);
  return (
    isOver(member) &&
    typeof index === 'number' &&
    areTexts([kind, companyId, chainId, at, receivedAt]) &&
    areTexts([message], 500)
  );
}

export function isOver(argument: unknown): argument is Over {
  const { chainId, index, state, at, heldUntil = at } = fieldsOf(argument);
  const times = [at, heldUntil].map((time) => (typeof time === 'string' ? Date.parse(time) : Number.NaN));
  return areTexts([chainId, state]) && typeof index === 'number' && !times.some(Number.isNaN);
}

function fieldsOf(argument: unknown): Record<string, unknown> {
  return typeof argument === 'object' && argument !== null ? { ...argument } : {};
}

/** @param longest - a fifth of what a workflow id may have. */
function areTexts(values: unknown[], longest = 200): boolean {
  return values.every((value) => typeof value === 'string' && value.length <= longest);
}
