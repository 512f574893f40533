/**
 * Authenticates operators, and the keys and people of companies. A request has a bearer token or a session cookie.
 * relay-authentication.ts authenticates the senders of chains.
 */

import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { deleteCookie, getCookie, getSignedCookie, setCookie, setSignedCookie } from 'hono/cookie';
import type { Links } from '../chain/chain.js';
import { actorSubject, type Caller } from '../contract/audit.js';
import { hashOf, isMistyped, type Role, roles } from '../contract/credential.js';
import { deriveKey } from '../contract/encryption.js';
import { Problem, type Refusal } from '../contract/problem.js';
import { isLocal } from '../service/client-address.js';
import { bearerOf } from '../service/metrics-access.js';
import { longestSessionHours } from '../store/sessions.js';
import type { Store } from '../store/store.js';

/** The Hono environment of handlers that run after a guard. These handlers read the caller with `c.get('actor')`. */
export interface Authenticated {
  /**
   * `trustedOrigin`: with a session, not only the relay's pages but also pages of this origin may make changes. `signInAt`: the
   * sign-in address in a 401 answer (default: `/sign-in`). `traceparent`: see service/tracing.ts.
   */
  Variables: { actor: Caller; trustedOrigin?: string; signInAt?: string; traceparent?: string };
}

/** The callers that a route accepts. With `relay tokens`, the route checks the tokens in the body (relay-authentication.ts). */
export type Access =
  | 'public'
  | 'relay tokens'
  | 'admin or company key'
  | 'admin or author key'
  | 'admin or manage key'
  | 'admin'
  | 'admin or this machine';

/** Answers 401 to callers without access, and 403 to keys and people with a role that is too low. */
export type Guard = (access: Access) => MiddlewareHandler<Authenticated>;

export function createGuard(callers: Pick<Callers, 'of'>): Guard {
  return (access) => async (c, next) => {
    const isOpen = access === 'public' || access === 'relay tokens' || (access === 'admin or this machine' && isLocal(c));
    if (!isOpen) {
      const actor = c.get('actor') ?? (await callers.of(c));
      const isForAdmins = access === 'admin' || access === 'admin or this machine';
      if (!actor) throw unauthorized(isForAdmins ? 'the admin token' : 'the admin token or a key of this company', c);
      if (actor.kind !== 'admin') assertAllowed(actor, access, c.req.method);
      c.set('actor', actor);
    }
    await next();
  };
}

function assertAllowed(actor: Exclude<Caller, { kind: 'admin' }>, access: Access, method: string): void {
  const { role } = actor;
  const needed = roleFor(access, method);
  if (needed && roles.indexOf(role) >= roles.indexOf(needed)) return;
  const wanted = !needed ? 'an admin token' : `the role ${needed}, or an admin token`;
  throw new Problem('forbidden', `${actorSubject(actor)} has the role ${role}: this request needs ${wanted}.`);
}

/** The lowest role that gives a key or person access; undefined if only operators have access. */
function roleFor(access: Access, method: string): Role | undefined {
  if (access === 'admin or company key') return method === 'GET' || method === 'HEAD' ? 'read' : 'steer';
  return access === 'admin or author key' ? 'author' : access === 'admin or manage key' ? 'manage' : undefined;
}

export const sessionCookie = 'relay-session';
const browserCookie = 'relay-browser';
const browserSeconds = 900; // longer than the ten minutes in which a person must complete a sign-in

export interface CallersOptions {
  adminToken: string;
  /** RELAY_SECRET. If the variable contains several secrets, the relay uses only the first secret here. */
  secret?: string;
  store: Pick<Store, 'keys' | 'adminTokens' | 'sessions'>;
  links: Pick<Links, 'api'>;
  /** `failing` resolves to an object if too many authentications from the client's address have failed. */
  limits?: { failing(c: Context): Promise<object | undefined> };
}

/** The maximum number of parallel lookups of credentials, in total for all addresses with too many failed authentications. */
const mostLookedUp = 4;

/** Whether a text can be a key or an admin token. The relay searches the database only for such texts. */
const isLookedUp = (credential: string): boolean => /^rl[ka]_/.test(credential) && !isMistyped(credential);

export class Callers {
  readonly #store: CallersOptions['store'];
  readonly #adminHash: Buffer;
  /** A part of the key for cookies. If RELAY_ADMIN_TOKEN or the first secret in RELAY_SECRET changes, every session ends. */
  readonly #endsSessions: string;
  #signing: Promise<Uint8Array<ArrayBuffer>> | undefined;
  readonly #prefix: 'host' | undefined; // browsers accept a cookie with this prefix only from this host, over https
  readonly #limits: CallersOptions['limits'];
  /** The number of running lookups, and the queue of waiting lookups, for addresses with too many failed authentications. */
  #lookingUp = 0;
  readonly #waiting: (() => void)[] = [];

  constructor({ adminToken, secret = '', store, links, limits }: CallersOptions) {
    if (adminToken === '') throw new Error('The admin token must not be empty: set RELAY_ADMIN_TOKEN');
    this.#store = store;
    this.#limits = limits;
    this.#adminHash = hashOf(adminToken);
    this.#endsSessions = `${secret.split(',')[0]}\n${adminToken}`;
    this.#prefix = links.api.startsWith('https:') ? 'host' : undefined;
  }

