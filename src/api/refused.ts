/** Stores the actions of refused requests, or the text of an unreadable body. Always removes the tokens first. */

import { type Fields, isObject } from '../chain/fields.js';
import { placeIn } from '../chain/json-place.js';
import { isNearMiss } from '../chain/request.js';
import { capital, cutShort } from '../chain/text.js';
import { isTakenOver } from '../contract/credential.js';
import { type KeptBody, type Problem, type ProposedAction, Rejection, type RejectionReason } from '../contract/problem.js';
import type { Received } from '../door/decode.js';
import { type Flaw, flawAdvice, flawWords, storable } from '../door/flaw.js';
import { proposalOf } from '../door/proposal.js';
import type { Reading } from '../door/read.js';
import { type TokensIn, tokensIn } from '../door/tokens.js';
import { Shares } from '../service/shares.js';
import type { KnownToken, Recognizer } from '../store/credentials.js';
import type { Guesses } from './guesses.js';
import type { RefusedRequest, Rejections } from './rejections.js';
import { textOf, throwUnknown, verdictOn } from './relay-authentication.js';
import type { ApiOptions } from './route.js';

/** `tokens`: the possible tokens in the text; undefined before the relay has searched the text. */
export interface Asked {
  companyId: string;
  received: Received;
  headers: Headers;
  reading: Reading;
  idempotencyKey?: string | undefined;
  signature?: RefusedRequest['signature'];
  tokens?: TokensIn;
}

type Options = Pick<ApiOptions, 'store' | 'log'> & { guesses: Guesses; rejections: Rejections };

const maxMistakes = 100; // the maximum number of stored mistakes for a request
/** In characters. For a broken body up to this length, a proposal is fast, so the relay does not limit such proposals. */
const smallLength = 4 * 1024;
/** Limits how often the relay makes a proposal for a longer body of a company. Such a proposal takes up to half a second. */
const proposals = new Shares(20, 2000);

/** Stores the request if its sender is known. @throws Problem 503 if the lookup of the sender or the storing fails */
export async function keepRefused(options: Options, problem: Problem, asked: Asked): Promise<void> {
  const { rejections } = options;
  if (!(problem instanceof Rejection)) return keepBroken(options, problem, asked);
  const isStranger = problem.status === 401; // The relay knows the sender, but gives the answer that a stranger would get.
  if (isStranger && asked.reading.ok && asked.reading.looseness()) return keepBroken(options, problem, asked);
  const request = ofActions(problem, asked);
  if (isStranger) rejections.keepAfter(request, async () => request);
  else await rejections.keepFirst(request);
}

function ofActions(rejection: Rejection, { companyId, reading, idempotencyKey, signature }: Asked): RefusedRequest {
  const { reason, slug, title, status, detail } = rejection;
  const elements = reading.ok ? reading.elements : [];
  const mistakes = rejection.mistakes.slice(0, maxMistakes);
  const told = status === 401 ? mistakes.map(({ pointer, detail }) => `${pointer} ${detail}`.trim()).join('; ') : detail;
  const relayIds = elements.map(({ relayId }) => textOf(relayId));
  const verdict = rejection.signature ?? signature;
  return {
    companyId,
    reason,
    problem: { type: `/problems/${slug}`, title, status, detail: cutShort(told, 4000), errors: [...mistakes] },
    ...(verdict !== undefined && { signature: verdict }),
    relayIds: [...new Set(relayIds)],
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    elements: withoutTokens(elements),
    mistakes,
    ruleOf: (index) => relayIds[index] ?? '',
  };
}

/** Problems of bodies that cannot be read, and of bodies with both right and wrong tokens. */
const answers = ['malformed-json', 'not-an-array', 'body-too-large', 'unsupported-media-type', 'unauthorized'];

const reasons: Partial<Record<Flaw['kind'], RejectionReason>> = {
  'not-actions': 'not-actions',
  'too-large': 'body-too-large',
  charset: 'unsupported-body',
  'content-encoding': 'unsupported-body',
};

