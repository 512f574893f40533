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
import { largest } from './relay-request.js';
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
  const { companyId, relayId } = asked;
  const { reason, signature = asked.signature } = refused;
  // The answer and its duration must not show that the relay knows the sender. So the relay reads the body after the answer.
  if (refused.status === 401) {
    const known = { companyId, reason, ...(signature && { signature }) };
    rejections.keepAfter(known, async () => refusedEvent(refused, asked, await readEvent(asked.received)));
    return;
  }
  const receivedAt = new Date().toISOString();
  const reading = asked.reading ?? (await readEvent(asked.received));
  const kept = await rejections.keepFirst(refusedEvent(refused, asked, reading));
  if (!reading.ok || kept?.repeated) return;
  const { text } = reading;
  store.events.add({
    companyId,
    relayId,
    eventId: makeId(),
    receivedAt,
    bytes: Buffer.byteLength(text),
    outcome: 'refused',
    version: asked.version ?? 0,
    ...(asked.assignmentId !== undefined && { assignmentId: asked.assignmentId }),
    ...(kept?.kept && { rejectedId: kept.rejectedId }),
    reason: cutShort(refused.detail, 4000),
    ...(asked.key !== undefined && { dedupe: asked.key }),
    body: withoutTokens(text),
    hash: hashEvent(text),
  });
}

function refusedEvent(refused: Rejection, asked: AskedEvent, reading: ReadEvent): RefusedRequest {
  const { companyId, relayId, received, key } = asked;
  const { reason, slug, title, status, mistakes, signature = asked.signature } = refused;
  const told = status === 401 ? mistakes.map(({ detail }) => detail).join('; ') : refused.detail;
  const text = storable(withoutTokens(reading.text));
  const flaw = reading.ok ? undefined : reading.flaw;
  const isUnreadable = reason === 'event-unreadable' && flaw;
  return {
    companyId,
    reason,
    problem: { type: `/problems/${slug}`, title, status, detail: cutShort(told, 4000), errors: mistakes.slice(0, 100) },
    ...(signature && { signature }),
    relayIds: [relayId],
    ...(key !== undefined && { idempotencyKey: key }),
    elements: [],
    body: { ...keptBody(text, received, !reading.ok && reading.cut, flaw), isEvent: true },
    ...(isUnreadable && { mistake: flaw.kind, propose: () => proposedEvent(companyId, text, flaw) }),
    mistakes: mistakes.slice(0, 100),
    ruleOf: () => relayId,
  };
}

/** Masks the tokens of a list of actions that came as an event. */
export const withoutTokens = (text: string): string => (/rl[teka]_|relay_?-?access/i.test(text) ? tokensIn(text).masked : text);

/** The answer to a body that is no event. */
export function unreadable({ flaw, text }: Extract<ReadEvent, { ok: false }>, { received }: EventSender): Rejection {
  const detail = `The event cannot be read: ${flawWords(flaw, withoutTokens(text))}. ${flawAdvice(flaw)}`;
  if (flaw.kind === 'too-large') {
    // The relay does not read the rest of the body, so the connection must close.
    const headers: Record<string, string> = received.whole ? {} : { Connection: 'close' };
    return new Rejection('event-unreadable', 'body-too-large', largest, { headers });
  }
  if (flaw.kind === 'not-an-object') return new Rejection('event-unreadable', 'not-an-object', detail);
  if (!isJsonType(received.contentType)) return new Rejection('event-unreadable', 'unsupported-media-type', detail);
  return new Rejection('event-unreadable', 'malformed-json', detail);
}
