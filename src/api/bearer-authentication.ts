/**
 * Who asks: an operator by an admin token, or a company by a key of it; as a bearer token, or by the cookie of a session that one
 * of them began. Senders of chains are in relay-authentication.ts.
 */

import { timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import type { Links } from '../chain/chain.js';
import type { Caller } from '../contract/audit.js';
import { hashOf, isMistyped, roles } from '../contract/credential.js';
import { deriveKey } from '../contract/encryption.js';
import { Problem, type Refusal } from '../contract/problem.js';
import { isLocal } from '../service/client-address.js';
import { bearerOf } from '../service/metrics-access.js';
import { longestSessionHours } from '../store/sessions.js';
import type { Store } from '../store/store.js';

/** The environment of Hono handlers behind a guard: `c.get('actor')`. */
export interface Authenticated {
  /** `trustedOrigin`: another origin of which the pages may use a session for this request. `traceparent`: see service/tracing.ts. */
  Variables: { actor: Caller; trustedOrigin?: string; traceparent?: string };
}

/** Who may call a route. `relay tokens` are in the body, and the route itself authenticates them (relay-authentication.ts). */
export type Access =
  | 'public'
  | 'relay tokens'
  | 'admin or company key'
  | 'admin or manage key'
  | 'admin'
  | 'admin or this machine';

/** Lets only these callers pass; answers 401 to everybody else, and 403 to the company's keys that may do less. */
export type Guard = (access: Access) => MiddlewareHandler<Authenticated>;

export function createGuard(callers: Pick<Callers, 'of'>): Guard {
  return (access) => async (c, next) => {
    const isOpen = access === 'public' || access === 'relay tokens' || (access === 'admin or this machine' && isLocal(c));
    if (!isOpen) {
      const actor = c.get('actor') ?? (await callers.of(c));
      if (!actor)
        throw unauthorized(
          access === 'admin' || access === 'admin or this machine'
            ? 'the admin token'
            : 'the admin token or a key of this company',
          c,
        );
      if (actor.kind === 'key') assertAllowed(actor, access, c.req.method);
      c.set('actor', actor);
    }
    await next();
  };
}

function assertAllowed({ name, role }: Extract<Caller, { kind: 'key' }>, access: Access, method: string): void {
  const needed = access !== 'admin or company key' ? 'manage' : method === 'GET' || method === 'HEAD' ? 'read' : 'steer';
  const isOpen = access === 'admin or company key' || access === 'admin or manage key';
  if (isOpen && roles.indexOf(role) >= roles.indexOf(needed)) return;
  const wanted = !isOpen ? 'an admin token' : `a key with the role ${needed}, or an admin token`;
  throw new Problem('forbidden', `The key ${name} has the role ${role}: this needs ${wanted}.`);
}

export const sessionCookie = 'relay-session';

/** What tells callers apart. */
export interface CallersOptions {
  adminToken: string;
  /** RELAY_SECRET, if there is one; of several the first counts. */
  secret?: string;
  store: Pick<Store, 'keys' | 'adminTokens' | 'sessions'>;
  links: Pick<Links, 'api'>;
  /** Which addresses have failed too often. */
  limits?: { failing(c: Context): Promise<object | undefined> };
}

export class Callers {
  readonly #store: CallersOptions['store'];
  readonly #adminHash: Buffer;
  /** Another RELAY_ADMIN_TOKEN or first RELAY_SECRET ends every session. */
  readonly #signingKey: Uint8Array<ArrayBuffer>;
  /** Its prefix makes browsers refuse a cookie that another host or a connection in clear has set. */
  readonly #prefix: 'host' | undefined;
  readonly #limits: CallersOptions['limits'];
  #ofFailing: Promise<unknown> = Promise.resolve();

  constructor({ adminToken, secret = '', store, links, limits }: CallersOptions) {
    if (adminToken === '') throw new Error('The admin token must not be empty: set RELAY_ADMIN_TOKEN');
    this.#store = store;
    this.#limits = limits;
    this.#adminHash = hashOf(adminToken);
    this.#signingKey = new Uint8Array(deriveKey(`${secret.split(',')[0]}\n${adminToken}`, 'session'));
    this.#prefix = links.api.startsWith('https:') ? 'host' : undefined;
  }

  /** Who asks, by bearer token or session: an operator, or the company in the path (`:companyId`); undefined for anybody else. */
  async of(c: Context<Authenticated>): Promise<Caller | undefined> {
    const bearer = bearerOf(c);
    const usesSession = c.req.header('Authorization') === undefined;
    const actor = usesSession ? await this.inSession(c) : bearer && (await this.#holdingInTurn(c, bearer));
    return actor && (actor.kind === 'admin' || actor.companyId === c.req.param('companyId')) ? actor : undefined;
  }

  /** Whose this admin token or key is. */
  async holding(credential: string): Promise<Caller | undefined> {
    if (timingSafeEqual(hashOf(credential), this.#adminHash)) return { kind: 'admin' };
    // What is none of ours is looked for nowhere.
    if (!/^rl[ka]_/.test(credential) || isMistyped(credential)) return undefined;
    const { keys, adminTokens } = this.#store;
    if (credential.startsWith('rla_')) {
      const token = await adminTokens.authenticate(credential);
      return token && { kind: 'admin', ...token };
    }
    const key = await keys.authenticate(credential);
    return key && { kind: 'key', ...key };
  }

  /** Those of addresses that have failed too often are looked up one after the other: they take one connection to the database. */
  async #holdingInTurn(c: Context<Authenticated>, credential: string): Promise<Caller | undefined> {
    if (!(await this.#limits?.failing(c))) return this.holding(credential);
    const found = this.#ofFailing.then(() => this.holding(credential));
    this.#ofFailing = found.catch(() => undefined);
    return found;
  }

  /** Who is signed in. @throws Problem 403 where the page of another site would change something in their name. */
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
    await setSignedCookie(c, sessionCookie, sessionId, this.#signingKey, { ...options, ...prefixed });
  }

  async signOut(c: Context<Authenticated>): Promise<void> {
    const sessionId = await this.#sessionId(c);
    if (sessionId) await this.#store.sessions.end(sessionId);
    deleteCookie(c, sessionCookie, this.#prefix && { prefix: this.#prefix, secure: true });
  }

  #sessionId(c: Context<Authenticated>): Promise<string | undefined | false> {
    return getSignedCookie(c, this.#signingKey, sessionCookie, this.#prefix);
  }
}

/** Browsers send one of the two headers with whatever a page asks for; the cookie goes with it also from pages of other sites. */
export function assertOwnPage(c: Context<Authenticated>): void {
  const origin = c.req.header('Origin');
  if (origin !== undefined && origin === c.get('trustedOrigin')) return;
  const site = c.req.header('Sec-Fetch-Site') ?? (isHere(origin, c.req.header('Host')) ? 'same-origin' : 'none of ours');
  if (site === 'same-origin') return;
  throw new Problem('foreign-page', 'By the cookie of a session, only a page of the relay itself may change something.');
}

function isHere(origin: string | undefined, host: string | undefined): boolean {
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}

export function unauthorized(needed: string, c: Context<Authenticated>): Problem {
  const headers = { 'WWW-Authenticate': 'Bearer realm="relay"' };
  const given = c.req.header('Authorization') ?? c.req.header('Cookie') ?? (c.req.method === 'POST' || undefined);
  const refusal: Refusal = { reason: given === undefined ? 'no credential' : 'wrong credential' };
  return new Problem('unauthorized', `This needs ${needed}: Authorization: Bearer …, or sign in at /sign-in`, {
    headers,
    refusal,
  });
}
