/** The tokens of rules, which start chains, and the keys with which a company reads and steers its own, kept as hashes. */

import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Actor } from '../contract/audit.js';
import {
  adminTokenSchema,
  hashOf,
  keySchema,
  makeCredential,
  makeId,
  mostKeys,
  type NewKey,
  type Token,
  tokenSchema,
} from '../contract/credential.js';
import { deleteNamed, recordChange, recordEvent } from './audit.js';
import { type Database, exists, type Queries, Table } from './database.js';
import { type HashWith, type Pepper, PepperError } from './pepper.js';
import type { CompanySettings, Settings, TokenHash } from './settings.js';

export type Credentials = { relayId: string; relayAccessToken: string };

/** Why one action's credentials do not do. For the relay's own use, never to be told outwardly. */
export type Refusal =
  | 'unknown' // no such company or rule
  | 'wrong' // never a token of this rule
  | 'revoked'
  | 'expired' // rotated, and its grace is over
  | 'disabled'; // right, but the rule is disabled

/**
 * `webhookSecret`: signs the company's webhooks, still to be checked. `tokenIds`: of the right tokens, each once. `refusals`: one for
 * each, undefined where it is right.
 */
type Authentication = { webhookSecret?: string } & (
  | { ok: true; tokenIds: string[] }
  | { ok: false; refusals: (Refusal | undefined)[] }
);

const state = `CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired' ELSE 'active' END`;
const tokensWithState = new Table(`(SELECT ${state} AS state, * FROM tokens) AS tokens`, tokenSchema);
const tokens = new Table('tokens', tokenSchema.omit({ state: true }));
const ofRule = 'company_id = $1 AND relay_id = $2';

/** Compared with where there is nothing to compare with. */
const dummy = hashOf(makeCredential('rlt_'));
/** How many dead tokens of a rule are remembered, so that their use can be told from a stranger's. */
const rememberedTokens = 20;

export const tokensIn = (database: Database, settings: Settings, pepper: Pepper) => ({
  /**
   * Whether all of these credentials, of any text, are right for this company; not where there are none. Whoever is refused waits
   * for what other processes may have changed, for whatever reason: how long it takes tells nothing.
   */
  authenticate: async (companyId: string, credentials: readonly Credentials[]): Promise<Authentication> => {
    const first = authenticate(database, pepper, await settings.of(companyId), credentials);
    if (first.ok) return first;
    await settings.refresh();
    return authenticate(database, pepper, await settings.of(companyId), credentials);
  },

  /** Whether a rule of the company has this token, or had it. */
  isKnown: async (companyId: string, relayAccessToken: string) =>
    matching((await settings.of(companyId))?.tokens ?? [], pepper.hashesOf(relayAccessToken)) !== undefined,

  /** Undefined: no such rule. */
  list: async (companyId: string, relayId: string) => {
    if (!(await exists(database, `rules WHERE ${ofRule}`, [companyId, relayId]))) return undefined;
    return tokensWithState.select(database, `${ofRule} ORDER BY seq DESC`, [companyId, relayId]);
  },

  /** Makes a new token; those before it go on for `graceSeconds`, or as before where that is null. Undefined: no such rule. */
  rotate: (companyId: string, relayId: string, graceSeconds: number | null, actor: Actor) =>
    database.transaction(async (queries) => {
      if (!(await exists(queries, `rules WHERE ${ofRule} FOR UPDATE`, [companyId, relayId]))) return undefined;
      // LEAST passes over NULL: a token that was to expire earlier still does, and one without an end keeps none.
      const end = 'LEAST(expires_at, now() + make_interval(secs => $3::int))';
      await queries.query(`UPDATE tokens SET expires_at = ${end} WHERE ${ofRule}`, [companyId, relayId, graceSeconds]);
      const relayAccessToken = makeCredential('rlt_');
      const tokenId = await addToken(queries, pepper, { companyId, relayId, relayAccessToken });
      await queries.query(
        `DELETE FROM tokens WHERE token_id IN (
           SELECT token_id FROM tokens WHERE ${ofRule} AND ${state} <> 'active' ORDER BY seq DESC OFFSET $3::int)`,
        [companyId, relayId, rememberedTokens],
      );
      await recordChange(queries, { actor, action: 'token.rotate', companyId, details: { relayId, tokenId, graceSeconds } });
      return { tokenId, relayAccessToken };
    }),

  /** Ends a token at once; again changes nothing. @returns whether the rule has, or had, this token. */
  revoke: (companyId: string, relayId: string, tokenId: string, actor: Actor) =>
    database.transaction(async (queries) => {
      const named = `${ofRule} AND token_id = $3`;
      const ids = [companyId, relayId, tokenId];
      const revoke = `UPDATE tokens SET revoked_at = now() WHERE ${named} AND revoked_at IS NULL RETURNING 1`;
      if ((await queries.query(revoke, ids)).length === 0) return exists(queries, `tokens WHERE ${named}`, ids);
      await recordChange(queries, { actor, action: 'token.revoke', companyId, details: { relayId, tokenId } });
      return true;
    }),
});

