/** `POST /co/{companyId}/relay`: takes a chain, or says what is wrong with it. */

import type { Context } from 'hono';
import { z } from 'zod';
import { type ChainAction, chainUrl, chainWorkflowId, dueAt } from '../chain/chain.js';
import { type Issue, readRequest } from '../chain/request.js';
import { hashRequest, type StartedChain, type StartOptions, startChain } from '../chains/start.js';
import { type Accepted, acceptedSchema } from '../contract/chain-resource.js';
import { Problem } from '../contract/problem.js';
import { Rejection } from '../contract/rejected-request.js';
import { chainLinks, type Links } from '../service/config.js';
import type { Store } from '../store/store.js';
import { actorReader } from './bearer-authentication.js';
import { isObject, readJson } from './body.js';
import { chainExamples, chainRequest } from './chain-request.js';
import { asksDryRun, type DryRunOptions, dryRun, dryRunSchema } from './dry-run.js';
import { type Limits, showRateLimit } from './limits.js';
import type { Rejections } from './rejections.js';
import { type AdmissionOptions, authenticateRequest, tooManyRequests } from './relay-authentication.js';
import { type Route, route } from './route.js';

export interface RelayOptions extends StartOptions, DryRunOptions, AdmissionOptions {
  store: Pick<Store, 'tokens' | 'companies' | 'rules' | 'keys' | 'pauses'>;
  adminToken: string;
  limits: Limits;
  links: Links;
  rejections: Rejections;
}

/** The most mistakes that an answer names. */
const maxErrors = 1000;

const idempotencyHeader = z.string().min(1).max(255).optional();
const signatureHeader = z
  .string()
  .optional()
  .describe('Needed, with `webhook-id`, where the company has a `webhookSecret`: see Standard Webhooks.');

/** Headers of an answer to a chain. */
const rateLimitHeaders = {
  'RateLimit-Limit': 'Requests a minute that the company may send.',
  'RateLimit-Remaining': 'How many of them are left.',
  'RateLimit-Reset': 'Seconds until they begin anew.',
};

/** What OpenAPI says of `answerStarted`: of its 202, and of the headers of its 200. */
export const acceptedAnswer = {
  description: 'The chain is accepted and will run.',
  body: acceptedSchema,
  headers: { Location: 'The chain.', ...rateLimitHeaders },
};
export const replayedHeaders = {
  ...acceptedAnswer.headers,
  'Idempotency-Replayed': '`true` where this is the first answer again.',
};

export function relayRoutes(options: RelayOptions): Route[] {
  const { limits, links, rejections } = options;
  const actorOf = actorReader(options.adminToken, options.store.keys);
  return [
    route(
      {
        method: 'post',
        path: '/co/:companyId/relay',
        id: 'submitChain',
        access: 'relay tokens',
        summary: 'Submit a chain of actions',
        description:
          'Runs the actions in array order; delayed ones run on their own when they are due. The answer comes once the chain ' +
          'is durably accepted. One bad action refuses the whole request. With `?dryRun=true` it tells action by action what ' +
          'would happen, and nothing happens.',
        query: z.object({
          dryRun: z
            .enum(['true', 'false'], 'must be true or false')
            .default('false')
            .describe('`true`: tell what would happen, with no effect. An idempotency key is not used up.'),
        }),
        headers: z.object({
          'Idempotency-Key': idempotencyHeader.describe(
            'Bare or quoted. A request with a key that was used before runs nothing: the same body gets the first answer ' +
              'again, another body is refused.',
          ),
          'webhook-id': idempotencyHeader.describe(
            'The same, as webhook senders call it. Where both are given they must be equal.',
          ),
          'webhook-timestamp': signatureHeader,
          'webhook-signature': signatureHeader,
        }),
        rawBody: chainRequest,
        examples: chainExamples,
        answers: {
          202: acceptedAnswer,
          200: {
            description: 'To an idempotency key that was used before: the first answer again. To a dry run: what would happen.',
            body: z.union([acceptedSchema, dryRunSchema]),
            headers: replayedHeaders,
          },
        },
        problems: [
          'not-an-array',
          'invalid-chain',
          'idempotency-key',
          'idempotency-key-reused',
          'database-unavailable',
          'temporal-unavailable',
        ],
      },
      async (c) => {
        const companyId = c.req.param('companyId');
        const dry = asksDryRun(c);
        const bytes = await c.req.arrayBuffer();
        const elements = readElements(c.req.header('Content-Type'), bytes);
        const { key, mistake } = readIdempotencyKey(c.req.header('Idempotency-Key'), c.req.header('webhook-id'));
        try {
          await authenticateRequest(options, { companyId, elements, bytes, headers: c.req.raw.headers });
          const rateLimit = await limits.ofCompany(companyId);
          return await showRateLimit(c, rateLimit, async () => {
            if (rateLimit.exceeded) throw tooManyRequests(companyId, rateLimit);
            if (mistake !== undefined) throw new Rejection('idempotency-key', 'idempotency-key', mistake);
            const { actions, warnings } = readActions(elements);
            if (dry) {
              const valuesShown = (await actorOf(c)) !== undefined;
              return c.json(await dryRun(options, { companyId, actions, warnings, valuesShown }));
            }
            const started = await startChain(options, { companyId, actions, hash: hashRequest(elements), ...key });
            return answerStarted(c, started, warnings, links);
          });
        } catch (error) {
          if (error instanceof Rejection && !dry) rejections.keep(error, { companyId, elements, ...key });
          throw error;
        }
      },
    ),
  ];
}

/** @throws Rejection 400 naming every mistake. */
export function readActions(elements: readonly Record<string, unknown>[]): { actions: ChainAction[]; warnings: Issue[] } {
  const request = readRequest(elements);
  if (request.ok) return request;
  const errors = request.problems.slice(0, maxErrors);
  const detail = `Nothing has run. ${errors.map((error) => `${error.pointer || 'the array'} ${error.detail}`).join('; ')}`;
  throw new Rejection('invalid-chain', 'invalid-chain', detail, { errors });
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

/** The body as an array of objects. What is said here is said to strangers too. */
function readElements(contentType: string | undefined, bytes: ArrayBuffer): Record<string, unknown>[] {
  const body = readJson(contentType, bytes);
  const elements: unknown[] | undefined = Array.isArray(body) ? body : undefined;
  if (!elements)
    throw new Problem('not-an-array', 'The body must be a JSON array of actions, also for a single one: [{"action": …}].');
  const errors = elements
    .flatMap((element, index) => (isObject(element) ? [] : [{ pointer: `/${index}`, detail: 'must be an object' }]))
    .slice(0, maxErrors);
  if (elements.length === 0) errors.push({ pointer: '', detail: 'must have at least one action' });
  if (errors.length > 0) throw new Problem('not-an-array', 'The body must be a JSON array of one or more actions.', { errors });
  return elements.filter(isObject);
}

/** `Idempotency-Key`, bare or quoted, or `webhook-id`; `mistake` where both are given and differ, or one is unusable. */
function readIdempotencyKey(
  idempotencyKey: string | undefined,
  webhookId: string | undefined,
): { key?: { idempotencyKey: string }; mistake?: string } {
  const bare = idempotencyKey?.trim().replace(/^"(.*)"$/, '$1');
  if (bare !== undefined && webhookId !== undefined && bare !== webhookId)
    return { mistake: 'Idempotency-Key and webhook-id are both given and differ: send one of them.' };
  const key = bare ?? webhookId;
  if (key === undefined) return {};
  if (key === '' || key.length > 255) return { mistake: 'An idempotency key must have 1 to 255 characters.' };
  return { key: { idempotencyKey: key } };
}
