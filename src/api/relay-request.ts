/** The request of a chain: its OpenAPI schema, headers and body. */

import type { Context } from 'hono';
import { z } from 'zod';
import emailSendEmail from '../../examples/email-send-email.json' with { type: 'json' };
import twoGroups from '../../examples/two-groups.json' with { type: 'json' };
import widenThenAlert from '../../examples/widen-then-alert.json' with { type: 'json' };
import { actionDefinitions } from '../chain/actions.js';
import type { ChainAction } from '../chain/chain.js';
import { commonFields, type Issue, maxActions, mostBytes, readRequest } from '../chain/request.js';
import { Problem, Rejection } from '../contract/problem.js';
import { isJsonType, type Received } from '../door/decode.js';
import { flawAdvice, flawWords } from '../door/flaw.js';
import type { Reading } from '../door/read.js';
import type { TokensIn } from '../door/tokens.js';

/** Also limits the warnings in an answer. */
const maxErrors = 1000;

/** One schema for each action: common fields and its own fields. */
export const actionRequests = actionDefinitions.map(({ name, description, needsAssignment, fields }) => {
  const { platformAssignmentId } = commonFields;
  const assignment = needsAssignment
    ? platformAssignmentId.unwrap().describe(platformAssignmentId.description ?? '')
    : platformAssignmentId;
  const action = z.literal(name).describe('The name of this action.');
  return z.object({ ...commonFields, action, platformAssignmentId: assignment, ...fields }).meta({ id: name, description });
});

/** Only for the OpenAPI document: chain/request.ts validates, with better messages. */
const rawBody = z
  .array(z.union(actionRequests))
  .min(1)
  .max(maxActions)
  .meta({
    id: 'ChainRequest',
    description:
      'The actions, in the order in which they run. Values are strings; a JSON number or boolean is read as text. An unknown field is ' +
      'ignored with a warning; a field that looks misspelt is refused.',
  });

export const examples = {
  'widen-then-alert': {
    summary: 'Send within a radius, then later within larger ones, then alert the manager if nobody was found.',
    value: widenThenAlert,
  },
  'email-send-email': { summary: 'An e-mail, then a send, then an e-mail, strictly in this order.', value: emailSendEmail },
  'two-groups': { summary: 'One group now, a second group half an hour later.', value: twoGroups },
};

const idempotencyHeader = z.string().min(1).max(255).optional();
const signed = 'Required, with `webhook-id`, if the company has a `webhookSecret`: see Standard Webhooks.';
const signatureHeader = z.string().optional().describe(signed);

const headers = z.object({
  'Idempotency-Key': idempotencyHeader.describe(
    'With or without quotation marks. A second request with the same key runs nothing: with the same body it gets the first answer ' +
      'again, with another body it is refused.',
  ),
  'webhook-id': idempotencyHeader.describe('The same as `Idempotency-Key`. If both are sent, they must be equal.'),
  'webhook-timestamp': signatureHeader,
  'webhook-signature': signatureHeader,
});

const query = z.object({
  dryRun: z
    .enum(['true', 'false'], 'must be true or false')
    .default('false')
    .describe('`true`: a dry run, without any effect. The idempotency key stays unused.'),
});

export const chainRequest = { query, headers, rawBody, examples };

/** @throws Problem 400 also for a misspelt `dryRun`: ignoring it would run the chain */
export function asksDryRun(c: Context): boolean {
  const other = Object.keys(c.req.query()).find((name) => name !== 'dryRun' && /^dry[_-]?run$/i.test(name));
  if (other !== undefined) throw new Problem('invalid-query', `${other} is not a parameter; did you mean dryRun?`);
  const [value = 'false', another] = new Set(c.req.queries('dryRun'));
  if (another !== undefined || !query.safeParse({ dryRun: value }).success)
    throw new Problem('invalid-query', 'dryRun must be true or false.');
  return value === 'true';
}

/** The value of `Idempotency-Key`, with or without quotation marks, or of `webhook-id`. */
export function readIdempotencyKey(c: Context): { idempotencyKey?: string; mistake?: string } {
  const given = c.req.header('Idempotency-Key');
  const bare = given?.trim().replace(/^"(.*)"$/, '$1');
  const webhookId = c.req.header('webhook-id');
  if (bare !== undefined && webhookId !== undefined && bare !== webhookId)
    return { mistake: 'Idempotency-Key and webhook-id are both given and differ: send one of them.' };
  const key = bare ?? webhookId;
  if (key === '' || (key && key.length > 255)) return { mistake: 'An idempotency key must have 1 to 255 characters.' };
  return { idempotencyKey: key };
}

/** The body, cut off at the limit. */
export async function receive(c: Context): Promise<Received> {
  const headers = { contentType: c.req.header('Content-Type'), contentEncoding: c.req.header('Content-Encoding') };
  const isShort = Number(c.req.header('Content-Length') ?? Number.NaN) <= mostBytes;
  // Hono's stream builds a whole `Request`, which costs as much as reading and checking a chain.
  if (isShort && c.req.header('Transfer-Encoding') === undefined)
    return { ...headers, bytes: await c.req.arrayBuffer(), whole: true };
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = c.req.raw.body?.getReader();
  while (reader && size <= mostBytes) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    size += value.length;
  }
  reader?.releaseLock();
  return { ...headers, bytes: new Uint8Array(Buffer.concat(chunks).subarray(0, mostBytes)).buffer, whole: size <= mostBytes };
}

/** The answer to a body that is not a list of actions. Strangers get it, too. */
export function refusal(
  reading: Extract<Reading, { ok: false }>,
  { contentType, whole }: Received,
  { masked }: TokensIn,
): Problem {
  const { flaw, text, errors } = reading;
  if (flaw.kind === 'too-large') {
    // The rest of the body stays unread.
    const headers: Record<string, string> = whole ? {} : { Connection: 'close' };
    return new Problem('body-too-large', `A body may have at most ${mostBytes / 1024} KiB.`, { headers });
  }
  const says = flawWords(flaw, text, masked.text.slice(masked.at(flaw.offset ?? 0)));
  const detail = `The body cannot be read: ${says}. ${flawAdvice(flaw)}`;
  if (!isJsonType(contentType))
    return new Problem('unsupported-media-type', `Send JSON, with Content-Type: application/json. ${detail}`);
  if (flaw.kind !== 'not-actions') return new Problem('malformed-json', detail);
  const mistakes = errors?.length ? { errors } : {};
  return new Problem(
    'not-an-array',
    'The body must be a JSON array of actions, also for a single one: [{"action": …}].',
    mistakes,
  );
}

/** @throws Rejection 400 with every mistake */
export function readActions(elements: readonly Record<string, unknown>[]): { actions: ChainAction[]; warnings: Issue[] } {
  const request = readRequest(elements);
  if (request.ok) return { actions: request.actions, warnings: request.warnings.slice(0, maxErrors) };
  const errors = request.problems.slice(0, maxErrors);
  const detail = `Nothing has run. ${errors.map((error) => `${error.pointer || 'the array'} ${error.detail}`).join('; ')}`;
  throw new Rejection('invalid-chain', 'invalid-chain', detail, { errors });
}
