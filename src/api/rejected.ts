/** `/co/{companyId}/rejected`: refused requests of known senders. People can send these requests again, or drop them. */

import { type Fields, issuesIn, mergeFields } from '../chain/fields.js';
import { errorsOf, jsonPointer, readRequest } from '../chain/request.js';
import { cutShort } from '../chain/text.js';
import { acceptedSchema } from '../contract/chain-resource.js';
import type { RejectedRequest, Resend } from '../contract/problem.js';
import { needsConfirmation, Problem, rejectedListSchema, resendRequest, wholeRejectedSchema } from '../contract/problem.js';
import { acceptedEventSchema, notApplicableSchema } from '../contract/rule-event.js';
import { readEventText } from '../door/event.js';
import { hashRequest, startChain } from '../temporal/start.js';
import { linksFor } from './bearer-authentication.js';
import { invalid, numberCursor, pageQuery, readTexts } from './input.js';
import { withinLimit } from './limits.js';
import { found } from './problems.js';
import type { Quotas } from './quotas.js';
import type { Rejections } from './rejections.js';
import { acceptedAnswer, answerStarted, replayedHeaders, startProblems } from './relay.js';
import { textOf } from './relay-authentication.js';
import { readActions } from './relay-request.js';
import { type ApiOptions, type Route, route } from './route.js';
import { answerEvent, dedupe, runEvent, withoutContents } from './rule-events.js';

export const runProblems = [...startProblems, 'event-refused', 'rule-without-contents', 'rule-disabled'] as const;
export const resendProblems = [...runProblems, 'not-confirmed', 'already-resent', 'already-dropped'] as const;

export function rejectedRoutes(options: ApiOptions, rejections: Rejections, quotas: Quotas): Route[] {
  const { store, links, limits, log } = options;
  const find = async (companyId: string, rejectedId: string): Promise<RejectedRequest> => {
    await rejections.settled(companyId);
    return found(await store.rejected.get(companyId, rejectedId), `refused request ${rejectedId} of company ${companyId}`);
  };
  const noteResent: typeof store.rejected.noteResent = (resent, actor) => {
    const { companyId, rejectedId, chainId } = resent;
    const failed = (err: unknown) => log.error({ err, companyId, rejectedId, chainId }, 'a resend could not be recorded');
    return store.rejected.noteResent(resent, actor).catch(failed);
  };
  return [
    route.company('GET /co/:companyId/rejected', 'listRejected', 'List the refused requests of a company', {
      use: 'lists',
      query: pageQuery(numberCursor),
      answers: { 200: ['The refused requests, the newest first.', rejectedListSchema] },
      async handle(c, { companyId, query }) {
        found(await store.companies.get(companyId), `company ${companyId}`);
        await rejections.settled(companyId);
        return c.json(await store.rejected.list(companyId, query));
      },
    }),
    route.company('GET /co/:companyId/rejected/:rejectedId', 'getRejected', 'Read a refused request with its actions', {
      use: 'reads',
      answers: { 200: ['The request.', wholeRejectedSchema] },
      handle: async (c, { companyId, rejectedId }) => c.json(withProblems(await find(companyId, rejectedId))),
    }),
    route.company('POST /co/:companyId/rejected/:rejectedId/resend', 'resendRejected', 'Send a refused request again', {
      description:
        'Needs no tokens. Delays start now. `actions` edits the request first. The relay validates the result like any request. If the ' +
        'body could not be read, `proposed` sends the actions of its `proposal`. An event runs through the published version of its ' +
        'rule; to run another event, send `event` or `proposed`. If the request came with a revoked or rotated token, or without a right signature, add ' +
        '`confirm`. Without `confirm`, the answer shows the actions or the event.',
      rawBody: resendRequest,
      answers: {
        202: [acceptedAnswer[0], acceptedEventSchema.or(acceptedSchema), replayedHeaders],
        200: [
          'Either the sender has already sent the request again (this is the first answer), or the event is not applicable.',
          acceptedEventSchema.or(acceptedSchema).or(notApplicableSchema),
          replayedHeaders,
        ],
      },
      problems: [...resendProblems, 'invalid-body', 'only-proposed', 'not-authenticated'],
      async handle(c, { companyId, rejectedId, actor }) {
        const asked = await readTexts(c, resendRequest);
        const request = await find(companyId, rejectedId);
        return withinLimit(c, limits, companyId, async () => {
          assertUndecided(request);
          if (request.body?.isEvent) {
            const ran = await runEvent(options, quotas, await eventOf(options, companyId, request, asked));
            const { chainId } = ran.started?.chain ?? {};
            if (chainId !== undefined) await noteResent({ companyId, rejectedId, chainId }, actor);
            return answerEvent(c, ran, linksFor(actor, links));
          }
          if (asked.event) throw invalid([{ pointer: '/event', detail: 'is only for requests that came as an event' }]);
          const sent = sentOf(request, asked);
          const changed = sent.map(({ element }) => element);
          if (!asked.confirm && needsConfirmation(request)) throw notConfirmed({ ...request, elements: changed });
          const relayIds = [...new Set(changed.map(({ relayId }) => textOf(relayId)))];
          const rules = await Promise.all(relayIds.map((relayId) => store.rules.get(companyId, relayId)));
          const wanting = relayIds.flatMap((relayId, place) =>
            rules[place]?.enabled ? [] : `rule ${relayId} ${rules[place] ? 'is disabled' : 'does not exist any more'}`,
          );
          if (wanting.length > 0) throw new Problem('rule-disabled', `Nothing has run: ${wanting.join('; ')}.`);
          const { actions, warnings } = readActions(changed.map(withToken));
          // Hash the actions without the edits. If the sender repeats the request, the relay then recognizes the repetition.
          const hash = hashRequest(sent.map(({ came }) => came));
          const traceparent = c.get('traceparent');
          warnings.push(...(await quotas.checkActions(companyId, actions)));
          const started = await quotas.within(companyId, actions, () =>
            startChain(options, { companyId, actions, hash, idempotencyKey: keyOf(request), warnings, traceparent }),
          );
          const { chainId } = started.chain;
          const { proposed, leaveOut, actions: changes } = asked;
          const how = proposed ? { proposed, leftOut: leaveOut.length > 0 ? leaveOut : undefined } : {};
          await noteResent({ companyId, rejectedId, chainId, mended: placesOf(changes), ...how }, actor);
          return answerStarted(c, started, warnings, linksFor(actor, links));
        });
      },
    }),
    route.company('POST /co/:companyId/rejected/:rejectedId/drop', 'dropRejected', 'Drop a refused request', {
      description:
        'The request will not run, but you can still read it for a while. Drop requests that you do not need, because the storage for ' +
        'undecided requests is limited.',
      use: 'steering',
      answers: { 204: ['The request is dropped.'] },
      problems: ['already-resent'],
      async handle(c, { companyId, rejectedId, actor }) {
        const request = await find(companyId, rejectedId);
        if (request.chainId !== undefined || !(await store.rejected.drop(companyId, rejectedId, actor)))
          assertUndecided(await find(companyId, rejectedId));
        return c.body(null, 204);
      },
    }),
  ];
}

