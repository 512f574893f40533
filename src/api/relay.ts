/** `POST /co/{companyId}/relay`: takes a chain, or says what is wrong with it. */

import type { Context } from 'hono';
import { z } from 'zod';
import { type ChainAction, chainLinks, chainUrl, chainWorkflowId, dueAt, type Links } from '../chain/chain.js';
import type { Issue } from '../chain/request.js';
import { type Accepted, acceptedSchema } from '../contract/chain-resource.js';
import { Rejection, type SignatureVerdict } from '../contract/problem.js';
import { hashRequest, type StartedChain, startChain } from '../temporal/start.js';
import { Guesses } from './guesses.js';
import { withinLimit } from './limits.js';
import type { Quotas } from './quotas.js';
import type { Rejections } from './rejections.js';
import { authenticateRequest, mayBeAuthentic } from './relay-authentication.js';
import { asksDryRun, chainRequest, readActions, readElements, readIdempotencyKey } from './relay-request.js';
import { type Answer, type ApiOptions, type Route, route } from './route.js';

/** Tells what these actions would do, as far as whoever asks may see it; answered in the form of `schema`. */
export interface DryRun {
  schema: z.ZodType;
  of(c: Context, request: { companyId: string; actions: ChainAction[]; warnings: Issue[] }): Promise<object>;
}

const acceptedHeaders = {
  Location: 'The chain.',
  'RateLimit-Limit': 'Requests a minute that the company may send.',
  'RateLimit-Remaining': 'How many of them are left.',
  'RateLimit-Reset': 'Seconds until they begin anew.',
};

/** What OpenAPI says of `answerStarted`: of its 202, and of the headers of its 200. */
export const acceptedAnswer: Answer = ['The chain is accepted and will run.', acceptedSchema, acceptedHeaders];
export const replayedHeaders = { ...acceptedHeaders, 'Idempotency-Replayed': '`true` where this is the first answer again.' };

/** @param isInsider - whether a company key or the admin token came with the request: only they see where the Web UI is. */
export function relayRoute(
  options: ApiOptions,
  rejections: Rejections,
  quotas: Quotas,
  dryRun: DryRun,
  isInsider: (c: Context) => Promise<boolean>,
): Route {
  const { limits, links, log } = options;
  const guesses = new Guesses(log);
  return route('POST /co/:companyId/relay', 'submitChain', 'Submit a chain of actions', {
    access: 'relay tokens',
    description:
      'Runs the actions in array order; delayed ones run on their own when they are due. The answer comes once the chain ' +
      'is durably accepted. One bad action refuses the whole request. With `?dryRun=true` it tells action by action what ' +
      'would happen, and nothing happens.',
    ...chainRequest,
    answers: {
      202: acceptedAnswer,
      200: [
        'To an idempotency key that was used before: the first answer again. To a dry run: what would happen.',
        z.union([acceptedSchema, dryRun.schema]),
        replayedHeaders,
      ],
    },
    problems: [
      'not-an-array',
      'invalid-chain',
      'idempotency-key',
      'idempotency-key-reused',
      'quota-exceeded',
      'too-many-open-chains',
      'database-unavailable',
      'unreadable',
      'temporal-unavailable',
    ],
    async handle(c, { companyId }) {
      const dry = asksDryRun(c);
      const bytes = await c.req.arrayBuffer();
      await limits.refuseFailing(c, () => mayBeAuthentic({ ...options, guesses }, companyId, bytes));
      const { elements, assertStrict } = readElements(c.req.header('Content-Type'), bytes);
      const { idempotencyKey, mistake } = readIdempotencyKey(c);
      let signature: SignatureVerdict | undefined;
      try {
        const authenticated = await authenticateRequest({ ...options, guesses }, companyId, elements, {
          bytes,
          headers: c.req.raw.headers,
        }).catch((error: unknown) => {
          if (error instanceof Rejection) return error;
          throw error;
        });
        assertStrict(); // Strangers have been refused by now.
        if (authenticated instanceof Rejection) throw authenticated;
        signature = authenticated.signature;
        const { tokenIds } = authenticated;
        return await withinLimit(c, limits, companyId, async () => {
          if (mistake !== undefined) throw new Rejection('idempotency-key', 'idempotency-key', mistake);
          const { actions, warnings } = readActions(elements);
          await quotas.checkRecipients(companyId, actions);
          if (dry) return c.json(await dryRun.of(c, { companyId, actions, warnings }));
          const traceparent = c.get('traceparent');
          const request = { companyId, actions, hash: hashRequest(elements), idempotencyKey, tokenIds, traceparent };
          const started = await quotas.within(companyId, actions, () => startChain(options, request));
          return answerStarted(c, started, warnings, (await isInsider(c).catch(() => false)) ? links : { api: links.api });
        });
      } catch (error) {
        if (error instanceof Rejection && !dry)
          rejections.keep(error, { companyId, elements, idempotencyKey, signature: error.signature ?? signature });
        throw error;
      }
    },
  });
}

/** 202, or 200 with the first answer again. */
export function answerStarted(c: Context, { chain, replayed }: StartedChain, warnings: Issue[], links: Links): Response {
  c.header('Location', chainUrl('', chain));
  if (replayed) c.header('Idempotency-Replayed', 'true');
  const accepted: Accepted = {
    chainId: chain.chainId,
    workflowId: chainWorkflowId(chain),
    receivedAt: chain.receivedAt,
    actions: chain.actions.map((action) => ({
      index: action.index,
      action: action.action,
      relayId: action.relayId,
      runAt: new Date(dueAt(chain, action)).toISOString(),
    })),
    warnings,
    links: chainLinks(links, chain),
  };
  return c.json(accepted, replayed ? 200 : 202);
}
