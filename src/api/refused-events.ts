/** Stores the text of refused events of known senders. The relay never guesses the actions of a broken event. */

import { cutShort } from '../chain/text.js';
import { makeId } from '../contract/credential.js';
import { Rejection, type SignatureVerdict } from '../contract/problem.js';
import { isJsonType } from '../door/decode.js';
import { type ReadEvent, readEvent } from '../door/event.js';
import { flawAdvice, flawWords, storable } from '../door/flaw.js';
import { tokensIn } from '../door/tokens.js';
import { hashEvent } from '../temporal/start.js';
import type { EventSender } from './event-authentication.js';
import { keptBody, proposedEvent } from './refused.js';
import type { RefusedRequest, Rejections } from './rejections.js';
import { closing, largest } from './relay-request.js';
import type { ApiOptions } from './route.js';

/** A received event. The fields without a value are not known yet. */
export interface AskedEvent extends EventSender {
  signature?: SignatureVerdict;
  reading?: ReadEvent;
  key?: string | undefined;
  version?: number;
  assignmentId?: string | undefined;
}

type Options = Pick<ApiOptions, 'store'> & { rejections: Rejections };

/** @throws Problem 503 if storing fails */
export async function keepRefusedEvent({ store, rejections }: Options, refused: Rejection, asked: AskedEvent): Promise<void> {
  const { companyId, relayId, received, key, version = 0, assignmentId } = asked;
  const { reason, signature = asked.signature } = refused;
  // The answer and its duration must not show that the relay knows the sender. So the relay reads the body after the answer.
  if (refused.status === 401) {
    rejections.keepAfter({ companyId, reason, signature }, async () => refusedEvent(refused, asked, await readEvent(received)));
    return;
  }
  const receivedAt = new Date().toISOString();
  const reading = asked.reading ?? (await readEvent(received));
  const kept = await rejections.keepFirst(refusedEvent(refused, asked, reading));
  if (!reading.ok || kept?.repeated) return;
  store.events.add({
    ...{ companyId, relayId, eventId: makeId(), receivedAt, outcome: 'refused', version, dedupe: key, assignmentId },
    ...{ rejectedId: kept?.kept ? kept.rejectedId : undefined, reason: cutShort(refused.detail, 4000), ...bodyOf(reading.text) },
  });
}

/** @param came - the text before a person edited the event */
export const bodyOf = (text: string, came = text) => ({
  ...{ bytes: Buffer.byteLength(text), body: withoutTokens(text), hash: hashEvent(came) },
});

function refusedEvent(refused: Rejection, asked: AskedEvent, reading: ReadEvent): RefusedRequest {
  const { companyId, relayId, received, key } = asked;
  const { reason, slug, title, status, signature = asked.signature } = refused;
  const mistakes = refused.mistakes.slice(0, 100);
  const told = status === 401 ? `The event ${refused.mistakes.map(({ detail }) => detail).join(', and ')}` : refused.detail;
  const text = storable(withoutTokens(reading.text));
  const flaw = reading.ok ? undefined : reading.flaw;
  const isUnreadable = reason === 'event-unreadable' && flaw;
  return {
    companyId,
    reason,
    problem: { type: `/problems/${slug}`, title, status, detail: cutShort(told, 4000), errors: mistakes },
    ...{ signature, relayIds: [relayId], idempotencyKey: key, elements: [] },
    body: { ...keptBody(text, received, !reading.ok && reading.cut, flaw), isEvent: true },
    ...(isUnreadable && { mistake: flaw.kind, propose: () => proposedEvent(companyId, text, flaw) }),
    mistakes,
    ruleOf: () => relayId,
  };
}

/** Masks the tokens of a list of actions that came as an event. */
const withoutTokens = (text: string): string => (/rl[teka]_|relay_?-?access/i.test(text) ? tokensIn(text).masked : text);

/** The answer to a body that is no event. */
export function unreadable({ flaw, text }: Extract<ReadEvent, { ok: false }>, { received }: EventSender): Rejection {
  const detail = `The event cannot be read: ${flawWords(flaw, withoutTokens(text))}. ${flawAdvice(flaw)}`;
  if (flaw.kind === 'too-large') return new Rejection('event-unreadable', 'body-too-large', largest, closing(received));
  if (flaw.kind === 'not-an-object') return new Rejection('event-unreadable', 'not-an-object', detail);
  if (!isJsonType(received.contentType)) return new Rejection('event-unreadable', 'unsupported-media-type', detail);
  return new Rejection('event-unreadable', 'malformed-json', detail);
}