  /** @returns an operator, or a key or person of the company in the path (`:companyId`); undefined for all other callers */
  async of(c: Context<Authenticated>): Promise<Caller | undefined> {
    const bearer = bearerOf(c);
    const usesSession = c.req.header('Authorization') === undefined;
    const actor = usesSession ? await this.inSession(c) : bearer && (await this.holding(c, bearer));
    return actor && (actor.kind === 'admin' || actor.companyId === c.req.param('companyId')) ? actor : undefined;
  }

  async #find(credential: string): Promise<Caller | undefined> {
    if (this.#isAdmin(credential)) return { kind: 'admin' };
    if (!isLookedUp(credential)) return undefined;
    const { keys, adminTokens } = this.#store;
    if (credential.startsWith('rla_')) {
      const token = await adminTokens.authenticate(credential);
      return token && { kind: 'admin', ...token };
    }
    const key = await keys.authenticate(credential);
    return key && { kind: 'key', ...key };
  }

  /** Finds the owner of a token or key. Limits parallel lookups for addresses with too many failed authentications. */
  async holding(c: Context<Authenticated>, credential: string): Promise<Caller | undefined> {
    if (this.#isAdmin(credential) || !isLookedUp(credential) || !(await this.#limits?.failing(c))) return this.#find(credential);
    if (this.#lookingUp < mostLookedUp) this.#lookingUp += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await this.#find(credential);
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#lookingUp -= 1;
    }
  }

  #isAdmin(credential: string): boolean {
    return timingSafeEqual(hashOf(credential), this.#adminHash);
  }

  /** @throws Problem 403 if a page of another site sends a change */
  async inSession(c: Context<Authenticated>): Promise<Caller | undefined> {
    const sessionId = await this.#sessionId(c);
    const actor = sessionId && (await this.#store.sessions.use(sessionId));
    if (!actor) return undefined;
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') assertOwnPage(c);
    return actor;
  }

  async signIn(c: Context<Authenticated>, actor: Caller): Promise<void> {
    await this.signOut(c);
    const options = { httpOnly: true, sameSite: 'Lax', maxAge: longestSessionHours * 3600, path: '/' } as const;
    const prefixed = this.#prefix && { prefix: this.#prefix, secure: true };
    const sessionId = await this.#store.sessions.begin(actor);
    await setSignedCookie(c, sessionCookie, sessionId, await this.#signingKey(), { ...options, ...prefixed });
  }

  /** The secret of this browser, for its sign-in links. @returns '' if no sign-in has begun in this browser */
  browser(c: Context<Authenticated>): string {
    return /^[\w-]{43}$/.exec(getCookie(c, browserCookie, this.#prefix) ?? '')?.[0] ?? '';
  }

  /** Makes the browser's secret. Keeps an existing secret, so that earlier links of this browser stay valid. */
  knowBrowser(c: Context<Authenticated>): string {
    const secret = this.browser(c) || randomBytes(32).toString('base64url');
    const options = { httpOnly: true, sameSite: 'Lax', maxAge: browserSeconds, path: '/' } as const;
    setCookie(c, browserCookie, secret, { ...options, ...(this.#prefix && { prefix: this.#prefix, secure: true }) });
    return secret;
  }

  async signOut(c: Context<Authenticated>): Promise<void> {
    const sessionId = await this.#sessionId(c);
    if (sessionId) await this.#store.sessions.end(sessionId);
    deleteCookie(c, sessionCookie, this.#prefix && { prefix: this.#prefix, secure: true });
  }

  async #sessionId(c: Context<Authenticated>): Promise<string | undefined | false> {
    if (getCookie(c, sessionCookie, this.#prefix) === undefined) return undefined;
    return getSignedCookie(c, await this.#signingKey(), sessionCookie, this.#prefix);
  }

  /** The signing key has a random part, so that an attacker cannot use a cookie to test guesses of the admin token. */
  #signingKey(): Promise<Uint8Array<ArrayBuffer>> {
    this.#signing ??= this.#store.sessions.signingKey().then(
      (stored) => new Uint8Array(deriveKey(`${stored}\n${this.#endsSessions}`, 'session')),
      (error: unknown) => {
        this.#signing = undefined; // The next request reads the key again.
        throw error;
      },
    );
    return this.#signing;
  }
}

/** Refuses changes from pages of other sites. The headers `Origin` and `Sec-Fetch-Site` show the site of a page. */
export function assertOwnPage(c: Context<Authenticated>): void {
  const origin = c.req.header('Origin');
  if (origin !== undefined && origin === c.get('trustedOrigin')) return;
  const isHere = origin !== undefined && URL.canParse(origin) && new URL(origin).host === c.req.header('Host');
  const site = c.req.header('Sec-Fetch-Site');
  if (site === 'same-origin' || (site === undefined && isHere)) return;
  throw new Problem('foreign-page', 'This change did not come from a page of the relay. Nothing was changed.');
}

export function unauthorized(needed: string, c: Context<Authenticated>): Problem {
  const headers = { 'WWW-Authenticate': 'Bearer realm="relay"' };
  const given = c.req.header('Authorization') ?? c.req.header('Cookie') ?? (c.req.method === 'POST' || undefined);
  const refusal: Refusal = { reason: given === undefined ? 'no credential' : 'wrong credential' };
  const detail = `This request needs ${needed}. Send the header Authorization: Bearer …, or sign in at ${c.get('signInAt') ?? '/sign-in'}`;
  return new Problem('unauthorized', detail, { headers, refusal });
}

/** Keeps the link to Temporal's Web UI only for operators, because the relay decodes payloads only for operators. */
export const linksFor = (actor: Caller | undefined, { api, webUi }: Links) =>
  actor?.kind === 'admin' ? { api, webUi } : { api };