/** Stores the text of a body that contains a token of the company. */
async function keepBroken({ store, log, guesses, rejections }: Options, problem: Problem, asked: Asked): Promise<void> {
  if (!answers.includes(problem.slug)) return;
  const { companyId, received, headers, reading, idempotencyKey } = asked;
  asked.tokens ??= tokensIn(reading.text);
  const { candidates, masked, hide } = asked.tokens;
  if (candidates.length === 0) return;
  const isUnauthorized = problem.slug === 'unauthorized'; // if so, authentication has just read the tokens and delayed the answer
  const lookUp = async (fresh: boolean) => {
    const tokens = await store.tokens.recognizer(companyId, fresh).catch((error) => throwUnknown(error, companyId, log));
    return { tokens, found: candidates.flatMap((candidate) => tokens.of(candidate)) };
  };
  let { tokens, found } = await lookUp(false);
  if (!isUnauthorized && !found.some(isLive)) ({ tokens, found } = await lookUp(true));
  if (!isUnauthorized && found.length === 0 && candidates.some(isTakenOver)) await guesses.slowDownAny(companyId);
  const signature = verdictOn(tokens.webhookSecret, headers, received.bytes);
  const live = found.filter(isLive);
  // Store no body without a token of the company. If the answer is a plain 401, store no body without a valid token.
  if (found.length === 0 || (live.length === 0 && !(problem instanceof Rejection) && isUnauthorized)) return;

  const flaw = reading.ok ? reading.looseness() : reading.flaw;
  const reason = live.length > 0 && signature !== 'wrong' ? reasonOf(flaw) : deadReason(found, signature);
  const relayIds = [...new Set((live.length > 0 ? live : found).map(({ relayId }) => relayId))];
  const text = storable(masked);
  const detail = flaw ? `${capital(flawWords(flaw, text))}. ${flawAdvice(flaw)}` : someWrong;
  const request: RefusedRequest = {
    companyId,
    reason,
    problem: { type: `/problems/${problem.slug}`, title: problem.title, status: problem.status, detail },
    signature,
    relayIds,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    elements: [],
    body: keptBody(text, received, !reading.ok && reading.cut, flaw),
    mistake: flaw?.kind ?? 'wrong-token',
    propose: () => proposed(asked, tokens, hide),
    mistakes: [{ pointer: '', detail }],
    ruleOf: () => relayIds[0] ?? '',
  };
  if (isUnauthorized || reason !== reasonOf(flaw)) rejections.keepAfter(request, async () => request);
  else await rejections.keepFirst(request);
}

const isLive = ({ state, enabled }: KnownToken) => state === 'active' && enabled;
const reasonOf = (flaw: Flaw | undefined): RejectionReason => (flaw ? (reasons[flaw.kind] ?? 'malformed-body') : 'wrong-token');

/** Chooses the most serious reason, because a person must check this reason before sending the request again. */
function deadReason(found: readonly KnownToken[], signature: RefusedRequest['signature']): RejectionReason {
  if (found.some(({ state }) => state === 'revoked')) return 'token-revoked';
  if (signature === 'wrong') return 'signature';
  return found.some(({ state }) => state === 'expired') ? 'token-expired' : 'rule-disabled';
}

const someWrong = 'At least one step has no token, or the token of another rule. So the relay refused the whole request.';

/** @param cut - whether the end of the text is missing */
export function keptBody(text: string, { bytes }: Received, cut: boolean, flaw?: Flaw): KeptBody {
  const { offset } = flaw ?? {};
  const place = flaw && offset !== undefined && { ...placeIn(text, offset), offset, says: flawWords(flaw, text) };
  return { text, bytes: bytes.byteLength, cut, ...(place && { place }) };
}

const incomplete: readonly Flaw['kind'][] = ['too-large', 'charset', 'content-encoding'];

/** Guesses the event in a broken body. Undefined if the body has no object or several, and in the cases of `proposed`. */
export function proposedEvent(companyId: string, text: string, { kind }: Flaw): ProposedAction[] | undefined {
  const isUseless = incomplete.includes(kind) || kind === 'not-an-object';
  if (isUseless || (text.length > smallLength && !proposals.take(companyId))) return undefined;
  const [element, another] = proposalOf(text) ?? [];
  return element && !another ? [{ element, authenticated: true }] : undefined;
}

/** The probable actions of the body. Undefined if the body is incomplete or has no actions, or after too many long bodies. */
function proposed({ companyId, reading }: Asked, tokens: Recognizer, hide: TokensIn['hide']): ProposedAction[] | undefined {
  const isWhole = reading.ok || !incomplete.includes(reading.flaw.kind);
  if (!isWhole || (reading.text.length > smallLength && !proposals.take(companyId))) return undefined;
  const elements = reading.ok ? reading.elements : proposalOf(reading.text);
  return elements?.map((element) => {
    const relayId = textOf(element.relayId);
    const known = tokens.of(textOf(element.relayAccessToken));
    const authenticated = known.some((token) => token.state === 'active' && token.relayId === relayId);
    return { element: fieldsWithoutTokens(element, (text) => storable(hide(text))), authenticated };
  });
}

/** Removes each field with the name `relayAccessToken`, or with a likely misspelling of this name. */
function withoutTokens(value: unknown, shown = (text: string) => text): unknown {
  if (typeof value === 'string') return shown(value);
  if (Array.isArray(value)) return value.map((inner) => withoutTokens(inner, shown));
  return isObject(value) ? fieldsWithoutTokens(value, shown) : value;
}

function fieldsWithoutTokens(fields: Fields, shown: (text: string) => string): Fields {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => !isNearMiss(name, 'relayAccessToken'))
      .map(([name, inner]) => [shown(name), withoutTokens(inner, shown)]),
  );
}