/** The problem asks for `confirm` and shows the actions, because a stranger may have written the request. */
function notConfirmed({ reason, signature, elements, body }: RejectedRequest): Problem {
  const ended = reason === 'token-revoked' ? 'revoked' : 'rotated';
  const why = reason === 'signature' ? 'without the signature of the company' : `with a token that was ${ended}`;
  const detail =
    `Nothing has run. This request came ${why} (signature: ${signature ?? 'not known'}): somebody else may have written its actions. ` +
    'Read the actions: the field `errors` lists them. To send all of them, use {"confirm": true}.';
  const ofEvent = body?.isEvent ? [{ pointer: '', detail: cutShort(body.text, 10_000) }] : [];
  const errors = [...ofEvent, ...elements.map((element, index) => ({ pointer: `/${index}`, detail: JSON.stringify(element) }))];
  return new Problem('not-confirmed', detail, { errors });
}

/** Reads the event of a request. @throws Problem not-confirmed, invalid-body, rule-disabled; Rejection rule-without-contents */
async function eventOf({ store }: ApiOptions, companyId: string, request: RejectedRequest, asked: Resend) {
  const { relayIds, body } = request;
  const [relayId = ''] = relayIds;
  const { confirm, proposed, actions } = asked;
  const guessed = proposed ? request.proposal?.[0]?.element : undefined;
  if ((proposed && !guessed) || Object.keys(actions).length > 0) {
    const detail = 'is not possible for this event: send the corrected event in `event`';
    throw invalid([{ pointer: Object.keys(actions).length > 0 ? '/actions' : '/proposed', detail }]);
  }
  const edited = asked.event ?? guessed;
  if (!confirm && needsConfirmation(request)) throw notConfirmed(request);
  const settings = await store.settings.of(companyId);
  const rule = settings?.rules.get(relayId);
  if (!rule?.enabled)
    throw new Problem('rule-disabled', `Nothing has run: rule ${relayId} ${rule ? 'is disabled' : 'does not exist any more'}.`);
  const version = settings?.contents.get(relayId)?.published;
  if (!version) throw withoutContents(relayId);
  const came = body?.text ?? '';
  const text = edited ? JSON.stringify(edited) : came;
  const event = body?.cut && !edited ? undefined : readEventText(text);
  if (!event) {
    const detail = 'is required: the body of this request cannot be read as an event. Send the corrected event';
    throw invalid([{ pointer: '/event', detail }]);
  }
  // Without a header, `dedupeBy` takes the key from the event. With this key, a repetition by the sender gets the same answer.
  const { key } = dedupe(request.idempotencyKey, rule.door, event);
  return { companyId, relayId, version, text, event, came, key: keyOf({ ...request, idempotencyKey: key }) };
}