function authenticate(
  database: Database,
  pepper: Pepper,
  settings: CompanySettings | undefined,
  credentials: readonly Credentials[],
): Authentication {
  const used = new Set<TokenHash>();
  const refusals = credentials.map(({ relayId, relayAccessToken }) => {
    const rule = settings?.rules.get(relayId);
    const tokens = settings?.tokens.filter((token) => token.relayId === relayId) ?? [];
    const hashWith = pepper.hashesOf(relayAccessToken);
    const token = matching(tokens, hashWith);
    if (!rule) return 'unknown';
    if (!token) {
      const active = tokens.filter((token) => stateOf(token) === 'active');
      if (active.length > 0 && active.every(({ pepperId }) => !hashWith(pepperId)))
        throw new PepperError(
          `The token of rule ${relayId} of company ${settings?.company.companyId} was hashed with another RELAY_SECRET.`,
        );
      return 'wrong';
    }
    const state = stateOf(token);
    if (state !== 'active') return state;
    if (!rule.enabled) return 'disabled';
    used.add(token);
    renewHash(database, pepper, 'tokens', 'token_id', token.tokenId, token.pepperId, relayAccessToken);
    return undefined;
  });
  const webhookSecret = settings?.company.webhookSecret;
  const signed = webhookSecret !== undefined && { webhookSecret };
  if (refusals.length === 0 || refusals.some((refusal) => refusal !== undefined)) return { ok: false, refusals, ...signed };
  const unnoted = [...used].filter(isUnnoted);
  for (const token of unnoted) token.lastUsedAt = new Date();
  const ids = (tokens: Iterable<TokenHash>) => Array.from(tokens, ({ tokenId }) => tokenId);
  if (unnoted.length > 0) noteUse(database, 'tokens', 'token_id', ids(unnoted));
  return { ok: true, tokenIds: ids(used), ...signed };
}

export async function addToken(queries: Queries, pepper: Pepper, given: Credentials & { companyId: string }) {
  const { relayAccessToken, ...rule } = given;
  const tokenId = makeId();
  await tokens.insert(queries, { tokenId, ...rule, ...pepper.stored(relayAccessToken) });
  return tokenId;
}

function stateOf({ revokedAt, expiresAt }: TokenHash): Token['state'] {
  if (revokedAt) return 'revoked';
  return expiresAt && expiresAt.getTime() <= Date.now() ? 'expired' : 'active';
}

/** The token with this hash; compares with all of them, and with the dummy where there is nothing to compare. */
function matching(tokens: readonly TokenHash[], hashWith: HashWith): TokenHash | undefined {
  const matches = tokens.filter(({ hash, pepperId }) => timingSafeEqual(hash, hashWith(pepperId) ?? dummy));
  if (tokens.length === 0) timingSafeEqual(dummy, dummy);
  // A token taken over twice may be there both dead and alive.
  return matches.find((token) => stateOf(token) === 'active') ?? matches[0];
}

const unexpired = '(expires_at IS NULL OR expires_at > now())';
const keys = new Table('company_keys', keySchema);
const pepperId = z.string().optional();
const ownedKeys = new Table('company_keys', keySchema.extend({ companyId: z.string(), pepperId }));

export const keysIn = (database: Database, pepper: Pepper) => ({
  /** Whose key this is; undefined for anything else. */
  authenticate: async (key: string) => {
    // Found by its hash: how long that takes tells nothing about the key.
    const [isKey, hashes] = pepper.lookup(key);
    const found = await ownedKeys.find(database, `(${isKey}) AND ${unexpired}`, hashes);
    if (!found) {
      if (pepper.id === undefined && (await exists(database, 'company_keys WHERE pepper_id IS NOT NULL LIMIT 1', [])))
        throw new PepperError('The keys of companies were hashed with a RELAY_SECRET, and none is set here.');
      return undefined;
    }
    const { keyId, name, companyId, role } = found;
    if (isUnnoted(found)) noteUse(database, 'company_keys', 'key_id', [keyId]);
    renewHash(database, pepper, 'company_keys', 'key_id', keyId, found.pepperId, key);
    return { keyId, name, companyId, role };
  },

  /** Undefined: no such company. */
  list: async (companyId: string) => {
    if (!(await exists(database, 'companies WHERE company_id = $1', [companyId]))) return undefined;
    return keys.select(database, 'company_id = $1 ORDER BY name', [companyId]);
  },

  /** Makes a key, which ends no later than the one that makes it; `key` is the only sight there is of it. */
  create: (companyId: string, name: string, actor: Actor, { role = 'steer', expiresAt }: Partial<NewKey> = {}) =>
    database.transaction(async (queries) => {
      if (!(await exists(queries, 'companies WHERE company_id = $1 FOR KEY SHARE', [companyId]))) return 'unknown company';
      const maker = actor.kind === 'key' ? await keys.find(queries, 'key_id = $1', [actor.keyId]) : undefined;
      const ends = [expiresAt, maker?.expiresAt].flatMap((time) => (time === undefined ? [] : [Date.parse(time)]));
      const end = ends.length > 0 ? new Date(Math.min(...ends)) : undefined;
      if (await exists(queries, `company_keys WHERE company_id = $1 OFFSET ${mostKeys - 1} LIMIT 1`, [companyId]))
        return 'too many';
      const key = makeCredential('rlk_');
      const row = { keyId: makeId(), companyId, name, role, expiresAt: end?.toISOString(), ...pepper.stored(key) };
      const made = await keys.insert(queries, row);
      if (!made) return 'name taken';
      await recordChange(queries, { actor, action: 'key.create', companyId, details: { keyId: made.keyId, name, role } });
      return { ...made, key };
    }),

  /** @returns whether there was such a key. */
  delete: (companyId: string, keyId: string, actor: Actor) => {
    const event = { actor, action: 'key.delete', companyId, details: { keyId } };
    return deleteNamed(database, 'company_keys WHERE company_id = $1 AND key_id = $2', [companyId, keyId], event);
  },
});

