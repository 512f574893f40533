/** The request that submits a chain: its OpenAPI schema, headers and body. */

import type { Context } from 'hono';
import { z } from 'zod';
import emailSendEmail from '../../examples/email-send-email.json' with { type: 'json' };
import setField from '../../examples/set-field.json' with { type: 'json' };
import twoGroups from '../../examples/two-groups.json' with { type: 'json' };
import widenThenAlert from '../../examples/widen-then-alert.json' with { type: 'json' };
import { actionDefinitions } from '../chain/actions.js';
import type { ChainAction } from '../chain/chain.js';
import { commonFields, type Issue, maxActions, mostBytes, readRequest } from '../chain/request.js';
import { anyObject } from '../contract/named.js';
import { Problem, Rejection } from '../contract/problem.js';
import { isJsonType, type Received } from '../door/decode.js';
import { flawAdvice, flawWords } from '../door/flaw.js';
import type { Reading } from '../door/read.js';
import type { TokensIn } from '../door/tokens.js';

const maxErrors = 1000; // an answer has at most this many mistakes, or this many warnings

/** One schema for each action: the common fields and the fields of this action. */
export const actionRequests = actionDefinitions.map(({ name, description, needsAssignment, fields }) => {
  const { platformAssignmentId } = commonFields;
  const assignment = needsAssignment
    ? platformAssignmentId.unwrap().describe(platformAssignmentId.description ?? '')
    : platformAssignmentId;
  const action = z.literal(name).describe('The name of this action.');
  return z.object({ ...commonFields, action, platformAssignmentId: assignment, ...fields }).meta({ id: name, description });
});

/** This schema is only for the OpenAPI document. chain/request.ts validates requests, with better messages. */
const rawBody = z
  .array(z.union(actionRequests))
  .min(1)
  .max(maxActions)
  .meta({
    id: 'ChainRequest',
    description:
      'The actions, in the order in which they run. Values are strings. The relay reads a JSON number or boolean as text. It ' +
      'ignores an unknown field, with a warning. If the name of a field looks misspelt, the relay refuses the request.',
  });

export const examples = {
  'widen-then-alert': {
    summary: 'Send an assignment within a small radius. Later, widen the radius. If nobody is found, alert the manager.',
    value: widenThenAlert,
  },
  'email-send-email': { summary: 'Send an e-mail, then the assignment, then another e-mail.', value: emailSendEmail },
  'set-field': { summary: 'Update two fields of a ticket: a time and a text.', value: setField },
  'two-groups': { summary: 'Send an assignment to one group now, and to a second group half an hour later.', value: twoGroups },
};

const idempotencyHeader = z.string().min(1).max(255).optional();
const signed =
  'Required, together with `webhook-id`, if the company has a `webhookSecret`, or the rule of an event requires Standard Webhooks.';
const signatureHeader = z.string().optional().describe(signed);

const headers = z.object({
  'Idempotency-Key': idempotencyHeader.describe(
    'Quotation marks around the key are optional. A second request with the same key runs nothing. With the same body, it gets ' +
      'the first answer again. With another body, it is refused.',
  ),
  'webhook-id': idempotencyHeader.describe('The same as `Idempotency-Key`. If both headers are sent, they must be equal.'),
  'webhook-timestamp': signatureHeader,
  'webhook-signature': signatureHeader,
});

const query = z.object({
  dryRun: z
    .enum(['true', 'false'], 'must be true or false')
    .default('false')
    .describe('`true` asks for a dry run, which has no effect. You can use its idempotency key again.'),
});

export const chainRequest = { query, headers, rawBody, examples };

/** The schemas are only for the OpenAPI document. */
export const eventRequest = {
  headers: headers.extend({
    'X-Relay-Token': z.string().optional().describe('A token of the rule. It can also be the bearer token in `Authorization`.'),
  }),
  rawBody: anyObject.meta({ id: 'Event', description: 'Any JSON object, such as the webhook of a platform.' }),
};

/** @throws Problem 400. A misspelt `dryRun` is also a mistake, because without `dryRun` the relay would run the chain. */
export function asksDryRun(c: Context): boolean {
  const other = Object.keys(c.req.query()).find((name) => name !== 'dryRun' && /^dry[_-]?run$/i.test(name));
  if (other !== undefined) throw new Problem('invalid-query', `${other} is not a parameter; did you mean dryRun?`);
  const [value = 'false', another] = new Set(c.req.queries('dryRun'));
  if (another !== undefined || !query.safeParse({ dryRun: value }).success)
    throw new Problem('invalid-query', 'dryRun must be true or false.');
  return value === 'true';
}

/** Reads the key from `Idempotency-Key`, where quotation marks are optional, or from `webhook-id`. */
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

/** Reads the body. Stops after `mostBytes` bytes. */
export async function receive(c: Context): Promise<Received> {
  const headers = { contentType: c.req.header('Content-Type'), contentEncoding: c.req.header('Content-Encoding') };
  const isShort = Number(c.req.header('Content-Length') ?? Number.NaN) <= mostBytes;
  // For a short body, avoid Hono's stream: its `Request` object takes as long as reading and checking a chain.
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

export const largest = `A request may have at most ${mostBytes / 1024} KiB.`;
/** The relay does not read the rest of a body that is too large, so the connection must close. */
export const closing = ({ whole }: Received): { headers: Record<string, string> } => ({
  headers: whole ? {} : { Connection: 'close' },
});

/** Makes the answer to a body that is not a list of actions. Senders without a valid token get this answer, too. */
export function refusal(reading: Extract<Reading, { ok: false }>, received: Received, { masked }: TokensIn): Problem {
  const { flaw, errors } = reading;
  if (flaw.kind === 'too-large') return new Problem('body-too-large', largest, closing(received));
  const says = flawWords(flaw, masked);
  const detail = `The body cannot be read: ${says}. ${flawAdvice(flaw)}`;
  if (!isJsonType(received.contentType))
    return new Problem('unsupported-media-type', `Send JSON, with Content-Type: application/json. ${detail}`);
  if (flaw.kind !== 'not-actions') return new Problem('malformed-json', detail);
  const anArray = 'The body must be a JSON array of actions, also for a single action: [{"action": …}].';
  return new Problem('not-an-array', anArray, errors?.length ? { errors } : {});
}

/** @throws Rejection 400 with every mistake */
export function readActions(elements: readonly Record<string, unknown>[]): { actions: ChainAction[]; warnings: Issue[] } {
  const request = readRequest(elements);
  if (request.ok) return { actions: request.actions, warnings: request.warnings.slice(0, maxErrors) };
  const errors = request.problems.slice(0, maxErrors);
  const detail = `Nothing has run. ${errors.map((error) => `${error.pointer || 'the array'} ${error.detail}`).join('; ')}`;
  throw new Rejection('invalid-chain', 'invalid-chain', detail, { errors });
}
