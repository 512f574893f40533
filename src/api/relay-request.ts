/** What the POST of a chain asks: how it is read, and what the OpenAPI document says of it. */

import type { Context } from 'hono';
import { z } from 'zod';
import emailSendEmail from '../../examples/email-send-email.json' with { type: 'json' };
import twoGroups from '../../examples/two-groups.json' with { type: 'json' };
import widenThenAlert from '../../examples/widen-then-alert.json' with { type: 'json' };
import { actionDefinitions } from '../chain/actions.js';
import type { ChainAction } from '../chain/chain.js';
import { commonFields, type Issue, maxActions, readRequest } from '../chain/request.js';
import { Problem, Rejection } from '../contract/problem.js';
import { isObject, parseJson } from './input.js';

/** The most mistakes, and the most warnings, that an answer names. */
const maxErrors = 1000;

/** One schema for each action, of the fields that every action has and its own. */
export const actionRequests = actionDefinitions.map(({ name, description, needsAssignment, fields }) => {
  const { platformAssignmentId } = commonFields;
  const assignment = needsAssignment
    ? platformAssignmentId.unwrap().describe(platformAssignmentId.description ?? '')
    : platformAssignmentId;
  const action = z.literal(name).describe('The name of this action.');
  return z.object({ ...commonFields, action, platformAssignmentId: assignment, ...fields }).meta({ id: name, description });
});

/** For the document: what is read is read by chain/request.ts, which says more about mistakes. */
const rawBody = z
  .array(z.union(actionRequests))
  .min(1)
  .max(maxActions)
  .meta({
    id: 'ChainRequest',
    description:
      'The actions, in the order in which they run. Values are strings; a JSON number or boolean is read as its text. A field ' +
      'that is not known is ignored with a warning, one that looks like a misspelt one is refused.',
  });

export const examples = {
  'widen-then-alert': {
    summary: 'Send with growing radius and growing delays, then alert the manager if nobody was found.',
    value: widenThenAlert,
  },
  'email-send-email': { summary: 'An e-mail, then a send, then an e-mail, strictly in this order.', value: emailSendEmail },
  'two-groups': { summary: 'One group now, another half an hour later.', value: twoGroups },
};

const idempotencyHeader = z.string().min(1).max(255).optional();
const signed = 'Needed, with `webhook-id`, where the company has a `webhookSecret`: see Standard Webhooks.';
const signatureHeader = z.string().optional().describe(signed);

const headers = z.object({
  'Idempotency-Key': idempotencyHeader.describe(
    'Bare or quoted. A request with a key that was used before runs nothing: the same body gets the first answer again, ' +
      'another body is refused.',
  ),
  'webhook-id': idempotencyHeader.describe('The same, as webhook senders call it. Where both are given they must be equal.'),
  'webhook-timestamp': signatureHeader,
  'webhook-signature': signatureHeader,
});

const query = z.object({
  dryRun: z
    .enum(['true', 'false'], 'must be true or false')
    .default('false')
    .describe('`true`: tell what would happen, with no effect. An idempotency key is not used up.'),
});

export const chainRequest = { query, headers, rawBody, examples };

/** @throws Problem 400 also for other spellings of `dryRun`: taking them for nothing would run the chain. */
export function asksDryRun(c: Context): boolean {
  const other = Object.keys(c.req.query()).find((name) => name !== 'dryRun' && /^dry[_-]?run$/i.test(name));
  if (other !== undefined) throw new Problem('invalid-query', `${other} is not a parameter; did you mean dryRun?`);
  const [value = 'false', another] = new Set(c.req.queries('dryRun'));
  if (another !== undefined || !query.safeParse({ dryRun: value }).success)
    throw new Problem('invalid-query', 'dryRun must be true or false.');
  return value === 'true';
}

/** `Idempotency-Key`, bare or quoted, or `webhook-id`; `mistake` where both are given and differ, or one is unusable. */
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

/**
 * The body as an array of objects. What is said here is said to strangers too; not yet what `assertStrict` throws.
 * @throws Problem 400, 415
 */
export function readElements(contentType: string | undefined, bytes: ArrayBuffer) {
  const { value: elements, assertStrict } = parseJson(contentType, bytes);
  if (!Array.isArray(elements))
    throw new Problem('not-an-array', 'The body must be a JSON array of actions, also for a single one: [{"action": …}].');
  const errors: Issue[] = [];
  for (const [index, element] of elements.entries()) {
    if (!isObject(element)) errors.push({ pointer: `/${index}`, detail: 'must be an object' });
    if (errors.length >= maxActions) break;
  }
  if (elements.length === 0) errors.push({ pointer: '', detail: 'must have at least one action' });
  if (errors.length > 0) throw new Problem('not-an-array', 'The body must be a JSON array of one or more actions.', { errors });
  return { elements: elements.filter(isObject), assertStrict };
}

/** The actions that the elements mean. @throws Rejection 400 naming every mistake. */
export function readActions(elements: readonly Record<string, unknown>[]): { actions: ChainAction[]; warnings: Issue[] } {
  const request = readRequest(elements);
  if (request.ok) return { actions: request.actions, warnings: request.warnings.slice(0, maxErrors) };
  const errors = request.problems.slice(0, maxErrors);
  const detail = `Nothing has run. ${errors.map((error) => `${error.pointer || 'the array'} ${error.detail}`).join('; ')}`;
  throw new Rejection('invalid-chain', 'invalid-chain', detail, { errors });
}