const adminTokens = new Table('admin_tokens', adminTokenSchema);
const ownedAdminTokens = new Table('admin_tokens', adminTokenSchema.extend({ pepperId }));

export const adminTokensIn = (database: Database, pepper: Pepper) => ({
  /** Whose token this is; undefined for anything else. */
  authenticate: async (token: string) => {
    const [isToken, hashes] = pepper.lookup(token);
    const found = await ownedAdminTokens.find(database, `(${isToken}) AND ${unexpired}`, hashes);
    if (!found) return undefined;
    const { adminTokenId, name } = found;
    if (isUnnoted(found)) noteUse(database, 'admin_tokens', 'admin_token_id', [adminTokenId]);
    renewHash(database, pepper, 'admin_tokens', 'admin_token_id', adminTokenId, found.pepperId, token);
    return { adminTokenId, name };
  },

  list: () => adminTokens.select(database, 'true ORDER BY name', []),

  /** Makes a token; `token` is the only sight there is of it. Undefined: the name is taken. */
  create: ({ name, expiresAt }: Omit<NewKey, 'role'>, actor: Actor) =>
    database.transaction(async (queries) => {
      const token = makeCredential('rla_');
      const made = await adminTokens.insert(queries, { adminTokenId: makeId(), name, expiresAt, ...pepper.stored(token) });
      if (!made) return undefined;
      const details = { adminTokenId: made.adminTokenId, name };
      await recordEvent(queries, { actor, action: 'admin-token.create', details });
      return { ...made, token };
    }),

  /** @returns whether there was such a token. */
  delete: (adminTokenId: string, actor: Actor) => {
    const event = { actor, action: 'admin-token.delete', details: { adminTokenId } };
    return deleteNamed(database, 'admin_tokens WHERE admin_token_id = $1', [adminTokenId], event);
  },
});

/** Stores the hash of what is used with the first pepper, where it has an older one. Nobody waits for it, and nobody fails with it. */
function renewHash(
  database: Database,
  pepper: Pepper,
  table: 'tokens' | 'company_keys' | 'admin_tokens',
  id: 'token_id' | 'key_id' | 'admin_token_id',
  used: string,
  usedPepper: string | undefined,
  credential: string,
): void {
  if (usedPepper === undefined || usedPepper === pepper.id) return; // Plain ones are wrapped when a process starts.
  const { hash, pepperId } = pepper.stored(credential);
  const update = `UPDATE ${table} SET hash = $2::text::bytea, pepper_id = $3 WHERE ${id} = $1 AND pepper_id = $4`;
  database.query(update, [used, hash, pepperId ?? null, usedPepper]).catch(() => {});
}

function isUnnoted({ lastUsedAt }: { lastUsedAt?: string | Date }): boolean {
  return lastUsedAt === undefined || new Date(lastUsedAt).getTime() < Date.now() - 60_000;
}

/** Notes a use, at most once a minute. Nobody waits for it, nobody fails with it, and it waits for nobody. */
function noteUse(
  database: Database,
  table: 'tokens' | 'company_keys' | 'admin_tokens',
  id: 'token_id' | 'key_id' | 'admin_token_id',
  used: readonly string[],
): void {
  const unnoted = `${id} = ANY ($1::text[]) AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`;
  const toNote = `SELECT ${id} FROM ${table} WHERE ${unnoted} FOR UPDATE SKIP LOCKED`;
  database.query(`UPDATE ${table} SET last_used_at = now() WHERE ${id} IN (${toNote})`, [used]).catch(() => {});
}
