/** `POST /co/{companyId}/relay`: takes a chain, or says what is wrong with it. */

import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { type Chain, chainWorkflowId, dueAt } from '../chain/chain.js';
import { type Remark, readRequest } from '../chain/request.js';
import { type Links, workflowLink } from '../config.js';
import type { Store } from '../store/store.js';
import { hashRequest, type StartOptions, startChain } from './chain-start.js';
import { Problem } from './problem.js';
import { readStrictJson } from './strict-json.js';

export interface RelayOptions extends StartOptions {
  store: Pick<Store, 'tokens'>;
  links: Links;
}

/** At most so many bytes a body. */
export const maxBodyBytes = 256 * 1024;

export const acceptedSchema = z.object({
  chainId: z.string(),
  workflowId: z.string(),
  receivedAt: z.iso.datetime(),
  actions: z.array(z.object({ index: z.int(), action: z.string(), relayId: z.string(), runAt: z.iso.datetime() })),
  warnings: z.array(z.object({ pointer: z.string(), detail: z.string() })),
  links: z.object({ chain: z.url(), webUi: z.url().optional() }),
});

export function relayRoutes(options: RelayOptions): Hono {
  const tooLarge = () => {
    throw new Problem(413, 'body-too-large', 'Body too large', `A body may have at most ${maxBodyBytes / 1024} KiB.`);
  };
  return new Hono().post('/co/:companyId/relay', bodyLimit({ maxSize: maxBodyBytes, onError: tooLarge }), async (c) => {
    const companyId = c.req.param('companyId');
    const key = readIdempotencyKey(c.req.header('Idempotency-Key'), c.req.header('webhook-id'));
    const elements = await readElements(c.req.header('Content-Type'), await c.req.arrayBuffer());
    await authenticate(options.store, companyId, elements);
    const request = readRequest(elements);
    if (!request.ok) throw invalidChain(request.problems);

    const { chain, replayed } = await startChain(options, {
      companyId,
      actions: request.actions,
      hash: hashRequest(elements),
      ...(key !== undefined && { idempotencyKey: key }),
    });
    c.header('Location', `/co/${companyId}/chains/${chain.chainId}`);
    if (replayed) c.header('Idempotency-Replayed', 'true');
    return c.json(accepted(chain, request.warnings, options.links), replayed ? 200 : 202);
  });
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
    throw new Problem(415, 'unsupported-media-type', 'Unsupported media type', 'Send JSON, with Content-Type: application/json.');
  }
  const body = readStrictJson(bytes);
  if (!body.ok) throw new Problem(400, 'malformed-json', 'Malformed body', `The body ${body.error}.`);
  if (!Array.isArray(body.value)) {
    throw new Problem(
      400,
      'not-an-array',
      'Not an array of actions',
      'The body must be a JSON array of actions, also for a single one: [{"action": …}].',
    );
  }
  const elements: unknown[] = body.value;
  const errors = elements.flatMap((element, index) =>
    isObject(element) ? [] : [{ pointer: `/${index}`, detail: 'must be an object' }],
  );
  if (elements.length === 0) errors.push({ pointer: '', detail: 'must have at least one action' });
  if (errors.length > 0)
    throw new Problem(400, 'not-an-array', 'Not an array of actions', 'The body must be a JSON array of one or more actions.', {
      errors,
    });
  return elements.filter(isObject);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every action's rule and token. @throws Problem 401, the same whatever is wrong. */
async function authenticate(store: RelayOptions['store'], companyId: string, elements: Record<string, unknown>[]): Promise<void> {
  const text = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
  const credentials = elements.map(({ relayId, relayAccessToken }) => ({
    relayId: text(relayId),
    relayAccessToken: text(relayAccessToken),
  }));
  const authentication = await store.tokens.authenticate(companyId, credentials);
  if (authentication.ok) return;
  const detail = 'Company, relayId and relayAccessToken of every action must belong together, and the rule must be enabled.';
  throw new Problem(401, 'unauthorized', 'Not authorized', detail, { headers: { 'WWW-Authenticate': 'relayAccessToken' } });
}

function invalidChain(errors: Remark[]): Problem {
  const detail = `Nothing has run. ${errors.map((error) => `${error.pointer || 'the array'} ${error.detail}`).join('; ')}`;
  return new Problem(400, 'invalid-chain', 'Invalid chain', detail, { errors });
}

/** `Idempotency-Key`, bare or quoted, or `webhook-id`. @throws Problem 400 where both are given and differ, or one is unusable. */
function readIdempotencyKey(idempotencyKey: string | undefined, webhookId: string | undefined): string | undefined {
  const bare = idempotencyKey === undefined ? undefined : (/^"(.*)"$/.exec(idempotencyKey.trim())?.[1] ?? idempotencyKey.trim());
  if (bare !== undefined && webhookId !== undefined && bare !== webhookId) {
    throw new Problem(
      400,
      'idempotency-key',
      'Two idempotency keys',
      'Idempotency-Key and webhook-id are both given and differ: send one of them.',
    );
  }
  const key = bare ?? webhookId;
  if (key !== undefined && (key === '' || key.length > 255)) {
    throw new Problem(400, 'idempotency-key', 'Unusable idempotency key', 'An idempotency key must have 1 to 255 characters.');
  }
  return key;
}
