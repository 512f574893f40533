/** Rule tokens, company keys and admin tokens, stored as hashes. */

import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Actor } from '../contract/audit.js';
import type { NewKey, Token, TokenPurpose } from '../contract/credential.js';
import { adminTokenSchema, hashOf, keySchema, makeCredential, makeId, mostKeys, tokenSchema } from '../contract/credential.js';
import { deleteNamed, recordChange, recordEvent } from './audit.js';
import { type Database, exists, type Queries, Table } from './database.js';
import { type HashWith, hashTables, type Pepper, PepperError } from './pepper.js';
import type { CompanySettings, Settings, TokenHash } from './settings.js';

export type Credentials = { relayId: string; relayAccessToken: string };

/** The reason for refusing credentials. The caller never sees this reason. */
export type Refusal =
  | 'unknown' // no such company or rule
  | 'wrong' // the text was never a token of this rule, or a list of actions contains an event token
  | 'revoked'
  | 'expired' // the token was rotated, and its grace period has ended
  | 'disabled'; // the token is right, but the rule is disabled

/** The request must be signed with `webhookSecret`. `refusals` has an entry for each credential; undefined means accepted. */
type Authentication = { webhookSecret?: string } & (
  | { ok: true; tokenIds: string[] }
  | { ok: false; refusals: (Refusal | undefined)[] }
);

export interface KnownToken {
  relayId: string;
  state: Token['state'];
  enabled: boolean; // whether the rule is enabled
}
export type Recognizer = { webhookSecret?: string | undefined; of(text: string): KnownToken[] };

const state = `CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired' ELSE 'active' END`;
const tokensWithState = new Table(`(SELECT ${state} AS state, * FROM tokens) AS tokens`, tokenSchema);
const tokens = new Table('tokens', tokenSchema.omit({ state: true }));
const ofRule = 'company_id = $1 AND relay_id = $2';

const dummy = hashOf(makeCredential('rlt_')); // used if there is no hash, so that the check always takes the same time
const rememberedTokens = 20; // a rule keeps this many expired or revoked tokens, so that the relay recognizes requests with them

