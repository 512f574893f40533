/** `POST /co/{companyId}/relay`: takes a chain, or says what is wrong with it. */

import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { type Chain, type ChainAction, chainWorkflowId, dueAt } from '../chain/chain.js';
import { type Remark, readRequest } from '../chain/request.js';
import { type Links, workflowLink } from '../config.js';
import type { Store } from '../store/store.js';
import { type AdmissionOptions, admit } from './admission.js';
import { actorReader } from './authentication.js';
import { hashRequest, type StartedChain, type StartOptions, startChain } from './chain-start.js';
import { asksDryRun, type DryRunOptions, dryRun } from './dry-run.js';
import { type Counted, shareHeaders } from './limits.js';
import { Problem } from './problem.js';
import { Rejection, type Rejections } from './rejections.js';
import { readStrictJson } from './strict-json.js';

export interface RelayOptions extends StartOptions, DryRunOptions, AdmissionOptions {
  store: Pick<Store, 'tokens' | 'companies' | 'rules' | 'keys' | 'pauses'>;
  adminToken: string;
  links: Links;
  rejections: Rejections;
}

/** At most so many bytes a body. */
export const maxBodyBytes = 256 * 1024;

/** At most so many mistakes are named. */
const maxErrors = 1000;

export const acceptedSchema = z.object({
  chainId: z.string(),
  workflowId: z.string(),
  receivedAt: z.iso.datetime().describe('What delays are measured from.'),
  actions: z.array(z.object({ index: z.int(), action: z.string(), relayId: z.string(), runAt: z.iso.datetime() })),
  warnings: z
    .array(z.object({ pointer: z.string(), detail: z.string() }))
    .describe('What is worth knowing and did not keep the chain from being accepted.'),
  links: z.object({ chain: z.url(), webUi: z.url().optional() }),
});

export function relayRoutes(options: RelayOptions): Hono<Counted> {
  const tooLarge = () => {
    throw new Problem('body-too-large', `A body may have at most ${maxBodyBytes / 1024} KiB.`);
  };
  const actorOf = actorReader(options.adminToken, options.store.keys);
  const limited = bodyLimit({ maxSize: maxBodyBytes, onError: tooLarge });
  return new Hono<Counted>().post('/co/:companyId/relay', shareHeaders, limited, async (c) => {
    const companyId = c.req.param('companyId');
    const dry = asksDryRun(c);
    const bytes = await c.req.arrayBuffer();
    const elements = readElements(c.req.header('Content-Type'), bytes);
    const { key, mistake } = readIdempotencyKey(c.req.header('Idempotency-Key'), c.req.header('webhook-id'));
    try {
      await admit(options, c, { companyId, elements, bytes });
      if (mistake !== undefined) throw new Rejection('idempotency-key', 'idempotency-key', mistake);
      const request = readChain(elements);
      if (dry) return c.json(await dryRun(options, { companyId, ...request, valuesShown: (await actorOf(c)) !== undefined }));
      const started = await startChain(options, { companyId, actions: request.actions, hash: hashRequest(elements), ...key });
      return answerStarted(c, started, request.warnings, options.links);
    } catch (error) {
      if (error instanceof Rejection && !dry) options.rejections.keep(error, { companyId, elements, ...key });
      throw error;
    }
  });
}

/** @throws Rejection 400 naming every mistake. */
export function readChain(elements: readonly Record<string, unknown>[]): { actions: ChainAction[]; warnings: Remark[] } {
  const request = readRequest(elements);
  if (request.ok) return request;
  const errors = request.problems.slice(0, maxErrors);
  const detail = `Nothing has run. ${errors.map((error) => `${error.pointer || 'the array'} ${error.detail}`).join('; ')}`;
  throw new Rejection('invalid-chain', 'invalid-chain', detail, { errors });
}

/** 202, or 200 with the first answer again. */
export function answerStarted(c: Context, { chain, replayed }: StartedChain, warnings: Remark[], links: Links): Response {
  c.header('Location', `/co/${chain.companyId}/chains/${chain.chainId}`);
  if (replayed) c.header('Idempotency-Replayed', 'true');
  return c.json(accepted(chain, warnings, links), replayed ? 200 : 202);
}

function accepted(chain: Chain, warnings: Remark[], links: Links): z.infer<typeof acceptedSchema> {
  const workflowId = chainWorkflowId(chain);
  const webUi = workflowLink(links, workflowId);
  return {
    chainId: chain.chainId,
    workflowId,
    receivedAt: chain.receivedAt,
    actions: chain.actions.map((action) => ({
      index: action.index,
      action: action.action,
      relayId: action.relayId,
      runAt: new Date(dueAt(chain, action)).toISOString(),
    })),
    warnings,
    links: { chain: `${links.api}/co/${chain.companyId}/chains/${chain.chainId}`, ...(webUi !== undefined && { webUi }) },
  };
}

/** The body as an array of objects. What is said here is said to strangers too. */
function readElements(contentType: string | undefined, bytes: ArrayBuffer): Record<string, unknown>[] {
  if (!/^application\/([\w.-]+\+)?json *(;|$)/i.test(contentType ?? '')) {
    throw new Problem('unsupported-media-type', 'Send JSON, with Content-Type: application/json.');
  }
  const body = readStrictJson(bytes);
  if (!body.ok) throw new Problem('malformed-json', `The body ${body.error}.`);
  if (!Array.isArray(body.value)) {
    throw new Problem('not-an-array', 'The body must be a JSON array of actions, also for a single one: [{"action": …}].');
  }
  const elements: unknown[] = body.value;
  const errors = elements
    .flatMap((element, index) => (isObject(element) ? [] : [{ pointer: `/${index}`, detail: 'must be an object' }]))
    .slice(0, maxErrors);
  if (elements.length === 0) errors.push({ pointer: '', detail: 'must have at least one action' });
  if (errors.length > 0)
    throw new Problem('not-an-array', 'The body must be a JSON array of one or more actions.', {
      errors,
    });
  return elements.filter(isObject);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `Idempotency-Key`, bare or quoted, or `webhook-id`; `mistake` where both are given and differ, or one is unusable. */
function readIdempotencyKey(
  idempotencyKey: string | undefined,
  webhookId: string | undefined,
): { key?: { idempotencyKey: string }; mistake?: string } {
  const bare = idempotencyKey === undefined ? undefined : (/^"(.*)"$/.exec(idempotencyKey.trim())?.[1] ?? idempotencyKey.trim());
  if (bare !== undefined && webhookId !== undefined && bare !== webhookId)
    return { mistake: 'Idempotency-Key and webhook-id are both given and differ: send one of them.' };
  const key = bare ?? webhookId;
  if (key === undefined) return {};
  if (key === '' || key.length > 255) return { mistake: 'An idempotency key must have 1 to 255 characters.' };
  return { key: { idempotencyKey: key } };
}
