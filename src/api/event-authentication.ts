/** Authenticates the sender of an event: by a token of the rule, by the sender's signature, or by both. */

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { maxTokenLength } from '../chain/request.js';
import { isTakenOver, tokenPurposes } from '../contract/credential.js';
import { Problem, Rejection, type SignatureVerdict } from '../contract/problem.js';
import type { EventSignature } from '../contract/rule-event.js';
import type { Received } from '../door/decode.js';
import type { Refusal } from '../store/credentials.js';
import type { Guesses } from './guesses.js';
import { throwUnknown } from './relay-authentication.js';
import type { ApiOptions } from './route.js';

/** `token`: from the path (`inPath`), `X-Relay-Token` or `Authorization`. A token in the path must be an event token. */
export interface EventSender {
  companyId: string;
  relayId: string;
  token?: string | undefined;
  inPath: boolean;
  headers: Headers;
  received: Received;
}

type Options = Pick<ApiOptions, 'store' | 'log'> & { guesses: Guesses };

/** @param inPath - the token in the path */
export function tokenOf(headers: Headers, inPath: string | undefined): Pick<EventSender, 'token' | 'inPath'> {
  const [, bearer] = /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '') ?? [];
  const token = inPath ?? headers.get('x-relay-token') ?? bearer;
  return { token: token?.slice(0, maxTokenLength + 1), inPath: inPath !== undefined };
}

/**
 * If the rule requires a signature, no token is needed. If only the company requires a signature, a token is needed, too.
 * @throws Problem 401 for strangers, 503 if the settings cannot be read. A sender with an old token or a wrong signature gets the
 * same 401, as a Rejection.
 */
export async function authenticateEvent(
  { store, log, guesses }: Options,
  sender: EventSender,
): Promise<{ signature: SignatureVerdict; tokenIds: string[] }> {
  const { companyId, relayId, token, inPath, received } = sender;
  const unknown = (error: unknown) => throwUnknown(error, companyId, log);
  let signed = await checkSender(store, sender).catch(unknown);
  if (signed.isSigner && signed.isEnabled && signed.mistake === undefined) return { signature: 'right', tokenIds: [] };
  const credentials = { relayId, relayAccessToken: token ?? '' };
  const purposes = inPath ? (['event'] as const) : tokenPurposes;
  const authentication = await store.tokens.authenticate(companyId, [credentials], purposes).catch(unknown);
  if (!authentication.ok || signed.mistake !== undefined) {
    // Another process may have changed the settings, so read them again. All refusals have one such read, and take equally long.
    if (authentication.ok) await store.settings.refresh().catch(unknown);
    signed = await checkSender(store, sender).catch(unknown);
  }
  const { isSigner, isEnabled, signature, mistake } = signed;
  const tokenIds = authentication.ok ? authentication.tokenIds : [];
  const ofToken = authentication.ok ? undefined : (authentication.refusals[0] ?? 'wrong');
  const refusal = isSigner ? (isEnabled ? undefined : 'disabled') : ofToken;
  if (!refusal && mistake === undefined) return { signature, tokenIds };

  const headers = { 'WWW-Authenticate': 'Bearer realm="events"', ...(!received.whole && { Connection: 'close' }) };
  if (refusal === 'unknown' || refusal === 'wrong') {
    if (token !== undefined) await guesses.slowDown(companyId, [credentials]);
    const reason = refusal === 'wrong' ? 'wrong token' : 'unknown rule';
    throw new Problem('unauthorized', unauthorized, { headers, refusal: { reason, relayId } });
  }
  // If there are two reasons, choose the more serious one, because a person must check it before sending the event again.
  const ended = refusal && endings[refusal];
  const reason = ended && (mistake === undefined || refusal === 'revoked') ? ended.reason : 'signature';
  const details = [ended?.says, mistake].filter((detail) => detail !== undefined);
  const mistakes = details.map((detail) => ({ pointer: '', detail }));
  throw new Rejection(reason, 'unauthorized', unauthorized, { headers, mistakes, signature, refusal: { reason, relayId } });
}

/** @returns true if the relay knows the sender, or if it cannot look up the sender now */
export async function mayBeAuthenticEvent(options: Options, sender: EventSender): Promise<boolean> {
  // If no more answers can be delayed, do not check a token that somebody could guess. A fast answer would show a right guess.
  const isGuess = options.guesses.isFull && isTakenOver(sender.token ?? '');
  return authenticateEvent(options, isGuess ? { ...sender, token: undefined } : sender).then(
    () => true,
    (error) => !(error instanceof Problem && error.slug === 'unauthorized') || error instanceof Rejection,
  );
}

const unauthorized =
  'Company, rule and token must belong together, the rule must be enabled, and the event must be signed if the rule or its company ' +
  'requires a signature.';

