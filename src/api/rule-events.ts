/** `POST /co/{companyId}/events/{relayId}`: runs an event through the published version of its rule. */

import { setImmediate } from 'node:timers';
import type { Context } from 'hono';
import type { Links } from '../chain/chain.js';
import { pathPattern, propertyOf } from '../chain/condition.js';
import type { Fields } from '../chain/fields.js';
import type { Issue } from '../chain/request.js';
import { makeId } from '../contract/credential.js';
import { Problem, Rejection } from '../contract/problem.js';
import type { Contents } from '../contract/rule-contents.js';
import { acceptedEventSchema, type EventDoor, type NotApplicableEvent, notApplicableSchema } from '../contract/rule-event.js';
import { readEvent } from '../door/event.js';
import { compareOutcomes } from '../rules/compare.js';
import { inContents } from '../rules/contents.js';
import { assignmentOf, type Rendered, renderEvent } from '../rules/render.js';
import { findChain, hashEvent, type StartedChain, startChain } from '../temporal/start.js';
import { linksFor } from './bearer-authentication.js';
import { authenticateEvent, mayBeAuthenticEvent, tokenOf } from './event-authentication.js';
import { withinLimit } from './limits.js';
import type { Quotas } from './quotas.js';
import { type AskedEvent, bodyOf, keepRefusedEvent, unreadable } from './refused-events.js';
import { acceptedOf, type Door, replayedHeaders, startProblems } from './relay.js';
import { asksDryRun, eventRequest, readIdempotencyKey, receive } from './relay-request.js';
import { type ApiOptions, type Route, route } from './route.js';

/** For this time after a publication, the relay searches for the answer that an older version gave to the same event. */
const repeatedForMs = 7 * 24 * 3600_000;

/** The maximum length of an idempotency key. The relay hashes a longer value of `dedupeBy`. */
const longestKey = 255;

const path = '/co/:companyId/events/:relayId';
const refusals = ['not-an-object', 'event-refused', 'rule-without-contents', 'idempotency-key', 'invalid-query'] as const;
const problems = [...startProblems, ...refusals, 'database-unavailable', 'unreadable'] as const;
const eventAnswers = {
  202: ['The rule applies to the event. The chain is accepted and will run.', acceptedEventSchema, replayedHeaders],
  200: [
    'The rule does not apply to the event. If the same event came before, this is its first answer again.',
    notApplicableSchema.or(acceptedEventSchema),
    replayedHeaders,
  ],
} as const satisfies Route['answers'];

export function ruleEventRoutes(options: ApiOptions, door: Door): Route[] {
  const { limits, links, metrics, store } = options;
  const known = { ...options, ...door };
  const description =
    'Takes any JSON object, such as the webhook of a platform. The published version of the rule decides whether the rule applies to the event, ' +
    'and makes the actions of its chain. A second event with the same key runs nothing: it gets the first answer again, even ' +
    'if a new version has been published. The key is in a header, or in the event, at the path that the setting `dedupeBy` of the rule names.';
  const more = { ...eventRequest, answers: eventAnswers, problems, boundsBody: true, handle } as const;

  async function handle(c: Context, { companyId, relayId, token }: { companyId: string; relayId: string; token?: string }) {
    if (asksDryRun(c))
      throw new Problem('invalid-query', 'An event has no dry run. To try a rule, use `POST …/try`. Nothing has run.');
    const received = await receive(c);
    const { idempotencyKey: key, mistake } = readIdempotencyKey(c);
    const { headers } = c.req.raw;
    const asked: AskedEvent = { companyId, relayId, ...tokenOf(headers, token), headers, received, key };
    await limits.refuseFailing(c, () => mayBeAuthenticEvent(known, asked));
    try {
      const { signature, tokenIds } = await authenticateEvent(known, asked);
      asked.signature = signature;
      return await withinLimit(c, limits, companyId, async () => {
        const reading = await readEvent(received);
        asked.reading = reading;
        if (!reading.ok) throw unreadable(reading, asked);
        if (mistake !== undefined) throw new Rejection('idempotency-key', 'idempotency-key', mistake);
        const { event, text } = reading;
        const settings = await store.settings.of(companyId);
        const deduped = dedupe(key, settings?.rules.get(relayId)?.door, event);
        asked.key = deduped.key;
        const published = settings?.contents.get(relayId)?.published;
        if (!published) throw withoutContents(relayId);
        asked.version = published.version;
        asked.assignmentId = assignmentOf(published.contents, event);
        const before = await earlierAnswer(options, asked, published.publishedAt, text);
        if (before) {
          metrics.events.inc({ outcome: 'repeated' });
          c.header('Idempotency-Replayed', 'true');
          return c.json(before);
        }
        const warnings = [...reading.warnings, ...deduped.warnings];
        const traceparent = c.get('traceparent');
        const of = { companyId, relayId, version: published, text, event, key: deduped.key, tokenIds, warnings, traceparent };
        const ran = await runEvent(options, door.quotas, of);
        if (ran.started?.replayed) metrics.events.inc({ outcome: 'repeated' });
        return answerEvent(c, ran, linksFor(undefined, links));
      });
    } catch (error) {
      if (error instanceof Rejection) {
        metrics.events.inc({ outcome: 'refused' });
        await keepRefusedEvent(known, error, asked);
      }
      throw error;
    }
  }

  return [
    route.sender(`POST ${path}`, 'submitEvent', 'Submit an event to a rule', { ...more, description }),
    route.sender(`POST ${path}/:token`, 'submitEventByPath', 'Submit an event, with its token in the path', {
      ...more,
      description: `Use this path if the sender cannot send headers. Only an event token works here. ${description}`,
    }),
  ];
}