export const tokensIn = (database: Database, settings: Settings, pepper: Pepper) => ({
  /** Refuses an empty list. Before every refusal, reads changes of other processes, so the duration reveals no reason. */
  authenticate: async (companyId: string, credentials: readonly Credentials[], purposes: readonly TokenPurpose[] = ['rule']) => {
    const first = authenticate(database, pepper, await settings.of(companyId), credentials, purposes);
    if (first.ok) return first;
    await settings.refresh();
    return authenticate(database, pepper, await settings.of(companyId), credentials, purposes);
  },

  /** Recognizes texts that are tokens of the company, except event tokens. @param fresh - whether to read all changes first */
  recognizer: async (companyId: string, fresh: boolean): Promise<Recognizer> => {
    if (fresh) await settings.refresh();
    const known = await settings.of(companyId);
    return { webhookSecret: known?.company.webhookSecret, of: (text) => recognized(known, pepper, text) };
  },

  /** @returns undefined if there is no such rule. */
  list: async (companyId: string, relayId: string) => {
    if (!(await exists(database, `rules WHERE ${ofRule}`, [companyId, relayId]))) return undefined;
    return tokensWithState.select(database, `${ofRule} ORDER BY seq DESC`, [companyId, relayId]);
  },

  /** Creates a token. Older tokens of its purpose expire after `graceSeconds`, or as before if null. @returns undefined for an unknown rule */
  rotate: (companyId: string, relayId: string, graceSeconds: number | null, actor: Actor, purpose: TokenPurpose = 'rule') =>
    database.transaction(async (queries) => {
      if (!(await exists(queries, `rules WHERE ${ofRule} FOR UPDATE`, [companyId, relayId]))) return undefined;
      // LEAST ignores NULL. This statement never makes a token expire later.
      const end = 'LEAST(expires_at, now() + make_interval(secs => $3::int))';
      const expire = `UPDATE tokens SET expires_at = ${end} WHERE ${ofRule} AND purpose = $4`;
      await queries.query(expire, [companyId, relayId, graceSeconds, purpose]);
      const relayAccessToken = makeCredential(purpose === 'event' ? 'rle_' : 'rlt_');
      const tokenId = await addToken(queries, pepper, { companyId, relayId, relayAccessToken, purpose });
      const forget = `DELETE FROM tokens WHERE token_id IN (SELECT token_id FROM tokens
        WHERE ${ofRule} AND purpose = $4 AND ${state} <> 'active' ORDER BY seq DESC OFFSET $3::int)`;
      await queries.query(forget, [companyId, relayId, rememberedTokens, purpose]);
      const details = { relayId, tokenId, graceSeconds, ...(purpose === 'event' && { purpose }) };
      await recordChange(queries, { actor, action: 'token.rotate', companyId, details });
      return { tokenId, relayAccessToken };
    }),

  /** Revokes a token. A second call changes nothing. @returns whether the token belongs to the rule. */
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
  purposes: readonly TokenPurpose[],
): Authentication {
  const { companyId, webhookSecret } = settings?.company ?? {};
  const used = new Set<TokenHash>();
  const refusals = credentials.map(({ relayId, relayAccessToken }) => {
    const rule = settings?.rules.get(relayId);
    const isAccepted = (token: TokenHash) => token.relayId === relayId && purposes.includes(token.purpose);
    const tokens = settings?.tokens.filter(isAccepted) ?? [];
    const hashWith = pepper.hashesOf(relayAccessToken);
    const token = matching(tokens, hashWith);
    if (!rule) return 'unknown';
    if (!token) {
      const active = tokens.filter((token) => stateOf(token) === 'active');
      if (active.length > 0 && active.every(({ pepperId }) => !hashWith(pepperId)))
        throw new PepperError(`The token of rule ${relayId} of company ${companyId} was hashed with another RELAY_SECRET.`);
      return 'wrong';
    }
    const state = stateOf(token);
    if (state !== 'active') return state;
    if (!rule.enabled) return 'disabled';
    used.add(token);
    renewHash(database, pepper, 'tokens', token.tokenId, token.pepperId, relayAccessToken);
    return undefined;
  });
  const signed = webhookSecret !== undefined && { webhookSecret };
  if (refusals.length === 0 || refusals.some((refusal) => refusal !== undefined)) return { ok: false, refusals, ...signed };
  const unnoted = [...used].filter(isUnnoted);
  for (const token of unnoted) token.lastUsedAt = new Date();
  const ids = (tokens: Iterable<TokenHash>) => Array.from(tokens, ({ tokenId }) => tokenId);
  if (unnoted.length > 0) noteUse(database, 'tokens', ids(unnoted));
  return { ok: true, tokenIds: ids(used), ...signed };
}

/** The tokens of a company, by pepper and hash. One lookup finds all tokens with the same hash. */
const hashes = new WeakMap<readonly TokenHash[], Map<string, TokenHash[]>>();

function recognized(known: CompanySettings | undefined, pepper: Pepper, text: string): KnownToken[] {
  const tokens = known?.tokens ?? [];
  const hashWith = pepper.hashesOf(text);
  let byHash = hashes.get(tokens);
  if (!byHash) {
    byHash = new Map();
    for (const token of tokens) {
      if (token.purpose === 'event') continue;
      const key = `${token.pepperId} ${token.hash.toString('hex')}`;
      byHash.set(key, [...(byHash.get(key) ?? []), token]);
    }
    hashes.set(tokens, byHash);
  }
  return [undefined, ...pepper.ids].flatMap((id) => {
    const found = byHash.get(`${id} ${hashWith(id)?.toString('hex')}`) ?? [];
    const isEnabled = (relayId: string) => known?.rules.get(relayId)?.enabled ?? false;
    return found.map((token) => ({ relayId: token.relayId, state: stateOf(token), enabled: isEnabled(token.relayId) }));
  });
}

type NewToken = Credentials & { companyId: string; purpose?: TokenPurpose };

export async function addToken(queries: Queries, pepper: Pepper, { relayAccessToken, purpose = 'rule', ...rule }: NewToken) {
  const tokenId = makeId();
  await tokens.insert(queries, { tokenId, purpose, ...rule, ...pepper.stored(relayAccessToken) });
  return tokenId;
}

function stateOf({ revokedAt, expiresAt }: TokenHash): Token['state'] {
  if (revokedAt) return 'revoked';
  return expiresAt && expiresAt.getTime() <= Date.now() ? 'expired' : 'active';
}

/** Compares the credential with every token. If there are no tokens, still compares once, so that the duration reveals nothing. */
function matching(tokens: readonly TokenHash[], hashWith: HashWith): TokenHash | undefined {
  const matches = tokens.filter(({ hash, pepperId }) => timingSafeEqual(hash, hashWith(pepperId) ?? dummy));
  if (tokens.length === 0) timingSafeEqual(dummy, dummy);
  // A token that was imported twice may be active in one row, and revoked or expired in another.
  return matches.find((token) => stateOf(token) === 'active') ?? matches[0];
}

const unexpired = '(expires_at IS NULL OR expires_at > now())';
const keys = new Table('company_keys', keySchema);
const pepperId = z.string().optional();
const ownedKeys = new Table('company_keys', keySchema.extend({ companyId: z.string(), pepperId }));

export const keysIn = (database: Database, pepper: Pepper) => ({
  /** @returns undefined if the text is no valid key. */
  authenticate: async (key: string) => {
    // The query looks up a hash, so its duration reveals nothing about the key.
    const [isKey, hashes] = pepper.lookup(key);
    const found = await ownedKeys.find(database, `(${isKey}) AND ${unexpired}`, hashes);
    if (!found) {
      if (pepper.id === undefined && (await exists(database, 'company_keys WHERE pepper_id IS NOT NULL LIMIT 1', [])))
        throw new PepperError('The keys of companies were hashed with a RELAY_SECRET, but this process has none.');
      return undefined;
    }
    const { keyId, name, companyId, role } = found;
    if (isUnnoted(found)) noteUse(database, 'company_keys', [keyId]);
    renewHash(database, pepper, 'company_keys', keyId, found.pepperId, key);
    return { keyId, name, companyId, role };
  },

  /** @returns undefined if there is no such company. */
  list: async (companyId: string) => {
    if (!(await exists(database, 'companies WHERE company_id = $1', [companyId]))) return undefined;
    return keys.select(database, 'company_id = $1 ORDER BY name', [companyId]);
  },

  /** If a key creates another key, the new key expires no later than the creating key. Only this call returns `key`. */
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

  /** @returns whether the key existed. */
  delete: (companyId: string, keyId: string, actor: Actor) => {
    const event = { actor, action: 'key.delete' as const, companyId, details: { keyId } };
    return deleteNamed(database, 'company_keys WHERE company_id = $1 AND key_id = $2', [companyId, keyId], event);
  },
});

const adminTokens = new Table('admin_tokens', adminTokenSchema);
const ownedAdminTokens = new Table('admin_tokens', adminTokenSchema.extend({ pepperId }));

export const adminTokensIn = (database: Database, pepper: Pepper) => ({
  /** @returns undefined if the text is no valid admin token. */
  authenticate: async (token: string) => {
    const [isToken, hashes] = pepper.lookup(token);
    const found = await ownedAdminTokens.find(database, `(${isToken}) AND ${unexpired}`, hashes);
    if (!found) return undefined;
    const { adminTokenId, name } = found;
    if (isUnnoted(found)) noteUse(database, 'admin_tokens', [adminTokenId]);
    renewHash(database, pepper, 'admin_tokens', adminTokenId, found.pepperId, token);
    return { adminTokenId, name };
  },

  list: () => adminTokens.select(database, 'true ORDER BY name', []),

  /** Creates a token. Only this call returns `token`. @returns undefined if the name is taken. */
  create: ({ name, expiresAt }: Omit<NewKey, 'role'>, actor: Actor) =>
    database.transaction(async (queries) => {
      const token = makeCredential('rla_');
      const made = await adminTokens.insert(queries, { adminTokenId: makeId(), name, expiresAt, ...pepper.stored(token) });
      if (!made) return undefined;
      const details = { adminTokenId: made.adminTokenId, name };
      await recordEvent(queries, { actor, action: 'admin-token.create', details });
      return { ...made, token };
    }),

  /** @returns whether the token existed. */
  delete: (adminTokenId: string, actor: Actor) => {
    const event = { actor, action: 'admin-token.delete' as const, details: { adminTokenId } };
    return deleteNamed(database, 'admin_tokens WHERE admin_token_id = $1', [adminTokenId], event);
  },
});

/** If a hash uses an older pepper, replaces the hash in the background. Ignores a failure. */
function renewHash(
  database: Database,
  pepper: Pepper,
  table: keyof typeof hashTables,
  id: string,
  usedPepper: string | undefined,
  credential: string,
): void {
  if (usedPepper === undefined || usedPepper === pepper.id) return; // `pepperHashes` has added the pepper to hashes without one
  const { hash, pepperId } = pepper.stored(credential);
  const update = `UPDATE ${table} SET hash = $2::text::bytea, pepper_id = $3 WHERE ${hashTables[table]} = $1 AND pepper_id = $4`;
  database.query(update, [id, hash, pepperId ?? null, usedPepper]).catch(() => {});
}

const isUnnoted = ({ lastUsedAt }: { lastUsedAt?: string | Date }) =>
  lastUsedAt === undefined || new Date(lastUsedAt).getTime() < Date.now() - 60_000;

/** Records the last use of credentials in the background, at most once a minute. Skips locked rows and ignores failures. */
function noteUse(database: Database, table: keyof typeof hashTables, used: readonly string[]): void {
  const id = hashTables[table];
  const unnoted = `${id} = ANY ($1::text[]) AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`;
  const toNote = `SELECT ${id} FROM ${table} WHERE ${unnoted} FOR UPDATE SKIP LOCKED`;
  database.query(`UPDATE ${table} SET last_used_at = now() WHERE ${id} IN (${toNote})`, [used]).catch(() => {});
}