const endings = {
  expired: { reason: 'token-expired', says: 'came with an old token of the rule, and this token has expired' },
  revoked: { reason: 'token-revoked', says: 'came with a revoked token of the rule' },
  disabled: { reason: 'rule-disabled', says: 'is for a disabled rule' },
} as const satisfies Partial<Record<Refusal, object>>;

/** `isSigner`: somebody with the key of the rule signed the event. `mistake`: the mistake in the required signature. */
async function checkSender({ settings }: ApiOptions['store'], { companyId, relayId, headers, received }: EventSender) {
  const known = await settings.of(companyId);
  const rule = known?.rules.get(relayId);
  const own = rule?.door?.signature;
  const secret = known?.company.webhookSecret;
  const required = own ?? (secret === undefined ? undefined : ({ scheme: 'standard-webhooks', key: secret } as const));
  const { isRight, mistake } = checkSignature(required, headers, received);
  const signature: SignatureVerdict = required === undefined ? 'not required' : mistake === undefined ? 'right' : 'wrong';
  const isSigner = own !== undefined && isRight;
  return { isSigner, isEnabled: rule?.enabled ?? false, signature, mistake: required && mistake };
}

const toleranceMs = 5 * 60_000; // how far a signed time may be in the past or in the future, as in Standard Webhooks

/** `isRight`: the key is right. The signed time can still be wrong (`mistake`). Always hashes the body, so the duration reveals nothing. */
export function checkSignature(
  signature: EventSignature | undefined,
  headers: Headers,
  { bytes, whole }: Pick<Received, 'bytes' | 'whole'>,
) {
  const { algorithm, encoding, key, head, given, time, missing } = formOf(signature, headers);
  const expected = plain(createHmac(algorithm, key).update(head).update(new Uint8Array(bytes)).digest(encoding), encoding);
  const matches = given.map((one) => plain(one, encoding)).filter((one) => isEqual(one, expected));
  // A key in a wrong form may be decoded as an empty key, and everybody can sign with an empty key.
  const isRight = matches.length > 0 && key.length > 0 && whole && missing.length === 0;
  const isLate = time !== undefined && !(Math.abs(Date.now() - millisecondsOf(time)) <= toleranceMs);
  if (isRight && !isLate) return { isRight, mistake: undefined };
  const late = 'was signed more than 5 minutes ago, or the clock of the sender is wrong';
  const wrong = missing.length > 0 ? `has no ${missing.join(', ')}` : 'is not signed with the key of the rule or company';
  return { isRight, mistake: isRight ? late : wrong };
}

/** Senders write hex in upper or lower case, and base64 with or without padding, or in the alphabet for URLs. */
const plain = (text: string, encoding: 'hex' | 'base64') =>
  encoding === 'hex' ? text.toLowerCase() : text.replaceAll(/[-_]/g, (sign) => (sign === '-' ? '+' : '/')).replace(/={0,2}$/, '');

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** `head`: the signed text before the body. `given`: the signatures in the request. `missing`: the names of missing headers. */
function formOf(signature: EventSignature | undefined, headers: Headers) {
  const usual = { algorithm: 'sha256', encoding: 'base64' } as const;
  if (!signature) return { ...usual, key: Buffer.from('none'), head: '', given: [], time: undefined, missing: [] };
  const of = (name: string) => headers.get(name) ?? '';
  const missingOf = (names: readonly string[]) => names.filter((name) => of(name) === '');
  if (signature.scheme === 'standard-webhooks') {
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
    const [id, time, signatures] = names.map(of);
    const given = (signatures ?? '').split(' ').flatMap((one) => (one.startsWith('v1,') ? one.slice(3) : []));
    const key = Buffer.from(signature.key.replace(/^whsec_/, ''), 'base64');
    return { ...usual, key, head: `${id}.${time}.`, given, time: time ?? '', missing: missingOf(names) };
  }
  const { header, algorithm, encoding, prefix, signed, timestampHeader = '-', key, keyForm } = signature;
  const text = of(header);
  const given = text.startsWith(prefix) ? [text.slice(prefix.length)] : [];
  const form = { algorithm, encoding, key: keyOf(key, keyForm), given };
  if (signed === 'body') return { ...form, head: '', time: undefined, missing: missingOf([header]) };
  const time = of(timestampHeader);
  const head = signed === 'timestamp.body' ? `${time}.` : time;
  return { ...form, head, time, missing: missingOf([header, timestampHeader]) };
}

const keyOf = (key: string, form: Extract<EventSignature, { scheme: 'hmac' }>['keyForm']) =>
  form === 'sha256-of-text' ? createHash('sha256').update(key).digest() : Buffer.from(key, form === 'text' ? 'utf8' : form);

/** Reads a time in Unix seconds or milliseconds, or as ISO 8601. @returns NaN for other texts */
function millisecondsOf(time: string): number {
  if (!/^\d{1,16}$/.test(time)) return Date.parse(time);
  return time.length > 11 ? Number(time) : Number(time) * 1000;
}
