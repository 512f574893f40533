/** `/admin/companies/{companyId}/rules/{relayId}/events`: the stored events of a rule. People can send an event again. */

import { z } from 'zod';
import { fieldsOf } from '../chain/sent.js';
import { Problem } from '../contract/problem.js';
import {
  acceptedEventSchema,
  eventOutcomes,
  eventsResponse,
  notApplicableSchema,
  resendEventRequest,
  type StoredEvent,
  testEventRequest,
  wholeEventSchema,
} from '../contract/rule-event.js';
import { parseEvent } from '../door/event.js';
import { type Rendered, renderEvent } from '../rules/render.js';
import { chainFilterSchema } from '../temporal/list.js';
import { linksFor } from './bearer-authentication.js';
import { numberCursor, pageQuery, readTexts } from './input.js';
import { withinLimit } from './limits.js';
import { found, foundRule } from './problems.js';
import type { Quotas } from './quotas.js';
import { assertUndecided, keyOf, resendProblems, runProblems } from './rejected.js';
import { readIdempotencyKey } from './relay-request.js';
import { type ApiOptions, ofRule, type Route, route } from './route.js';
import { answerEvent, runEvent, withoutContents } from './rule-events.js';

export const eventFilterSchema = z.object({
  outcome: z.enum(eventOutcomes).optional().describe('Only events with this outcome.'),
  since: chainFilterSchema.shape.since.describe('Only events received at this time or later.'),
  until: chainFilterSchema.shape.until.describe('Only events received before this time.'),
});
const resendAnswers = {
  202: ['The chain is accepted and will run.', acceptedEventSchema],
  200: ['The rule does not apply to the event, so nothing has run.', notApplicableSchema],
} as const satisfies Route['answers'];

