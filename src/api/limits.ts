/**
 * Rate limits. Requests with the right tokens are counted per company; failed authentications are counted per client address, and
 * answered with 429 instead of 401 when they are too many. Right tokens are let in whatever came from their address before, since
 * many companies may share an address: that of their platform, or of a proxy in front of the relay.
 */

import type { Context, MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { loggableId } from '../contract/credential.js';
import { Problem, problemResponse, Rejection } from '../contract/problem.js';
import { addressGroup, clientAddress } from '../service/client-address.js';
import { type Config, readConfig } from '../service/config.js';
import { Shares } from '../service/shares.js';
import type { Metrics } from '../service/telemetry.js';
import type { Parameter, Queries } from '../store/database.js';
import type { Authenticated } from './bearer-authentication.js';

/** The failed authentications per minute and address that are answered with 401. */
export const failuresPerMinute = 60;

/** Of these, the attempts to sign in. */
export const wrongSignInsPerMinute = 5;
const signInPaths = ['/session', '/sign-in'];

/** How much of a limit is used. */
interface RateLimit {
  exceeded: boolean;
  /** `RateLimit-…`, and `Retry-After` where it is exceeded. */
  headers: Readonly<Record<string, string>>;
}

const uncounted: RateLimit = { exceeded: false, headers: {} };

/** What is counted for each key: lists ask the visibility store that all share, a chain all of its workflows. */
export type Use = 'lists' | 'reads' | 'steering';

/** What the environment says of limits a minute. */
export function limitsOf(config: Config): Required<Pick<LimitsOptions, 'perMinute' | 'uses'>> {
  const { RELAY_LISTS_PER_MINUTE: lists, RELAY_READS_PER_MINUTE: reads, RELAY_STEERING_PER_MINUTE: steering } = config;
  return { perMinute: config.RELAY_RATE_LIMIT_PER_MINUTE, uses: { lists, reads, steering } };
}

/** In which requests are counted. */
const windowMs = 60_000;

/** How often the log says the same again. */
const notedAgainMs = 60_000;

interface LimitsOptions {
  /** Requests a minute and company. */
  perMinute: number;
  /** A minute and key, by each process. */
  uses?: Record<Use, number>;
  /** Where several API processes count together. Absent: in memory. */
  shared?: Queries;
  log: Logger;
}

type Limiter = RateLimiterMemory | RateLimiterPostgres;

export class Limits {
  readonly #companies: Limiter;
  readonly #addresses: RateLimiterMemory;
  readonly #signIns: RateLimiterMemory;
  readonly #uses: Record<Use, RateLimiterMemory>;
  readonly #log: Logger;
  /** How many requests of a company a process takes at once of those that the processes share: a query for each lot. */
  #lot = 1;
  /** By company. `beyond`: what was left to share. */
  readonly #lots = new Map<string, { left: number; beyond: number; until: number }>();
  readonly #taking = new Map<string, Promise<RateLimit>>();
  readonly #failureLogged = new Shares(1, notedAgainMs);

  constructor({ perMinute, uses = limitsOf(readConfig({})).uses, shared, log }: LimitsOptions) {
    this.#companies = limiter('company', perMinute, shared);
    this.#addresses = limiter('address', failuresPerMinute); // By each process: a stranger costs no query.
    this.#signIns = limiter('sign-in', wrongSignInsPerMinute);
    this.#uses = {
      lists: limiter('lists', uses.lists),
      reads: limiter('reads', uses.reads),
      steering: limiter('steering', uses.steering),
    };
    while (shared && this.#lot < perMinute / 20) this.#lot += 1;
    while (perMinute % this.#lot > 0) this.#lot -= 1; // So that none is left over.
    this.#log = log;
  }

  /** Counts a request of a company. Never rejects: where nobody can count, nobody is refused. */
  async ofCompany(companyId: string): Promise<RateLimit> {
    if (this.#lot === 1) return this.#take(this.#companies, companyId);
    // One at a time asks for more; the others then find what it got, or that nobody can count.
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

  /** Counts a failed authentication. */
  async ofAddress(address: string, { signingIn = false } = {}): Promise<RateLimit> {
    const group = addressGroup(address);
    const ofAll = await this.#take(this.#addresses, group);
    return signingIn && !ofAll.exceeded ? this.#take(this.#signIns, group) : ofAll;
  }

  ofUse(use: Use, keyId: string): Promise<RateLimit> {
    return this.#take(this.#uses[use], keyId);
  }

  /** @throws Problem 429 where the address has failed too often this minute, and `unless` does not speak for the request. */
  async refuseFailing(c: Context, unless: () => Promise<boolean>): Promise<void> {
    const failing = await this.failing(c);
    if (failing && !(await unless())) throw tooManyFailures(failing.headers);
  }

  /** Of an address that has failed too often this minute. */
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
      // Where a clock was set, the window would end hours later: counting begins anew.
      if (isLimited) await limiter.delete(key).catch(() => {});
      else if (this.#failureLogged.take())
        this.#log.error({ err: error }, 'requests cannot be counted: nobody is limited meanwhile');
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
    // A company beyond its limit is refused without asking the database again.
    inMemoryBlockOnConsumed: points + 1,
  });
}

/** @param until - when counting begins anew, in Unix milliseconds. */
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

/**
 * Counts a request of a company and answers it, with headers that tell how much is left also where the answer is an error.
 * @throws Rejection 429 where there were too many.
 */
export async function withinLimit(
  c: Context,
  limits: Limits,
  companyId: string,
  answer: () => Promise<Response>,
): Promise<Response> {
  const { exceeded, headers } = await limits.ofCompany(companyId);
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  try {
    if (!exceeded) return await answer();
    const most = headers['RateLimit-Limit'];
    const detail = `Company ${companyId} has sent more than its ${most} requests a minute. Nothing has run.`;
    throw new Rejection('rate-limited', 'rate-limited', detail, { headers });
  } catch (error) {
    // Only now: an answer to which `c.res` was read before is written as a stream, some turns of the event loop later.
    for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value);
    throw error;
  }
}

/** Counts 401s per client address, and answers 429 where they are too many. */
export function limitFailures(limits: Limits): MiddlewareHandler {
  return async (c, next) => {
    await next();
    if (c.res.status !== 401) return;
    const signingIn = c.req.method === 'POST' && signInPaths.includes(c.req.path);
    const { exceeded, headers } = await limits.ofAddress(clientAddress(c), { signingIn });
    if (!exceeded) return;
    // Taken away first: what is only replaced would leave its headers behind.
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

/** Counts what the holder of a key does; admins are not counted. */
export function limitUse(limits: Limits, use: Use): MiddlewareHandler<Authenticated> {
  return async (c, next) => {
    const actor = c.get('actor');
    if (actor?.kind !== 'key') return next();
    const { exceeded, headers } = await limits.ofUse(use, actor.keyId);
    for (const [name, value] of Object.entries(headers)) c.header(name, value);
    const most = headers['RateLimit-Limit'];
    const detail = `Key ${actor.name} has asked for more than its ${most} ${use} a minute. Nothing was done.`;
    if (exceeded) throw new Problem('rate-limited', detail, { headers, bound: use });
    await next();
  };
}

/** Counts the refusals for bounds, and logs one a minute for each bound and path. */
export function noteBounds(metrics: Pick<Metrics, 'boundsMet'>, log: Logger): MiddlewareHandler {
  const noted = new Shares(1, notedAgainMs);
  return async (c, next) => {
    await next();
    const { error } = c;
    if (!(error instanceof Problem)) return;
    const bound = error.more.bound ?? (error.status === 429 && error instanceof Rejection ? error.reason : undefined);
    if (bound === undefined) return;
    metrics.boundsMet.inc({ bound });
    // Where nobody is known, the company in the path is whatever a stranger made up, and would make a line of each request.
    const isStranger = bound === 'failed-authentications';
    const companyId = isStranger ? undefined : loggableId(/^\/co\/([\w-]{1,64})\//.exec(c.req.path)?.[1]);
    if (!noted.take(`${bound} ${companyId}`)) return;
    log.warn({ bound, companyId }, 'a bound is met: requests are refused');
  };
}