/** @throws Problem already-resent, already-dropped */
export function assertUndecided({ chainId, resentAt, droppedAt, droppedBy }: RejectedRequest): void {
  if (chainId !== undefined) throw new Problem('already-resent', `This request was sent again at ${resentAt}: chain ${chainId}.`);
  if (droppedAt !== undefined) throw new Problem('already-dropped', `This request was dropped at ${droppedAt} by ${droppedBy}.`);
}

/**
 * @returns each action to send, as it came and after the edits. For an unreadable body, uses the actions of the proposal.
 * @throws Problem only-proposed, not-authenticated, invalid-body
 */
function sentOf(request: RejectedRequest, { proposed, leaveOut, actions: changes }: Resend) {
  const { elements, body, proposal = [] } = request;
  if (body === undefined) {
    if (proposed) throw invalid([{ pointer: '/proposed', detail: 'is only for requests whose body could not be read' }]);
    return mended(elements, changes);
  }
  if (!proposed || proposal.length === 0) {
    const none = 'There is no proposal: send a new chain.';
    const read = 'Read the `proposal`. To send the proposal, use {"proposed": true}.';
    const detail = `The body of this request could not be read as actions. ${proposal.length === 0 ? none : read}`;
    throw new Problem('only-proposed', detail);
  }
  const unknown = leaveOut.filter((index) => !proposal[index]);
  if (unknown.length > 0)
    throw invalid([{ pointer: '/leaveOut', detail: `names ${unknown.join(', ')}, which the proposal does not have` }]);
  const isLeftOut = (index: number) => leaveOut.includes(index);
  const wrong = proposal.flatMap(({ authenticated }, index) => (authenticated || isLeftOut(index) ? [] : [index]));
  if (wrong.length > 0) {
    const detail = 'did not contain the right token';
    const which = `${wrong.length > 1 ? 'Actions' : 'Action'} ${wrong.join(', ')} of the proposal`;
    const errors = wrong.map((index) => ({ pointer: `/${index}`, detail }));
    throw new Problem('not-authenticated', `Nothing has run. ${which} ${detail}: leave such actions out.`, { errors });
  }
  const came = proposal.map(({ element }) => element);
  return mended(came, changes).filter((_, index) => !isLeftOut(index));
}

/** The schema requires a token, but the relay stores none. */
const withToken = (element: Fields) => ({ ...element, relayAccessToken: '' });

/** Checks the proposed actions, so that people see the mistakes before they send them. */
function withProblems(request: RejectedRequest): RejectedRequest {
  const { proposal = [], body } = request;
  if (proposal.length === 0 || body?.isEvent) return request;
  const errors = errorsOf(readRequest(proposal.map(({ element }) => withToken(element))));
  return { ...request, proposal: proposal.map((one, index) => ({ ...one, problems: issuesIn(errors, index) })) };
}

/** @returns each action before and after the changes. @throws Problem invalid-body */
function mended(elements: RejectedRequest['elements'], changes: Resend['actions']) {
  const errors = Object.entries(changes).flatMap(([index, fields]) => {
    if (!elements[Number(index)]) return [{ pointer: `/actions/${index}`, detail: 'is not an action of the request' }];
    const fixed = ['relayId', 'relayAccessToken'].filter((name) => name in fields);
    return fixed.map((name) => ({ pointer: `/actions/${index}/${name}`, detail: 'cannot be changed' }));
  });
  if (errors.length > 0) throw invalid(errors);
  return elements.map((came, index) => ({ came, element: mergeFields(came, changes[index] ?? {}) }));
}

/** Returns the pointers of changed fields, such as `/1/delayInSeconds`. Undefined if no field changes. */
function placesOf(changes: Resend['actions']): string[] | undefined {
  const places = Object.entries(changes).flatMap(([index, fields]) =>
    Object.keys(fields).map((name) => jsonPointer([index, name])),
  );
  return places.length > 0 ? places : undefined;
}

type Resendable = Pick<RejectedRequest, 'rejectedId' | 'reason'> & { idempotencyKey?: string | undefined };

/** Returns the sender's idempotency key, so that a repetition starts no second chain. Makes a key if none is usable. */
export function keyOf({ rejectedId, reason, idempotencyKey }: Resendable): string {
  // Senders cannot use this key, because a header cannot contain a line break.
  const own = `rejected\n${rejectedId}`;
  return reason === 'idempotency-key-reused' ? own : (idempotencyKey ?? own);
}
