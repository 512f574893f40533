/** `POST /co/{companyId}/relay`: starts a chain, or answers with the mistakes in the request. */

import type { Context } from 'hono';
import { z } from 'zod';
import { type ChainAction, chainLinks, chainUrl, chainWorkflowId, dueAt, type Links } from '../chain/chain.js';
import type { Issue } from '../chain/request.js';
import { type Accepted, acceptedSchema } from '../contract/chain-resource.js';
import { dryRunSchema } from '../contract/dry-run.js';
import { Problem, Rejection } from '../contract/problem.js';
import { type Reading, readClosely, readPlain } from '../door/read.js';
import { tokensIn } from '../door/tokens.js';
import { hashRequest, type StartedChain, startChain } from '../temporal/start.js';
import { type Callers, linksFor } from './bearer-authentication.js';
import { dryRun } from './dry-run.js';
import type { Guesses } from './guesses.js';
import { withinLimit } from './limits.js';
import type { Quotas } from './quotas.js';
import { type Asked, keepRefused } from './refused.js';
import type { Rejections } from './rejections.js';
import { authenticateRequest, mayBeAuthentic } from './relay-authentication.js';
import { asksDryRun, chainRequest, readActions, readIdempotencyKey, receive, refusal } from './relay-request.js';
import { type Answer, type ApiOptions, type Route, route } from './route.js';

const acceptedHeaders = {
  Location: 'The path of the chain.',
  'RateLimit-Limit': 'The limit of requests a minute for the company.',
  'RateLimit-Remaining': 'The number of requests that are left.',
  'RateLimit-Reset': 'The seconds until the count starts again.',
};

/** Describes the answers of `answerStarted` for OpenAPI: the answer 202, the headers of the answer 200, and the problems. */
export const acceptedAnswer: Answer = ['The chain is accepted and will run.', acceptedSchema, acceptedHeaders];
export const replayedHeaders = { ...acceptedHeaders, 'Idempotency-Replayed': '`true` if this answer repeats the first answer.' };

export const startProblems = [
  'invalid-chain',
  'idempotency-key-reused',
  'quota-exceeded',
  'too-many-open-chains',
  'temporal-unavailable',
] as const;

/** Objects that the routes for chains and for events share. So wrong tokens at one route delay the answers of both routes. */
export type Door = { rejections: Rejections; quotas: Quotas; guesses: Guesses };

/** @param callers - finds the caller by the company key or admin token in the request */
export function relayRoute(options: ApiOptions, { rejections, quotas, guesses }: Door, callers: Pick<Callers, 'of'>): Route {
  const { limits, links } = options;
  const known = { ...options, guesses, rejections };
  return route.sender('POST /co/:companyId/relay', 'submitChain', 'Submit a chain of actions', {
    description:
      'Runs the actions in array order. Delayed actions run when they are due. The relay answers after it has stored the chain. ' +
      'If one action is invalid, the whole request is refused. With `?dryRun=true`, nothing runs: the answer predicts the result of ' +
      'each action.',
    ...chainRequest,
    answers: {
      202: acceptedAnswer,
      200: [
        'The first answer again, if the idempotency key was used before. For a dry run, the predicted results.',
        z.union([acceptedSchema, dryRunSchema]),
        replayedHeaders,
      ],
    },
    problems: [...startProblems, 'not-an-array', 'idempotency-key', 'lists-refused', 'database-unavailable', 'unreadable'],
    boundsBody: true,
    async handle(c, { companyId }) {
      const dry = asksDryRun(c);
      const received = await receive(c);
      await limits.refuseFailing(c, () => mayBeAuthentic(known, companyId, received));
      const reading = readPlain(received) ?? (await readClosely(received));
      const { idempotencyKey, mistake } = readIdempotencyKey(c);
      const asked: Asked = { companyId, received, reading, idempotencyKey, headers: c.req.raw.headers };
      try {
        if (!reading.ok) throw refused(asked, reading);
        const { elements } = reading;
        const { bytes } = received;
        const { signature, tokenIds } = await authenticateRequest(known, companyId, elements, { bytes, headers: asked.headers });
        asked.signature = signature;
        const flaw = reading.looseness(); // The authentication has refused strangers, so only known senders get this answer.
        if (flaw) throw refused(asked, { ok: false, flaw, text: reading.text, cut: false });
        return await withinLimit(c, limits, companyId, async () => {
          if (mistake !== undefined) throw new Rejection('idempotency-key', 'idempotency-key', mistake);
          const { actions, warnings: found } = readActions(elements);
          await assertLists(options, companyId, actions);
          const unable = await quotas.checkActions(companyId, actions);
          const warnings = [...reading.warnings, ...found, ...unable];
          if (dry) {
            const valuesShown = (await callers.of(c)) !== undefined;
            return c.json(await dryRun(options, { companyId, actions, warnings, valuesShown }));
          }
          const hash = hashRequest(elements);
          const request = { companyId, actions, hash, idempotencyKey, tokenIds, warnings, traceparent: c.get('traceparent') };
          const started = await quotas.within(companyId, actions, () => startChain(options, request));
          return answerStarted(c, started, warnings, linksFor(await callers.of(c).catch(() => undefined), links));
        });
      } catch (error) {
        if (error instanceof Problem && !dry) await keepRefused(known, error, asked);
        throw error;
      }
    },
  });
}

/** The answer to a body that is no list of actions, or that is ambiguous JSON. */
function refused(asked: Asked, reading: Extract<Reading, { ok: false }>): Problem {
  asked.tokens = tokensIn(reading.text);
  return refusal(reading, asked.received, asked.tokens);
}

async function assertLists({ store }: Pick<ApiOptions, 'store'>, companyId: string, actions: readonly ChainAction[]) {
  const settings = await store.settings.of(companyId);
  const refusing = actions.filter(({ relayId }) => settings?.rules.get(relayId)?.door?.refuseLists);
  if (refusing.length === 0) return;
  const errors = refusing.map(({ index }) => ({
    pointer: `/${index}/relayId`,
    detail: 'belongs to a rule that accepts only events',
  }));
  const detail = `Rule ${refusing[0]?.relayId} accepts only events, not lists. Nothing has run.`;
  throw new Rejection('lists-refused', 'lists-refused', detail, { errors });
}

/** Answers 202 for a new chain. For a repeated request, answers 200 with the first answer. */
export function answerStarted(c: Context, started: StartedChain, warnings: Issue[], links: Links): Response {
  return c.json(acceptedOf(c, started, warnings, links), started.replayed ? 200 : 202);
}

/** @returns the body of the answer. Also sets the headers of the answer. */
export function acceptedOf(c: Context, { chain, replayed }: StartedChain, warnings: Issue[], links: Links): Accepted {
  c.header('Location', chainUrl('', chain));
  if (replayed) c.header('Idempotency-Replayed', 'true');
  return {
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
}
