/** `/co/{companyId}/rejected`: requests that were refused although their sender is known, and sending them again. */

import { mergeFields } from '../chain/fields.js';
import { jsonPointer } from '../chain/request.js';
import { acceptedSchema } from '../contract/chain-resource.js';
import {
  needsConfirmation,
  Problem,
  type RejectedRequest,
  type Resend,
  rejectedListSchema,
  resendRequest,
  wholeRejectedSchema,
} from '../contract/problem.js';
import { hashRequest, startChain } from '../temporal/start.js';
import { invalid, numberCursor, pageQuery, readTexts } from './input.js';
import { withinLimit } from './limits.js';
import { found } from './problems.js';
import type { Quotas } from './quotas.js';
import type { Rejections } from './rejections.js';
import { acceptedAnswer, answerStarted, replayedHeaders } from './relay.js';
import { textOf } from './relay-authentication.js';
import { readActions } from './relay-request.js';
import { type ApiOptions, type Route, route } from './route.js';

export function rejectedRoutes(options: ApiOptions, rejections: Rejections, quotas: Quotas): Route[] {
  const { store, links, limits, log } = options;
  const find = async (companyId: string, rejectedId: string): Promise<RejectedRequest> => {
    await rejections.settled(companyId);
    return found(await store.rejected.get(companyId, rejectedId), `rejected request ${rejectedId} of company ${companyId}`);
  };
  return [
    route('GET /co/:companyId/rejected', 'listRejected', 'List the rejected requests of a company', {
      use: 'lists',
      query: pageQuery(numberCursor),
      answers: { 200: ['The newest first.', rejectedListSchema] },
      async handle(c, { companyId, query }) {
        found(await store.companies.get(companyId), `company ${companyId}`);
        await rejections.settled(companyId);
        return c.json(await store.rejected.list(companyId, query));
      },
    }),
    route('GET /co/:companyId/rejected/:rejectedId', 'getRejected', 'Read a rejected request with its actions', {
      use: 'reads',
      answers: { 200: ['The request.', wholeRejectedSchema] },
      handle: async (c, { companyId, rejectedId }) => c.json(await find(companyId, rejectedId)),
    }),
    route('POST /co/:companyId/rejected/:rejectedId/resend', 'resendRejected', 'Send a rejected request again', {
      description:
        'Needs no token of its rules. Delays count from now. With `actions` it is mended first; whatever it says then is checked as any' +
        ' request is. What came with a dead token or without the signature needs `confirm`: the answer without it shows the actions.',
      rawBody: resendRequest,
      answers: {
        202: acceptedAnswer,
        200: ['The sender has repeated it meanwhile: the first answer again.', acceptedSchema, replayedHeaders],
      },
      problems: [
        'invalid-body',
        'invalid-chain',
        'not-confirmed',
        'already-resent',
        'rule-disabled',
        'idempotency-key-reused',
        'quota-exceeded',
        'too-many-open-chains',
        'temporal-unavailable',
      ],
      async handle(c, { companyId, rejectedId, actor }) {
        const { confirm, actions: changes } = await readTexts(c, resendRequest);
        const request = await find(companyId, rejectedId);
        if (request.chainId !== undefined)
          throw new Problem('already-resent', `This request was sent again at ${request.resentAt}: chain ${request.chainId}.`);
        if (!confirm && needsConfirmation(request)) throw notConfirmed({ ...request, elements: mended(request, changes) });
        return withinLimit(c, limits, companyId, async () => {
          const relayIds = [...new Set(request.elements.map(({ relayId }) => textOf(relayId)))];
          const rules = await Promise.all(relayIds.map((relayId) => store.rules.get(companyId, relayId)));
          const wanting = relayIds.flatMap((relayId, place) =>
            rules[place]?.enabled ? [] : `rule ${relayId} ${rules[place] ? 'is disabled' : 'does not exist any more'}`,
          );
          if (wanting.length > 0) throw new Problem('rule-disabled', `Nothing has run: ${wanting.join('; ')}.`);
          // Whoever may ask for this needs no token, but the actions are not valid without one.
          const elements = mended(request, changes).map((element) => ({ ...element, relayAccessToken: '' }));
          const { actions, warnings } = readActions(elements);
          // Of what came, so that a repetition by its sender is the same request.
          const hash = hashRequest(request.elements);
          const traceparent = c.get('traceparent');
          await quotas.checkRecipients(companyId, actions);
          const started = await quotas.within(companyId, actions, () =>
            startChain(options, { companyId, actions, hash, idempotencyKey: keyOf(request), traceparent }),
          );
          const { chainId } = started.chain;
          await store.rejected
            .noteResent({ companyId, rejectedId, chainId, mended: placesOf(changes) }, actor)
            .catch((error: unknown) => log.error({ err: error, companyId, rejectedId, chainId }, 'a resend could not be noted'));
          return answerStarted(c, started, warnings, links);
        });
      },
    }),
  ];
}

/** Shows what would run: whoever sent it may have written it. */
function notConfirmed({ reason, signature, elements }: RejectedRequest): Problem {
  const ended = reason === 'token-revoked' ? 'revoked' : 'rotated';
  const why = reason === 'signature' ? 'without the signature of the company' : `with a token that was ${ended}`;
  const detail =
    `Nothing has run. This request came ${why} (signature: ${signature ?? 'not known'}): somebody else may have written its actions. ` +
    'Read them in errors; if all of them are meant, send {"confirm": true}.';
  const errors = elements.map((element, index) => ({ pointer: `/${index}`, detail: JSON.stringify(element) }));
  return new Problem('not-confirmed', detail, { errors });
}

/** Its actions with the changes. @throws Problem invalid-body */
function mended({ elements }: RejectedRequest, changes: Resend['actions']): RejectedRequest['elements'] {
  const errors = Object.entries(changes).flatMap(([index, fields]) => {
    if (!elements[Number(index)]) return [{ pointer: `/actions/${index}`, detail: 'is none of its actions' }];
    const fixed = ['relayId', 'relayAccessToken'].filter((name) => name in fields);
    return fixed.map((name) => ({ pointer: `/actions/${index}/${name}`, detail: 'cannot be changed' }));
  });
  if (errors.length > 0) throw invalid(errors);
  return elements.map((element, index) => mergeFields(element, changes[index] ?? {}));
}

/** `['/1/delayInSeconds']`; undefined where nothing was changed. */
function placesOf(changes: Resend['actions']): string[] | undefined {
  const places = Object.entries(changes).flatMap(([index, fields]) =>
    Object.keys(fields).map((name) => jsonPointer([index, name])),
  );
  return places.length > 0 ? places : undefined;
}

/** The sender's own, so that its repetition and ours are one chain; otherwise one of the request's, so that two resends are. */
function keyOf({ rejectedId, reason, idempotencyKey }: RejectedRequest): string {
  // No header can hold a line break.
  const own = `rejected\n${rejectedId}`;
  return reason === 'idempotency-key-reused' ? own : (idempotencyKey ?? own);
}
