/** Who may start a chain: the token of every action must be right, and the webhook's signature where the company asks for one. */

import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { type Issue, maxActions, maxTokenLength } from '../chain/request.js';
import { isTakenOver } from '../contract/credential.js';
import { DecryptionError } from '../contract/encryption.js';
import { Problem, Rejection, type RejectionReason, type SignatureVerdict } from '../contract/problem.js';
import { Shares } from '../service/shares.js';
import type { Refusal } from '../store/credentials.js';
import type { Guesses } from './guesses.js';
import type { ApiOptions } from './route.js';

/** How often the log says of a company that it cannot be looked up. */
const said = new Shares(1, 60_000);

/**
 * @returns what the signature is, of a request that may start a chain, and whose tokens they are. @throws Problem 503 where nobody can be looked up, 401 for
 * strangers; Rejection, outwardly the same 401, for who is known.
 */
export async function authenticateRequest(
  { store, log, guesses }: Pick<ApiOptions, 'store' | 'log'> & { guesses: Guesses },
  companyId: string,
  elements: readonly Record<string, unknown>[],
  { bytes, headers }: { bytes: ArrayBuffer; headers: Headers },
): Promise<{ signature: SignatureVerdict; tokenIds: string[] }> {
  // Of a chain that is too long anyway, no more than this is needed to know who sent it.
  const credentials = elements.slice(0, maxActions).map((element) => ({
    relayId: textOf(element.relayId),
    relayAccessToken: textOf(element.relayAccessToken).slice(0, maxTokenLength + 1), // No more, since it is hashed.
  }));
  const authentication = await store.tokens.authenticate(companyId, credentials).catch((error: unknown) => {
    if (said.take(companyId))
      log.error({ err: error, companyId }, 'nobody can be authenticated: the settings of the company cannot be read');
    if (error instanceof DecryptionError)
      throw new Problem('unreadable', 'The settings of the company cannot be decrypted at the moment. Nothing has run.');
    const detail = 'The relay cannot look its rules up at the moment. Nothing has run. Send the request again.';
    throw new Problem('database-unavailable', detail);
  });
  const { ok, webhookSecret } = authentication;
  const tokenIds = ok ? authentication.tokenIds : [];
  if (ok && webhookSecret === undefined) return { signature: 'not asked for', tokenIds };
  // Also where none is asked for: how long a refusal takes tells nothing.
  const mistake = wrongSignature(webhookSecret ?? noSecret, headers, bytes);
  const forged = webhookSecret === undefined ? undefined : mistake;
  if (ok && !forged) return { signature: 'right', tokenIds };
  const signature = webhookSecret === undefined ? 'not asked for' : forged ? 'wrong' : 'right';
  const refusals = ok ? [] : authentication.refusals;
  await guesses.slowDown(
    companyId,
    credentials.filter((_, index) => refusals[index] === 'unknown' || refusals[index] === 'wrong'),
  );
  throw refused(refusals, credentials, { signature, forged });
}

/**
 * Whether the first `relayAccessToken` of a body is a token of the company, dead ones too: what can be known before parsing. Who has
 * failed too often has to spell the name without escapes. Where nobody can be looked up, it may be.
 */
export async function mayBeAuthentic(
  { store, guesses }: Pick<ApiOptions, 'store'> & { guesses: Guesses },
  companyId: string,
  bytes: ArrayBuffer,
): Promise<boolean> {
  const body = Buffer.from(bytes);
  const at = body.indexOf('"relayAccessToken"');
  const text = at < 0 ? '' : body.toString('utf8', at, at + 4000);
  const [, token] = /^"relayAccessToken"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)/.exec(text) ?? [];
  if (token === undefined) return false;
  let given: string;
  try {
    given = textOf(JSON.parse(token));
  } catch {
    return false;
  }
  const canBeGuessed = isTakenOver(given);
  if (canBeGuessed && guesses.isFull) return false;
  const known = await store.tokens.isKnown(companyId, given).catch(() => true);
  if (!known && canBeGuessed) await guesses.slowDownAny(companyId);
  return known;
}

const unauthorized =
  'Company, relayId and relayAccessToken of every action must belong together, the rule must be enabled, and the webhook ' +
  'signed if the company asks for it.';
const challenge = { 'WWW-Authenticate': 'relayAccessToken' };

/** What is wrong with credentials that are a rule's, or once were. */
const known: Partial<Record<Refusal, { reason: RejectionReason; field: string; says(rule: string): string }>> = {
  expired: {
    reason: 'token-expired',
    field: 'relayAccessToken',
    says: (rule) => `of ${rule} was rotated, and its grace is over`,
  },
  revoked: { reason: 'token-revoked', field: 'relayAccessToken', says: (rule) => `of ${rule} was revoked` },
  disabled: { reason: 'rule-disabled', field: 'relayId', says: (rule) => `names ${rule}, which is disabled` },
};

/** A stranger's, unless all of them are known to the company. `forged`: what is wrong with the signature. */
function refused(
  refusals: readonly (Refusal | undefined)[],
  credentials: readonly { relayId: string }[],
  { signature, forged }: { signature: SignatureVerdict; forged: Issue | undefined },
): Problem {
  const found = refusals.flatMap((refusal, index) => {
    const mistake = refusal && known[refusal];
    if (!mistake) return [];
    const detail = mistake.says(`rule ${credentials[index]?.relayId}`);
    return [{ reason: mistake.reason, mistake: { pointer: `/${index}/${mistake.field}`, detail } }];
  });
  if (forged) found.push({ reason: 'signature', mistake: forged });
  // The one that needs most care when the request is sent again.
  const of = (wanted: RejectionReason) => found.find(({ reason }) => reason === wanted);
  const { reason } = of('token-revoked') ?? of('signature') ?? of('token-expired') ?? found[0] ?? {};
  const stranger = refusals.findIndex((refusal) => refusal && !known[refusal]);
  if (!reason || stranger >= 0) {
    const refusal = {
      reason: refusals[stranger] === 'wrong' ? 'wrong token' : 'unknown rule',
      relayId: credentials[stranger]?.relayId,
    } as const;
    return new Problem('unauthorized', unauthorized, { headers: challenge, refusal });
  }
  const mistakes = found.map(({ mistake }) => mistake);
  return new Rejection(reason, 'unauthorized', unauthorized, {
    headers: challenge,
    mistakes,
    signature,
    refusal: { reason, relayId: credentials[refusals.findIndex(Boolean)]?.relayId },
  });
}

/** Verified with where there is no secret. */
const noSecret = `whsec_${randomBytes(32).toString('base64')}`;

/** What is wrong with the three headers of Standard Webhooks. */
function wrongSignature(secret: string, received: Headers, bytes: ArrayBuffer): Issue | undefined {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
  const headers = Object.fromEntries(names.map((name) => [name, received.get(name) ?? '']));
  try {
    new Webhook(secret).verify(Buffer.from(bytes), headers, { jsonParse: false });
    return undefined;
  } catch (error) {
    const missing = names.filter((name) => !headers[name]);
    const why = error instanceof Error ? error.message : 'no valid signature';
    const detail =
      missing.length > 0 ? `has no ${missing.join(', ')}` : `is not signed with the webhookSecret of the company (${why})`;
    return { pointer: '', detail };
  }
}

/** A field of an action; numbers are read as their text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
