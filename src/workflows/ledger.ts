/**
 * What a `Notifier` knows of the actions that failed for its cause, and what is to be told of them. It only decides.
 * Part of the replay contract.
 */

import { actionStates } from '../chain/outcome.js';
import { jsonBytes } from '../chain/text.js';
import { fieldsOf, isShallow } from '../contract/messages.js';
import { type ManyNotice, type Member, type News, noticeKinds, type Over, type ThroughNotice } from '../contract/notices.js';

export interface LedgerState extends Counts {
  open: [key: string, Open][];
  /** The last members that are not open any more: when they left, and whether one recovery tells of them and others. */
  gone: [key: string, Gone][];
}

interface Counts extends Pick<ThroughNotice, 'ended' | 'through'>, Pick<ManyNotice, 'first' | 'since'> {
  /** Members since the first, who was told by itself; 0: none is known. */
  members: number;
  /** Untold members beyond those that are known one by one. */
  beyond: number;
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
/** No timer is as long as the latest time that can be written is away. */
const mostStretchMs = 30 * 24 * 3600 * 1000;
/** A member whose end nobody tells is waited for so much longer than it is held, in milliseconds. */
const graceMs = 24 * 3600 * 1000;

type Finding<Notice> = Omit<Notice, 'cause' | 'companyId' | 'relayId' | 'at'>;

function memberKey({ chainId, index }: Pick<Member, 'chainId' | 'index'>): string {
  return `${chainId}/${index}`;
}

function chainOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'));
}

export class Ledger {
  readonly #open: Map<string, Open>;
  readonly #gone: Map<string, Gone>;
  #counts: Counts;

  /** @param holds - whether members are held, so that they are waited for; otherwise what is told is done with. */
  constructor(
    private readonly holds: boolean,
    { open, gone, ...counts }: LedgerState = { open: [], gone: [], ...nobody() },
  ) {
    this.#open = new Map(open);
    this.#gone = new Map(gone);
    this.#counts = counts;
  }

  get state(): LedgerState {
    return { ...this.#counts, open: [...this.#open], gone: [...this.#gone] };
  }

  /** How many have joined since the first, repetitions left out; 0: there is nothing to tell or to wait for. */
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

  /** Whether several are or were held, and all that is known of them is told. */
  get #isOfSeveral(): boolean {
    return this.holds && this.members > 1 && !this.untold;
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
    const { ended } = this.#counts;
    ended[member.state] = (ended[member.state] ?? 0) + 1;
    const isLast = ![...this.#open.keys()].some((other) => chainOf(other) === member.chainId);
    if (isLast && (member.state === 'done' || member.state === 'skipped')) this.#counts.through += 1;
  }

  /** @returns whether that is told by itself: of several, one notice tells when all of them are through. */
  recovered(member: Member): boolean {
    const key = memberKey(member);
    if (this.members > 1) this.over(member);
    else if (this.#open.has(key)) this.#leave(key, member.at);
    return !this.#gone.get(key)?.many;
  }

  /** Milliseconds to wait at a stretch. */
  left(now: number): number {
    const first = Math.min(...[...this.#open.values()].map(({ until }) => until));
    return Math.min(first - now, mostStretchMs);
  }

  /** Time without workers, by which a wait was late, does not count: those who are held are held longer by it. */
  extend(lateMs: number): void {
    if (lateMs > 60_000) for (const member of this.#open.values()) member.until += lateMs;
  }

  /** What is to be told now that no more come, if anything; after that there is nothing to wait for unless the ledger says so. */
  next(now: number): Finding<ManyNotice> | Finding<ThroughNotice> | undefined {
    for (const [key, { until, at }] of this.#open)
      if (until <= now) {
        this.#leave(key, at);
        this.#counts.expired += 1;
      }
    if (this.untold) return { kind: 'many', ...this.take() };
    if (this.waits) return undefined;
    const { members, ended, through, since, expired: open } = this.#counts;
    this.#counts = nobody();
    this.#open.clear();
    return this.holds && members > 1 && through > 0 ? { kind: 'through', ended, through, since, open } : undefined;
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

function nobody(): Counts {
  return { members: 0, first: [], beyond: 0, since: '', ended: {}, through: 0, expired: 0 };
}

/** Whether a signal's argument is one: what somebody typed must not stop the workflow. */
export function isNews(argument: unknown): argument is News {
  const { notice, member } = fieldsOf(argument);
  const { kind, companyId, chainId, index, at } = fieldsOf(notice);
  const { message, receivedAt } = fieldsOf(member);
  return (
    isShallow(argument, 7) &&
    isOver(member) &&
    noticeKinds.some((known) => known === kind) &&
    typeof index === 'number' &&
    areTexts([companyId, chainId, at, receivedAt]) &&
    areTexts([message], 2_000) &&
    JSON.stringify(member).length <= mostMemberLength
  );
}

/** In UTF-16 units: the next run of a notifier has ten in its input. */
const mostMemberLength = 5_000;

export function isOver(argument: unknown): argument is Over {
  const { chainId, index, state, at, heldUntil = at } = fieldsOf(argument);
  const times = [at, heldUntil];
  const areTimes = areTexts(times, 40) && times.every((time) => !Number.isNaN(Date.parse(time)));
  return areTexts([chainId]) && actionStates.some((known) => known === state) && typeof index === 'number' && areTimes;
}

/** @param mostBytes - a fifth of what a workflow id may have. */
function areTexts(values: unknown[], mostBytes = 200): values is string[] {
  return values.every((value) => typeof value === 'string' && jsonBytes(value) <= mostBytes);
}
