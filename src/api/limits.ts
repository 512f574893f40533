/**
 * Rate limits. Requests with right tokens count for their company. Failed authentications count for the client address. After too
 * many failures, the address gets 429 instead of 401. Right tokens still work, because companies may share the address of a proxy.
 */

import type { Context, MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { actorSubject, type Caller, callerId } from '../contract/audit.js';
import { loggableId } from '../contract/credential.js';
import { Problem, problemResponse, Rejection } from '../contract/problem.js';
import { addressGroup, clientAddress } from '../service/client-address.js';
import { type Config, readConfig } from '../service/config.js';
import { Shares } from '../service/shares.js';
import type { Metrics } from '../service/telemetry.js';
import type { Parameter, Queries } from '../store/database.js';
import type { Authenticated } from './bearer-authentication.js';

/** The maximum number of failed authentications for an address. A further failure gets 429 instead of 401. */
export const failuresPerMinute = 60;

/** The maximum number of failed sign-ins for an address. A failed sign-in counts towards `failuresPerMinute`, too. */
export const wrongSignInsPerMinute = 5;
const signInPaths = ['/session', '/sign-in'];

interface RateLimit {
  exceeded: boolean;
  /** The `RateLimit-…` headers. If the request exceeds the limit, also `Retry-After`. */
  headers: Readonly<Record<string, string>>;
}

const uncounted: RateLimit = { exceeded: false, headers: {} };

/** Each kind of use has its own limit. So the stream of an open page never blocks the other requests of the user. */
export type Use = 'lists' | 'reads' | 'streams' | 'steering' | 'sign-ins';

const signInsPerMinute = 10;
/** All keys of a company together share a limit, which is this many times the limit of one key. */
export const busyKeys = 5;

export function limitsOf(config: Config): { perMinute: number; uses: Record<Use, number> } {
  const { RELAY_LISTS_PER_MINUTE: lists, RELAY_READS_PER_MINUTE: reads, RELAY_STEERING_PER_MINUTE: steering } = config;
  return {
    perMinute: config.RELAY_RATE_LIMIT_PER_MINUTE,
    uses: { lists, reads, streams: reads, steering, 'sign-ins': signInsPerMinute },
  };
}

const windowMs = 60_000;
const notedAgainMs = 60_000; // the shortest time between two log lines about the same limit

interface LimitsOptions {
  perMinute: number; // the maximum number of requests for a company
  /** The maximum number of requests of a key or person, for each kind of use. Each process counts separately. */
  uses?: Partial<Record<Use, number>>;
  /** The database for counts that several API processes share. Without a database, a process counts in memory. */
  shared?: Queries;
  log: Logger;
}

type Limiter = RateLimiterMemory | RateLimiterPostgres;

export class Limits {
  readonly #companies: Limiter;
  readonly #addresses: RateLimiterMemory;
  readonly #signIns: RateLimiterMemory;
  readonly #uses: Record<Use, { key: RateLimiterMemory; company: RateLimiterMemory }>;
  readonly #log: Logger;
  #lot = 1; // the size of a lot: a process reserves this many requests for a company with one query
  /** The lots by company. `left`: reserved requests, not used yet. `beyond`: requests that no process has reserved yet. */
  readonly #lots = new Map<string, { left: number; beyond: number; until: number }>();
  readonly #taking = new Map<string, Promise<RateLimit>>();
  readonly #failureLogged = new Shares(1, notedAgainMs);

  constructor({ perMinute, uses: given, shared, log }: LimitsOptions) {
    const uses = { ...limitsOf(readConfig({})).uses, ...given };
    this.#companies = limiter('company', perMinute, shared);
    this.#addresses = limiter('address', failuresPerMinute); // in memory, so that failed authentications cause no queries
    this.#signIns = limiter('sign-in', wrongSignInsPerMinute);
    const of = (use: Use) => ({ key: limiter(use, uses[use]), company: limiter(`company-${use}`, uses[use] * busyKeys) });
    const [lists, reads, streams, steering] = [of('lists'), of('reads'), of('streams'), of('steering')];
    this.#uses = { lists, reads, streams, steering, 'sign-ins': of('sign-ins') };
    while (shared && this.#lot < perMinute / 20) this.#lot += 1;
    while (perMinute % this.#lot > 0) this.#lot -= 1; // the limit must be a multiple of the lot
    this.#log = log;
  }

  /** Never throws: if the database cannot count, no limit applies. */
  async ofCompany(companyId: string): Promise<RateLimit> {
    if (this.#lot === 1) return this.#take(this.#companies, companyId);
    // One request reserves a lot. Meanwhile, the other requests of the company wait.
    for (let taking = this.#taking.get(companyId); taking; taking = this.#taking.get(companyId))
      if ((await taking) === uncounted) return uncounted;
    const lot = this.#lots.get(companyId);
    if (lot && lot.left > 0 && Date.now() < lot.until) {
      lot.left -= 1;
      return rateLimitOf(this.#companies, lot.beyond + lot.left, lot.until);
    }
    const taking = this.#take(this.#companies, companyId, this.#lot, ({ remainingPoints, msBeforeNext }) => {
      this.#lots.set(companyId, { left: this.#lot - 1, beyond: remainingPoints, until: Date.now() + msBeforeNext });
    }).finally(() => this.#taking.delete(companyId));
    this.#taking.set(companyId, taking);
    return taking;
  }

  async ofAddress(address: string, { signingIn = false } = {}): Promise<RateLimit> {
    const group = addressGroup(address);
    const ofAll = await this.#take(this.#addresses, group);
    return signingIn && !ofAll.exceeded ? this.#take(this.#signIns, group) : ofAll;
  }

  /** @param keyId - the id of a key or person, or the path of a hold page. @returns an exceeded limit, or the limit of the key */
  async ofUse(use: Use, keyId: string, companyId?: string): Promise<RateLimit & { together?: boolean }> {
    const { key, company } = this.#uses[use];
    const ofKey = await this.#take(key, keyId);
    // A request over the limit of its key does not count for the company. So one key cannot block the other keys.
    if (ofKey.exceeded || companyId === undefined) return ofKey;
    const ofCompany = await this.#take(company, companyId);
    return ofCompany.exceeded ? { ...ofCompany, together: true } : ofKey;
  }

  /** @throws Problem 429 if the client address has too many failed authentications in this minute, and `unless` returns false */
  async refuseFailing(c: Context, unless: () => Promise<boolean>): Promise<void> {
    const failing = await this.failing(c);
    if (failing && !(await unless())) throw tooManyFailures(failing.headers);
  }

  /** @returns the exceeded limit if the client address has too many failed authentications in this minute, otherwise undefined */
  async failing(c: Context): Promise<RateLimit | undefined> {
    const failed = await this.#addresses.get(addressGroup(clientAddress(c)));
    if (!failed || failed.consumedPoints <= failuresPerMinute) return undefined;
    return rateLimitOf(this.#addresses, 0, Date.now() + failed.msBeforeNext, true);
  }

  async #take(limiter: Limiter, key: string, lot = 1, got = (_: RateLimiterRes) => {}): Promise<RateLimit> {
    try {
      const taken = await limiter.consume(key, lot);
      got(taken);
      return rateLimitOf(limiter, taken.remainingPoints + lot - 1, Date.now() + taken.msBeforeNext);
    } catch (error) {
      const isLimited = error instanceof RateLimiterRes;
      if (isLimited && error.msBeforeNext <= windowMs) return rateLimitOf(limiter, 0, Date.now() + error.msBeforeNext, true);
      // Somebody has set the clock back, so the window would end much later. Restart the count.
      if (isLimited) await limiter.delete(key).catch(() => {});
      else if (this.#failureLogged.take())
        this.#log.error({ err: error }, 'requests cannot be counted: no rate limits apply now');
      return uncounted;
    }
  }
}

function limiter(keyPrefix: string, points: number): RateLimiterMemory;
function limiter(keyPrefix: string, points: number, shared: Queries | undefined): Limiter;
function limiter(keyPrefix: string, points: number, shared?: Queries): Limiter {
  const options = { keyPrefix, points, duration: windowMs / 1000 };
  if (!shared) return new RateLimiterMemory(options);
  const query = async ({ text, values }: { text: string; values: Parameter[] }) => ({ rows: await shared.query(text, values) });
  return new RateLimiterPostgres({
    ...options,
    storeClient: { query },
    storeType: 'client',
    tableName: 'rate_limits',
    tableCreated: true,
    // If a company is over the limit, the process refuses its requests without a query.
    inMemoryBlockOnConsumed: points + 1,
  });
}

/** @param until - end of the window, in Unix milliseconds */
function rateLimitOf({ points }: Limiter, remaining: number, until: number, exceeded = false): RateLimit {
  const reset = String(Math.max(1, Math.ceil((until - Date.now()) / 1000)));
  return {
    exceeded,
    headers: {
      'RateLimit-Limit': String(points),
      'RateLimit-Remaining': String(remaining),
      'RateLimit-Reset': reset,
      ...(exceeded && { 'Retry-After': reset }),
    },
  };
}

/** Adds the `RateLimit-…` headers to every answer, also to an error. @throws Rejection 429 if the company is over its limit */
export async function withinLimit(c: Context, limits: Limits, companyId: string, answer: () => Promise<Response>) {
  const { exceeded, headers } = await limits.ofCompany(companyId);
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  try {
    if (!exceeded) return await answer();
    const most = headers['RateLimit-Limit'];
    const detail = `Company ${companyId} has sent more than ${most} requests in one minute. Nothing has run.`;
    throw new Rejection('rate-limited', 'rate-limited', detail, { headers });
  } catch (error) {
    // Read `c.res` only after an error. Reading it makes Hono stream the answer, which takes longer.
    for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value);
    throw error;
  }
}

export function limitFailures(limits: Limits): MiddlewareHandler {
  return async (c, next) => {
    await next();
    if (c.res.status !== 401) return;
    const signingIn = c.req.method === 'POST' && signInPaths.includes(c.req.path);
    const { exceeded, headers } = await limits.ofAddress(clientAddress(c), { signingIn });
    if (!exceeded) return;
    // Remove the old response first. Otherwise Hono copies the headers of the old response to the new response.
    c.res = undefined;
    c.error = tooManyFailures(headers);
    c.res = problemResponse(tooManyFailures(headers));
  };
}

function tooManyFailures(headers: RateLimit['headers']): Problem {
  const most = headers['RateLimit-Limit'];
  const detail = `There were too many failed authentications from this address: more than ${most} a minute.`;
  return new Problem('rate-limited', detail, { headers, bound: 'failed-authentications' });
}

/** The environment of a request that an event stream makes for its client. */
export const ofStream = (env: Context['env']) => ({ ...env, isOfStream: true });
const isOfStream = ({ env }: Context) => env?.isOfStream === true;

/** Counts the requests of keys and people. Does not limit requests of admins. */
export function limitUse(limits: Limits, use: Use): MiddlewareHandler<Authenticated> {
  return async (c, next) => {
    await countUse(c, limits, isOfStream(c) ? 'streams' : use, c.get('actor'));
    await next();
  };
}

/** @throws Problem 429 if the key or person, or all keys and people of the company together, have exceeded the limit */
export async function countUse(c: Context, limits: Limits, use: Use, actor: Caller | undefined): Promise<void> {
  if (actor === undefined || actor.kind === 'admin') return;
  const { exceeded, together, headers } = await limits.ofUse(use, callerId(actor), actor.companyId);
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  if (!exceeded) return;
  const who = together ? `The keys and people of company ${actor.companyId} together` : actorSubject(actor);
  const most = headers['RateLimit-Limit'];
  const detail = `${who} sent more than ${most} requests of the kind "${use}" in one minute. Nothing was done.`;
  throw new Problem('rate-limited', detail, { headers, bound: use });
}

/** Counts the requests that a limit refuses. Logs one line a minute for each limit and company. */
export function noteBounds(metrics: Pick<Metrics, 'boundsMet'>, log: Logger): MiddlewareHandler {
  const noted = new Shares(1, notedAgainMs);
  return async (c, next) => {
    await next();
    const { error } = c;
    if (!(error instanceof Problem)) return;
    const bound = error.more.bound ?? (error.status === 429 && error instanceof Rejection ? error.reason : undefined);
    if (bound === undefined) return;
    metrics.boundsMet.inc({ bound });
    // Do not log the company id that a stranger asks for. With a new id in each path, a stranger could fill the log.
    const isStranger = bound === 'failed-authentications';
    const companyId = isStranger ? undefined : loggableId(/^\/co\/([\w-]{1,64})\//.exec(c.req.path)?.[1]);
    if (!noted.take(`${bound} ${companyId}`)) return;
    log.warn({ bound, companyId }, 'a limit is reached: requests are refused');
  };
}
