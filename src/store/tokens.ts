/** The access tokens of the rules: who may start a chain. Only their hashes are kept. */

import { timingSafeEqual } from 'node:crypto';
import type { Actor } from '../contract/audit.js';
import { hashOf, makeCredential, makeId, type Token, tokenSchema } from '../contract/credential.js';
import { recordChange } from './audit.js';
import { type Database, exists, type Queries, read } from './database.js';
import { noteEveryMs, noteUse } from './last-use.js';
import type { CompanySettings, Settings, TokenHash } from './settings.js';

/** What an action brings along. */
export interface Credentials {
  relayId: string;
  relayAccessToken: string;
}

/**
 * Why one action's credentials do not do. For the relay's own use, never to be told outwardly:
 * - `unknown`: no such company or rule.
 * - `wrong`: never a token of this rule.
 * - `revoked`, `expired`: once right; a token expires when it is rotated and its grace is over.
 * - `disabled`: right, but the rule is disabled.
 */
export type Refusal = 'unknown' | 'wrong' | 'revoked' | 'expired' | 'disabled';

type Authentication =
  /** `webhookSecret`: the company's webhooks are signed with it, which is still to be checked. */
  | { ok: true; webhookSecret?: string }
  /** `refusals[i]` belongs to the i-th credentials, undefined where those are right. */
  | { ok: false; refusals: (Refusal | undefined)[] };

const state = `CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired' ELSE 'active' END`;

/** Compared with where there is nothing to compare with. */
const dummy = hashOf(makeCredential('rlt_'));
/** How many dead tokens of a rule are remembered, so that their use can be told from a stranger's. */
const rememberedTokens = 20;

export class Tokens {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /**
   * Whether every one of these credentials is right for this company. No credentials: not ok. Any text may be given: what cannot
   * be an id is unknown. Whoever is refused waits for what other processes may have changed, for whatever reason: how long it
   * takes tells nothing.
   */
  async authenticate(companyId: string, credentials: readonly Credentials[]): Promise<Authentication> {
    const first = this.#authenticate(await this.settings.of(companyId), credentials);
    if (first.ok) return first;
    await this.settings.refresh();
    return this.#authenticate(await this.settings.of(companyId), credentials);
  }

  #authenticate(settings: CompanySettings | undefined, credentials: readonly Credentials[]): Authentication {
    const used = new Set<TokenHash>();
    const refusals = credentials.map(({ relayId, relayAccessToken }) => {
      const rule = settings?.rules.get(relayId);
      const tokens = settings?.tokens.filter((token) => token.relayId === relayId) ?? [];
      const token = matching(tokens, hashOf(relayAccessToken));
      if (!rule) return 'unknown';
      if (!token) return 'wrong';
      const state = stateOf(token);
      if (state !== 'active') return state;
      if (!rule.enabled) return 'disabled';
      used.add(token);
      return undefined;
    });
    if (refusals.length === 0 || refusals.some((refusal) => refusal !== undefined)) return { ok: false, refusals };
    const unnoted = [...used].filter(({ lastUsedAt = 0 }) => lastUsedAt < Date.now() - noteEveryMs);
    for (const token of unnoted) token.lastUsedAt = Date.now();
    noteUse(
      this.database,
      'tokens',
      'token_id',
      unnoted.map(({ tokenId }) => tokenId),
    );
    const webhookSecret = settings?.company.webhookSecret;
    return { ok: true, ...(webhookSecret !== undefined && { webhookSecret }) };
  }

  /** The newest first. Undefined: no such rule. */
  async list(companyId: string, relayId: string): Promise<Token[] | undefined> {
    const where = 'WHERE company_id = $1 AND relay_id = $2';
    if (!(await exists(this.database, `rules ${where}`, [companyId, relayId]))) return undefined;
    return read(
      this.database,
      tokenSchema,
      `SELECT token_id AS "tokenId", ${state} AS state, created_at AS "createdAt", expires_at AS "expiresAt",
         revoked_at AS "revokedAt", last_used_at AS "lastUsedAt" FROM tokens ${where} ORDER BY seq DESC`,
      [companyId, relayId],
    );
  }

  /** Makes a new token; those before it go on for `graceSeconds`. Undefined: no such rule. */
  async rotate(
    companyId: string,
    relayId: string,
    graceSeconds: number,
    actor: Actor,
  ): Promise<{ tokenId: string; relayAccessToken: string } | undefined> {
    const relayAccessToken = makeCredential('rlt_');
    return this.database.transaction(async (queries) => {
      const where = 'WHERE company_id = $1 AND relay_id = $2';
      if (!(await exists(queries, `rules ${where} FOR UPDATE`, [companyId, relayId]))) return undefined;
      // LEAST passes over NULL: a token that was to expire earlier still does.
      await queries.query(`UPDATE tokens SET expires_at = LEAST(expires_at, now() + make_interval(secs => $3::int)) ${where}`, [
        companyId,
        relayId,
        graceSeconds,
      ]);
      const tokenId = await addToken(queries, { companyId, relayId, relayAccessToken });
      await queries.query(
        `DELETE FROM tokens WHERE token_id IN (
           SELECT token_id FROM tokens ${where} AND ${state} <> 'active' ORDER BY seq DESC OFFSET $3::int)`,
        [companyId, relayId, rememberedTokens],
      );
      await recordChange(queries, { actor, action: 'token.rotate', companyId, details: { relayId, tokenId, graceSeconds } });
      return { tokenId, relayAccessToken };
    });
  }

  /** Ends a token at once; again changes nothing. @returns whether the rule has, or had, this token. */
  async revoke(companyId: string, relayId: string, tokenId: string, actor: Actor): Promise<boolean> {
    return this.database.transaction(async (queries) => {
      const where = 'WHERE company_id = $1 AND relay_id = $2 AND token_id = $3';
      const ids = [companyId, relayId, tokenId];
      const revoked = await queries.query(
        `UPDATE tokens SET revoked_at = now() ${where} AND revoked_at IS NULL RETURNING 1`,
        ids,
      );
      if (revoked.length === 0) return exists(queries, `tokens ${where}`, ids);
      await recordChange(queries, { actor, action: 'token.revoke', companyId, details: { relayId, tokenId } });
      return true;
    });
  }
}

/** Adds a token to a rule. @returns its id. */
export async function addToken(
  queries: Queries,
  { companyId, relayId, relayAccessToken }: Credentials & { companyId: string },
): Promise<string> {
  const tokenId = makeId();
  await queries.query('INSERT INTO tokens (token_id, company_id, relay_id, hash) VALUES ($1, $2, $3, $4)', [
    tokenId,
    companyId,
    relayId,
    hashOf(relayAccessToken),
  ]);
  return tokenId;
}

function stateOf({ revoked, expiresAt = Number.POSITIVE_INFINITY }: TokenHash): Token['state'] {
  return revoked ? 'revoked' : expiresAt <= Date.now() ? 'expired' : 'active';
}

/** The token with this hash; compares with all of them, and with the dummy where there is none. */
function matching(tokens: readonly TokenHash[], hash: Uint8Array): TokenHash | undefined {
  const matches = tokens.filter((token) => timingSafeEqual(token.hash, hash));
  if (tokens.length === 0) timingSafeEqual(dummy, hash);
  // A token taken over twice may be there both dead and alive.
  return matches.find((token) => stateOf(token) === 'active') ?? matches[0];
}