export function withoutContents(relayId: string): Rejection {
  const detail = `Rule ${relayId} has no published version. Nothing has run.`;
  return new Rejection('event-refused', 'rule-without-contents', detail);
}

/** The idempotency key of an event: from its headers, otherwise the value at the path `dedupeBy`. */
export function dedupe(key: string | undefined, door: Pick<EventDoor, 'dedupeBy'> | undefined, event: Fields) {
  const { dedupeBy } = door ?? {};
  if (key !== undefined || dedupeBy === undefined) return { key, warnings: [] };
  const value = pathPattern.test(dedupeBy) ? propertyOf(event, dedupeBy) : undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  if (text.trim() !== '' && text !== 'null') return { key: text.length > longestKey ? hashEvent(text) : text, warnings: [] };
  const detail = `has no value at ${dedupeBy} (dedupeBy): if the sender repeats this event, the rule runs again`;
  return { warnings: [{ pointer: '', detail }] };
}

/** A repeated event that did not apply gets the same answer again, even if it would apply with a newer version. */
async function earlierAnswer({ store }: ApiOptions, { companyId, relayId, key }: AskedEvent, publishedAt: string, text: string) {
  if (key === undefined || Date.now() - Date.parse(publishedAt) > repeatedForMs) return undefined;
  // If an event did not apply, another event may use the same key. So the relay also compares the bodies.
  const before = await store.events.findAnswer(companyId, relayId, key, hashEvent(text));
  return before && { eventId: before.eventId, version: before.version, applies: false, reason: before.reason ?? '' };
}

/** `text`: the event as JSON. `event`: the parsed event. `came`: the text before a person edited the event. */
interface RunningEvent {
  companyId: string;
  relayId: string;
  version: { version: number; contents: Contents };
  text: string;
  event: Fields;
  came?: string;
  key?: string | undefined;
  resentFrom?: string;
  tokenIds?: string[];
  warnings?: Issue[];
  traceparent?: string | undefined;
}

/** `started` is undefined if the event is not applicable. */
type RanEvent = { eventId: string; version: number; reason: string; started?: StartedChain; warnings: Issue[] };

/**
 * Runs an event through a version of its rule. Stores the event and its outcome, except if the version refuses the event.
 * @throws Rejection event-refused, idempotency-key-reused, or a reached quota; Problem temporal-unavailable
 */