export function ruleEventListRoutes(options: ApiOptions, quotas: Quotas): Route[] {
  const { store, limits, links, log } = options;
  const { events, versions, rules } = store;
  const find = async (companyId: string, relayId: string, eventId: string): Promise<StoredEvent> =>
    found(await events.get(companyId, relayId, eventId), `event ${eventId} of rule ${relayId} of company ${companyId}`);
  /** @param number - by default, the published version. @throws Problem rule-disabled; Rejection rule-without-contents */
  const versionOf = async (companyId: string, relayId: string, number?: number) => {
    const { enabled, published } = foundRule(await rules.get(companyId, relayId), companyId, relayId);
    if (!enabled) throw new Problem('rule-disabled', `Nothing has run: rule ${relayId} is disabled.`);
    if (published === undefined) throw withoutContents(relayId);
    const wanted = number ?? published;
    return found(await versions.get(companyId, relayId, wanted), `version ${wanted} of rule ${relayId}`);
  };
  const unrecorded = (details: object) => (err: unknown) => log.error({ err, ...details }, 'a run could not be recorded');
  /** The refused request of an event, if the relay has kept it. */
  const refusedRequest = async (companyId: string, { rejectedId, dedupe }: StoredEvent) => {
    const request = rejectedId === undefined ? undefined : await store.rejected.get(companyId, rejectedId);
    return request && { ...request, idempotencyKey: dedupe ?? request.idempotencyKey };
  };
  return [
    route.company(`GET ${ofRule}/events`, 'listEvents', 'List the events of a rule', {
      description: 'Each event has its outcome. The relay stores an event about a second after its answer.',
      use: 'lists',
      query: pageQuery(numberCursor).extend(eventFilterSchema.shape),
      answers: { 200: ['The events without their bodies, the newest first.', eventsResponse] },
      async handle(c, { companyId, relayId, query }) {
        const { shadow } = foundRule(await rules.get(companyId, relayId), companyId, relayId);
        const { limit, cursor, ...filter } = query;
        const { items, nextCursor } = await events.list(companyId, relayId, { limit, cursor }, filter);
        const counted = shadow !== undefined && cursor === undefined;
        const shadowCounts = counted ? await events.shadowCounts(companyId, relayId, shadow) : undefined;
        return c.json(eventsResponse.parse({ events: items, nextCursor, shadowCounts }));
      },
    }),
    route.company(`GET ${ofRule}/events/:eventId`, 'getEvent', 'Read an event with its body and its variables', {
      use: 'reads',
      answers: { 200: ['The event.', wholeEventSchema] },
      async handle(c, { companyId, relayId, eventId }) {
        const stored = await find(companyId, relayId, eventId);
        const event = parseEvent(stored.body);
        const version = await versions.get(companyId, relayId, stored.version);
        const rendered = version && renderEvent(version.contents, relayId, event);
        const variables = rendered?.kind === 'chain' ? rendered.variables : {};
        return c.json(wholeEventSchema.parse({ ...stored, event, variables }));
      },
    }),
    route.author(`POST ${ofRule}/events`, 'sendTestEvent', 'Send a test event', {
      description:
        'Runs the published version of the rule with this event. The effects are real. To see them first, use `composeChain`.',
      rawBody: testEventRequest,
      answers: resendAnswers,
      problems: runProblems,
      async handle(c, { companyId, relayId, actor }) {
        const { event } = await readTexts(c, testEventRequest);
        const version = await versionOf(companyId, relayId);
        return withinLimit(c, limits, companyId, async () => {
          const of = { companyId, relayId, version, text: JSON.stringify(event), event, traceparent: c.get('traceparent') };
          const ran = await runEvent(options, quotas, of);
          const details = { relayId, version: ran.version, newEventId: ran.eventId, chainId: ran.started?.chain.chainId };
          await store.audit.record({ actor, action: 'event.test', companyId, details }).catch(unrecorded(details));
          return answerEvent(c, ran, linksFor(actor, links));
        });
      },
    }),
    route.company(`POST ${ofRule}/events/:eventId/resend`, 'resendEvent', 'Send an event again', {
      description:
        'Runs an event again. `version` says which version of the rule runs. The relay handles the event as a new event. ' +
        'Delays start now. Without `confirm`, nothing runs, and the answer shows the actions.',
      use: 'steering',
      body: resendEventRequest,
      answers: resendAnswers,
      problems: [...resendProblems, 'idempotency-key'],
      async handle(c, { companyId, relayId, eventId, actor, body: { version: wanted, confirm } }) {
        const { idempotencyKey, mistake } = readIdempotencyKey(c);
        if (mistake !== undefined) throw new Problem('idempotency-key', mistake);
        const stored = await find(companyId, relayId, eventId);
        const version = await versionOf(companyId, relayId, wanted === 'same' ? stored.version : undefined);
        return withinLimit(c, limits, companyId, async () => {
          const event = parseEvent(stored.body);
          if (!confirm) assertConfirmed(version.version, renderEvent(version.contents, relayId, event));
          const request = await refusedRequest(companyId, stored);
          if (request) assertUndecided(request);
          // Senders cannot use this key, because a header cannot contain a line break.
          const own = idempotencyKey === undefined ? undefined : `resend\n${eventId}\n${idempotencyKey}`;
          // A refused event has not run. It keeps its own key, so a repetition by its sender finds the chain that starts now.
          const key = stored.outcome === 'refused' ? (request ? keyOf(request) : (stored.dedupe ?? own)) : own;
          const of = { companyId, relayId, version, text: stored.body, event, key, resentFrom: eventId };
          const ran = await runEvent(options, quotas, { ...of, traceparent: c.get('traceparent') });
          const { chainId } = ran.started?.chain ?? {};
          const details = { relayId, eventId, version: ran.version, newEventId: ran.eventId, chainId };
          await Promise.all([
            store.audit.record({ actor, action: 'event.resend', companyId, details }),
            request && chainId && store.rejected.noteResent({ companyId, rejectedId: request.rejectedId, chainId }, actor),
          ]).catch(unrecorded({ companyId, ...details }));
          return answerEvent(c, ran, linksFor(actor, links));
        });
      },
    }),
  ];
}

/** @throws Problem not-confirmed, with the actions that would run. If nothing would run, no confirmation is needed. */
function assertConfirmed(version: number, rendered: Rendered): void {
  if (rendered.kind !== 'chain') return;
  const detail = `Nothing has run. The field errors lists the actions of version ${version}. To run these actions, add "confirm": true.`;
  const errors = rendered.actions.map((action) => ({ pointer: `/${action.index}`, detail: JSON.stringify(fieldsOf(action)) }));
  throw new Problem('not-confirmed', detail, { errors });
}
