/**
 * The ledger keeps the failed actions of one cause (the members), and decides which notice about them comes next. The
 * `Notifier` has the timer and starts the deliveries. This file is part of the replay contract.
 */

import type { ManyNotice, Member, News, Over, ThroughNotice } from '../contract/notices.js';

export interface LedgerState extends Counts {
  open: [key: string, Open][];
  /** The members that were removed from `open` most recently. */
  gone: [key: string, Gone][];
}

interface Counts extends Pick<ThroughNotice, 'ended' | 'through' | 'nobody'>, Pick<ManyNotice, 'first' | 'since'> {
  /** The number of members, including the first member, which had its own notice. */
  members: number;
  /** The number of members that did not fit in `open` and that no notice has reported yet. */
  beyond: number;
  expired: number;
}

/** `at` is the start of the hold. At `until` (Unix milliseconds), the ledger stops waiting for the end of the hold. */
type Open = { at: string; until: number; told: boolean };

/** `at` is the time of the last news. `many` says whether one notice reports the recoveries of several members. */
type Gone = { at: string; many: boolean };

const shown = 10;
/** `open` has at most this many members, because a workflow's input has at most 2 MB. The ledger only counts further members. */
const mostOpen = 8_000;
/** The maximum number of members in `gone`. A signal is repeated only within minutes, so older members are not needed. */
const mostGone = 1_000;
/** The longest timer. The end of a hold may be the latest possible date, which is too far away for a timer. */
const mostStretchMs = 30 * 24 * 3600 * 1000;
/** If nobody reports the end of a hold, the ledger waits for this additional time after the planned end. */
const graceMs = 24 * 3600 * 1000;

type Finding<Notice> = Omit<Notice, 'cause' | 'companyId' | 'relayId' | 'at'>;

const memberKey = ({ chainId, index }: Pick<Member, 'chainId' | 'index'>) => `${chainId}/${index}`;
const chainOf = (key: string) => key.slice(0, key.lastIndexOf('/'));

export class Ledger {
  readonly #open: Map<string, Open>;
  readonly #gone: Map<string, Gone>;
  #counts: Counts;

  /** @param holds - whether the members are held. If so, the ledger waits until their holds end. */
  constructor(
    private readonly holds: boolean,
    { open, gone, ...counts }: LedgerState = { open: [], gone: [], ...empty() },
  ) {
    this.#open = new Map(open);
    this.#gone = new Map(gone);
    this.#counts = counts;
  }

  get state(): LedgerState {
    return { ...this.#counts, open: [...this.#open], gone: [...this.#gone] };
  }

  /** The number of different members. If it is 0, the ledger has nothing to report and waits for nothing. */
  get members(): number {
    return this.#counts.members;
  }

  get open(): number {
    return this.#open.size;
  }

  get untold(): boolean {
    return this.#counts.beyond > 0 || [...this.#open.values()].some(({ told }) => !told);
  }

  get waits(): boolean {
    return this.#isOfSeveral && this.open > 0;
  }

  get isThrough(): boolean {
    return this.#isOfSeveral && this.open === 0;
  }

  /** Whether several members are or were held, and notices have reported all of them. */
  get #isOfSeveral(): boolean {
    return this.holds && this.members > 1 && !this.untold;
  }

  /** Whether a member that is no longer in `open` may still report a recovery. */
  get awaitsRecovery(): boolean {
    return this.holds && this.#gone.size > 0;
  }

  /** @returns whether this news gets its own notice immediately. */
  hear({ notice, member }: News): boolean {
    return notice.kind === 'recovered' ? this.recovered(member) : this.join(member);
  }

  /** Adds a member. A member that failed again is reported again. @returns whether it is the first member. */
  join(member: Member): boolean {
    const key = memberKey(member);
    const known = this.#open.get(key);
    if (member.at <= (known ?? this.#gone.get(key) ?? { at: '' }).at) return false; // The signal is repeated or outdated.
    const counts = this.#counts;
    const isFirst = counts.members === 0;
    if (!known) counts.members += 1;
    if (counts.since === '' || member.receivedAt < counts.since) counts.since = member.receivedAt;
    const until = Date.parse(member.heldUntil ?? member.at) + graceMs;
    if (isFirst && !this.holds) this.#leave(key, member.at);
    else if (known || this.open < mostOpen) this.#open.set(key, { at: member.at, until, told: isFirst });
    else counts.beyond += 1;
    if (!isFirst && counts.first.length < shown && !counts.first.some(({ chainId }) => chainId === member.chainId))
      counts.first.push(member);
    return isFirst;
  }

  over(member: Over): void {
    const key = memberKey(member);
    const known = this.#open.get(key);
    if (!known || member.at < known.at) return;
    this.#leave(key, member.at);
    const { ended, nobody = 0 } = this.#counts;
    ended[member.state] = (ended[member.state] ?? 0) + 1;
    if (member.nobody) this.#counts.nobody = nobody + 1;
    const isLast = ![...this.#open.keys()].some((other) => chainOf(other) === member.chainId);
    if (isLast && (member.state === 'done' || member.state === 'skipped')) this.#counts.through += 1;
  }

  /** @returns whether this recovery gets its own notice. If several members were held, one notice reports how all holds ended. */
  recovered(member: Member): boolean {
    const key = memberKey(member);
    if (this.members > 1) this.over(member);
    else if (this.#open.has(key)) this.#leave(key, member.at);
    return !this.#gone.get(key)?.many;
  }

  /** The time until the next timer, in milliseconds. */
  left(now: number): number {
    const first = Math.min(...[...this.#open.values()].map(({ until }) => until));
    return Math.min(first - now, mostStretchMs);
  }

  /** If a timer fires late, no worker was running. Holds become longer by `lateMs`, so the ledger also waits longer. */
  extend(lateMs: number): void {
    if (lateMs > 60_000) for (const member of this.#open.values()) member.until += lateMs;
  }

  /** Call this after the wait for members. @returns the next notice. Without one, the notifier ends if `waits` is false. */
  next(now: number): Finding<ManyNotice> | Finding<ThroughNotice> | undefined {
    for (const [key, { until, at }] of this.#open)
      if (until <= now) {
        this.#leave(key, at);
        this.#counts.expired += 1;
      }
    if (this.untold) return { kind: 'many', ...this.take() };
    if (this.waits) return undefined;
    const { members, ended, through, since, expired: open, nobody } = this.#counts;
    this.#counts = empty();
    this.#open.clear();
    return this.holds && members > 1 && through > 0
      ? { kind: 'through', ended, through, since, open, ...(nobody && { nobody }) }
      : undefined;
  }

  take(): Pick<ManyNotice, 'count' | 'actions' | 'first' | 'since'> {
    const { first, since, beyond } = this.#counts;
    const untold = [...this.#open].filter(([, { told }]) => !told);
    for (const [key, member] of untold)
      if (this.holds) member.told = true;
      else this.#leave(key, member.at);
    this.#counts = { ...this.#counts, first: [], beyond: 0 };
    const count = new Set(untold.map(([key]) => chainOf(key))).size + beyond;
    return { count, actions: untold.length + beyond, first, since };
  }

  #leave(key: string, at: string): void {
    this.#open.delete(key);
    this.#counts.first = this.#counts.first.filter((member) => memberKey(member) !== key);
    this.#gone.delete(key);
    this.#gone.set(key, { at, many: this.members > 1 });
    const [oldest = ''] = this.#gone.keys();
    if (this.#gone.size > mostGone) this.#gone.delete(oldest);
  }
}

const empty = (): Counts => ({ members: 0, first: [], beyond: 0, since: '', ended: {}, through: 0, expired: 0 });