export async function runEvent(options: ApiOptions, quotas: Quotas, running: RunningEvent): Promise<RanEvent> {
  const { companyId, relayId, version, text, came = text, key: idempotencyKey, tokenIds, traceparent } = running;
  const rule = { relayId, version: version.version, eventId: makeId() };
  const hash = hashEvent(came);
  const rendered = await renderAble(quotas, running);
  if (rendered.kind !== 'chain') {
    // An earlier version may have started a chain for the same event. If so, answer with this chain.
    const earlier = idempotencyKey !== undefined && (await findChain(options, { companyId, rule, hash, idempotencyKey }));
    if (earlier) return ranAs(rule, earlier, []);
    if (rendered.kind === 'refused') throw refusedEvent(rendered.problems);
    const { reason } = rendered;
    record(options, running, rule, rendered, { outcome: 'not-applicable', reason });
    return { ...rule, reason, warnings: [] };
  }
  const { actions } = rendered;
  const warnings = [...(running.warnings ?? []), ...rendered.warnings];
  const request = { companyId, actions, hash, idempotencyKey, tokenIds, warnings, traceparent, rule };
  const started = await quotas.within(companyId, actions, () => startChain(options, request));
  if (!started.replayed) record(options, running, rule, rendered, { outcome: 'chain', chainId: started.chain.chainId });
  return ranAs(rule, started, warnings);
}

type Rule = NonNullable<StartedChain['first']>['rule'];

function ranAs(rule: Rule, started: StartedChain, warnings: Issue[]): RanEvent {
  const { rule: ran, warnings: said } = started.first ?? { rule, warnings };
  return { ...ran, reason: '', started, warnings: said };
}

/** Makes the actions. Refuses actions that the company does not allow, or that its systems cannot do. */
async function renderAble(quotas: Quotas, { companyId, relayId, version, event }: RunningEvent): Promise<Rendered> {
  const rendered = renderEvent(version.contents, relayId, event);
  if (rendered.kind !== 'chain') return rendered;
  try {
    const unable = await quotas.checkActions(companyId, rendered.actions);
    return { ...rendered, warnings: [...rendered.warnings, ...unable.map(inContents)] };
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return { kind: 'refused', problems: error.mistakes.map(inContents) };
  }
}

function refusedEvent(problems: readonly Issue[]): Rejection {
  const errors = problems.slice(0, 1000);
  const detail = `Nothing has run. ${errors.map(({ pointer, detail }) => `${pointer || 'The event'} ${detail}`).join('; ')}`;
  return new Rejection('event-refused', 'event-refused', detail, { errors });
}

/** Stores the event after its answer, and tries the shadow version on this event. Never throws. */
function record(
  { store, log, metrics }: ApiOptions,
  { companyId, relayId, version: ran, text, event, came = text, key, resentFrom }: RunningEvent,
  { eventId, version }: Rule,
  rendered: Rendered,
  outcome: { outcome: 'chain'; chainId: string } | { outcome: 'not-applicable'; reason: string },
): void {
  metrics.events.inc({ outcome: outcome.outcome });
  const receivedAt = new Date().toISOString();
  setImmediate(async () => {
    try {
      const shadow = (await store.settings.of(companyId))?.contents.get(relayId)?.shadow;
      const tried = shadow && compareOutcomes(rendered, renderEvent(shadow.contents, relayId, event));
      store.events.add({
        ...{ companyId, relayId, eventId, receivedAt, version, ...outcome, dedupe: key, resentFrom },
        ...{ assignmentId: assignmentOf(ran.contents, event), ...bodyOf(text, came) },
        shadow: tried && { version: shadow.version, outcome: tried.outcome },
      });
    } catch (error) {
      log.error({ err: error, companyId, relayId, eventId }, 'an event could not be stored');
    }
  });
}

/** Answers 202 for a new chain. Answers 200 for a repeated event, and for an event that is not applicable. */
export function answerEvent(c: Context, { eventId, version, reason, started, warnings }: RanEvent, links: Links): Response {
  if (!started) return c.json({ eventId, version, applies: false, reason } satisfies NotApplicableEvent);
  const accepted = acceptedOf(c, started, warnings, links);
  return c.json({ eventId, version, applies: true, ...accepted }, started.replayed ? 200 : 202);
}
