/** Authenticates the sender of a chain. Every token must be right, and the signature too, if the company requires a signature. */

import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { type Issue, maxActions, maxTokenLength } from '../chain/request.js';
import { isTakenOver } from '../contract/credential.js';
import { DecryptionError } from '../contract/encryption.js';
import { Problem, Rejection, type RejectionReason, type SignatureVerdict } from '../contract/problem.js';
import { decode, type Received } from '../door/decode.js';
import { candidatesIn } from '../door/tokens.js';
import { Shares } from '../service/shares.js';
import type { Refusal } from '../store/credentials.js';
import type { Guesses } from './guesses.js';
import type { ApiOptions } from './route.js';

const said = new Shares(1, 60_000); // allows one log line a minute for each company

/**
 * @throws Problem 401 for strangers, 503 if the settings cannot be read. A known sender with an old token or a wrong signature gets
 * the same 401, as a Rejection.
 */
export async function authenticateRequest(
  { store, log, guesses }: Pick<ApiOptions, 'store' | 'log'> & { guesses: Guesses },
  companyId: string,
  elements: readonly Record<string, unknown>[],
  { bytes, headers }: { bytes: ArrayBuffer; headers: Headers },
): Promise<{ signature: SignatureVerdict; tokenIds: string[] }> {
  // If the chain is too long, its first actions are enough to identify the sender.
  const credentials = elements.slice(0, maxActions).map((element) => ({
    relayId: textOf(element.relayId),
    relayAccessToken: textOf(element.relayAccessToken).slice(0, maxTokenLength + 1), // limits the text that the store hashes
  }));
  const authentication = await store.tokens
    .authenticate(companyId, credentials)
    .catch((error: unknown) => throwUnknown(error, companyId, log));
  const { ok, webhookSecret } = authentication;
  const tokenIds = ok ? authentication.tokenIds : [];
  if (ok && webhookSecret === undefined) return { signature: 'not required', tokenIds };
  // Always check the signature. Otherwise the duration of a refusal would show whether the company requires a signature.
  const mistake = wrongSignature(webhookSecret ?? noSecret, headers, bytes);
  const forged = webhookSecret === undefined ? undefined : mistake;
  if (ok && !forged) return { signature: 'right', tokenIds };
  const signature = webhookSecret === undefined ? 'not required' : forged ? 'wrong' : 'right';
  const refusals = ok ? [] : authentication.refusals;
  await guesses.slowDown(
    companyId,
    credentials.filter((_, index) => refusals[index] === 'unknown' || refusals[index] === 'wrong'),
  );
  throw refused(refusals, credentials, { signature, forged });
}

/** Call this function if the settings cannot be read. @throws Problem 503 */
export function throwUnknown(error: unknown, companyId: string, log: ApiOptions['log']): never {
  if (said.take(companyId))
    log.error({ err: error, companyId }, 'authentication failed: the settings of the company cannot be read');
  if (error instanceof DecryptionError)
    throw new Problem('unreadable', 'The settings of the company cannot be decrypted at the moment. Nothing has run.');
  const detail = 'The relay cannot read its rules at the moment. Nothing has run. Send the request again.';
  throw new Problem('database-unavailable', detail);
}

/**
 * Whether an unparsed body contains a token of the company, even an expired or revoked token. Also returns true if the company's
 * tokens cannot be read. Looks up the first `relayAccessToken` before all other possible tokens, because this lookup is fast.
 */
export async function mayBeAuthentic(
  { store, guesses }: Pick<ApiOptions, 'store'> & { guesses: Guesses },
  companyId: string,
  received: Received,
): Promise<boolean> {
  const tokens = await store.tokens.recognizer(companyId, false).catch(() => undefined);
  const isKnown = (candidate: string) =>
    !(guesses.isFull && isTakenOver(candidate)) && (!tokens || tokens.of(candidate).length > 0);
  const first = firstToken(received.bytes);
  if (first !== undefined && isKnown(first)) return true;
  const candidates = candidatesIn((await decode(received)).text);
  if (candidates.some(isKnown)) return true;
  const wrong = first === undefined ? candidates : [first, ...candidates];
  if (wrong.some(isTakenOver)) await guesses.slowDownAny(companyId);
  return false;
}

function firstToken(bytes: ArrayBuffer): string | undefined {
  const body = Buffer.from(bytes);
  const at = body.indexOf('"relayAccessToken"');
  const text = at < 0 ? '' : body.toString('utf8', at, at + 4000);
  const [, token] = /^"relayAccessToken"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)/.exec(text) ?? [];
  try {
    return token === undefined ? undefined : textOf(JSON.parse(token));
  } catch {
    return undefined;
  }
}

const unauthorized =
  'Company, relayId and relayAccessToken of every action must belong together, the rule must be enabled, and the webhook must be ' +
  'signed if the company requires a signature.';
/** The examples in the documentation and in `examples/` have this text in place of a token. */
const tokenMark = '<RELAY_ACCESS_TOKEN>';
const exampleHelp =
  `Write the token of your rule in place of ${tokenMark}. If you use \`npm start\`, the example files with the right token are in ` +
  '`.relay/examples`.';
const challenge = { 'WWW-Authenticate': 'relayAccessToken' };

/** Refusals of known senders. The credentials of a known sender belong to a rule, but are not valid now. */
const known: Partial<Record<Refusal, { reason: RejectionReason; field: string; says(rule: string): string }>> = {
  expired: {
    reason: 'token-expired',
    field: 'relayAccessToken',
    says: (rule) => `of ${rule} was rotated, and its grace period is over`,
  },
  revoked: { reason: 'token-revoked', field: 'relayAccessToken', says: (rule) => `of ${rule} was revoked` },
  disabled: { reason: 'rule-disabled', field: 'relayId', says: (rule) => `belongs to ${rule}, which is disabled` },
};

/** @param forged - the mistake in the signature. @returns a Rejection if all credentials belong to the company, else a Problem */
function refused(
  refusals: readonly (Refusal | undefined)[],
  credentials: readonly { relayId: string; relayAccessToken: string }[],
  { signature, forged }: { signature: SignatureVerdict; forged: Issue | undefined },
): Problem {
  const found = refusals.flatMap((refusal, index) => {
    const mistake = refusal && known[refusal];
    if (!mistake) return [];
    const detail = mistake.says(`rule ${credentials[index]?.relayId}`);
    return [{ reason: mistake.reason, mistake: { pointer: `/${index}/${mistake.field}`, detail } }];
  });
  if (forged) found.push({ reason: 'signature', mistake: forged });
  // Choose the most serious reason, because a person must check this reason before sending the request again.
  const of = (wanted: RejectionReason) => found.find(({ reason }) => reason === wanted);
  const { reason } = of('token-revoked') ?? of('signature') ?? of('token-expired') ?? found[0] ?? {};
  const stranger = refusals.findIndex((refusal) => refusal && !known[refusal]);
  if (!reason || stranger >= 0) {
    const refusal = {
      reason: refusals[stranger] === 'wrong' ? 'wrong token' : 'unknown rule',
      relayId: credentials[stranger]?.relayId,
    } as const;
    const isExample = credentials.some(({ relayAccessToken }) => relayAccessToken === tokenMark);
    return new Problem('unauthorized', isExample ? `${unauthorized} ${exampleHelp}` : unauthorized, {
      headers: challenge,
      refusal,
    });
  }
  const mistakes = found.map(({ mistake }) => mistake);
  return new Rejection(reason, 'unauthorized', unauthorized, {
    headers: challenge,
    mistakes,
    signature,
    refusal: { reason, relayId: credentials[refusals.findIndex(Boolean)]?.relayId },
  });
}

/** Checks the signature. The check takes the same time with and without a secret. */
export function verdictOn(secret: string | undefined, headers: Headers, bytes: ArrayBuffer): SignatureVerdict {
  const mistake = wrongSignature(secret ?? noSecret, headers, bytes);
  return secret === undefined ? 'not required' : mistake ? 'wrong' : 'right';
}

/** Used if the company has no secret, so that the check takes the same time. */
const noSecret = `whsec_${randomBytes(32).toString('base64')}`;

/** @returns the mistake in the headers of Standard Webhooks, or undefined if the signature is right */
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
      missing.length > 0 ? `The request has no ${missing.join(', ')}` : `The signature with the webhookSecret is wrong (${why})`;
    return { pointer: '', detail };
  }
}

export const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
