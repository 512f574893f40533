/** Every endpoint of the API, one entry each, for the OpenAPI document. A route without its entry, or an entry without its route, fails a test. */

import { z } from 'zod';
import { actionDefinitions } from '../chain/actions/actions.js';
import { steeringVerbs } from '../chain/outcome.js';
import { commonFields, maxActions } from '../chain/request.js';
import { chainListSchema, listedChainSchema } from '../chains/list.js';
import { authSchema } from '../connectors/settings.js';
import { actionSchema, chainSchema } from '../contract/chain-resource.js';
import { auditResponse } from './admin/audit.js';
import { companiesResponse, companyRequest, companyResponse } from './admin/companies.js';
import { createdKeyResponse, keyResponse, keysResponse, newKeyRequest } from './admin/keys.js';
import { noticeTestRequest, noticeTestResponse } from './admin/notices.js';
import { endedPausesResponse, pauseRequest, pauseSchema, pausesResponse } from './admin/pause.js';
import { createdRuleResponse, newRuleRequest, ruleChange, ruleResponse, rulesResponse } from './admin/rules.js';
import { rotatedTokenResponse, rotationRequest, tokenResponse, tokensResponse } from './admin/tokens.js';
import { anyBulkRequest, bulkPreviewSchema, bulkRequest, bulkSchema } from './bulk.js';
import { listQuerySchema, rescheduleSchema } from './chains.js';
import { dryRunSchema, effectSchema } from './dry-run.js';
import { problemSchema } from './problem.js';
import type { ProblemSlug } from './problem-types.js';
import { rejectedListSchema, rejectedSchema, wholeRejectedSchema } from './rejected.js';
import { acceptedSchema } from './relay.js';

export interface Operation {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With `{name}` for parameters, which `pathParameters` describes. */
  path: string;
  /** Unique; for generated clients. */
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  access: Access;
  query?: Record<string, z.ZodType>;
  headers?: Record<string, z.ZodType>;
  body?: z.ZodType;
  bodyOptional?: true;
  /** By status. */
  answers: Record<number, Answer>;
  /** The types of problems that it may answer with, beside those that every endpoint may. */
  problems: readonly ProblemSlug[];
}

export interface Answer {
  description: string;
  /** The JSON body. */
  body?: z.ZodType;
  /** Where the body is not JSON. */
  mediaType?: string;
  headers?: Record<string, string>;
}

/** Who may call it; `relay tokens` are in the body, and a bearer token beside them shows more. */
export type Access = 'anybody' | 'relay tokens' | 'admin or company key' | 'admin';

export const tags = {
  Relay: 'Where webhooks send their chains.',
  Chains: 'How a chain stands, and the ways to steer it.',
  'Rejected requests':
    'Requests that were refused although their sender is known: kept without their tokens, to be sent again once what was wrong is put right.',
  Companies: 'Who uses the relay, and with which settings.',
  Rules: 'What chains are run under: who is told of a failure, and what happens then.',
  Tokens: 'The access tokens of a rule.',
  Keys: 'Keys with which a company reads and steers its own chains.',
  Audit: 'Who changed or steered what.',
  Service: 'Whether the relay works, and this documentation.',
};
export type Tag = keyof typeof tags;

/** One schema for each action, of the fields that every action has and its own. */
const actionRequests = actionDefinitions.map(({ name, description, needsAssignment, fields }) => {
  const { platformAssignmentId } = commonFields;
  const assignment = needsAssignment
    ? platformAssignmentId.unwrap().describe(platformAssignmentId.description ?? '')
    : platformAssignmentId;
  const action = z.literal(name).describe('The name of this action.');
  return {
    name,
    schema: z.object({ ...commonFields, action, platformAssignmentId: assignment, ...fields }).describe(description),
  };
});

const chainRequest = z
  .array(z.union(actionRequests.map(({ schema }) => schema)))
  .min(1)
  .max(maxActions)
  .describe(
    'The actions, in the order in which they run. Values are strings; a JSON number or boolean is read as its text. A field that is not known is ignored with a warning, one that looks like a misspelt one is refused.',
  );

/** The schemas that have a name of their own in the document. */
export const namedSchemas: Record<string, z.ZodType> = {
  ChainRequest: chainRequest,
  ...Object.fromEntries(actionRequests.map(({ name, schema }) => [name, schema])),
  Accepted: acceptedSchema,
  DryRun: dryRunSchema,
  Effect: effectSchema,
  Chain: chainSchema,
  Action: actionSchema,
  Reschedule: rescheduleSchema,
  ListedChain: listedChainSchema,
  BulkRequest: bulkRequest,
  AnyBulkRequest: anyBulkRequest,
  Bulk: bulkSchema,
  PauseRequest: pauseRequest,
  Pause: pauseSchema,
  RejectedRequest: rejectedSchema,
  CompanySettings: companyRequest,
  Company: companyResponse,
  NewRule: newRuleRequest,
  RuleChange: ruleChange,
  Rule: ruleResponse,
  CreatedRule: createdRuleResponse,
  Rotation: rotationRequest,
  Token: tokenResponse,
  RotatedToken: rotatedTokenResponse,
  NewKey: newKeyRequest,
  Key: keyResponse,
  CreatedKey: createdKeyResponse,
  Auth: authSchema,
  Problem: problemSchema,
};

export const pathParameters: Record<string, z.ZodType> = {
  companyId: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .describe('The company.'),
  relayId: z
    .string()
    .regex(/^\d{1,32}$/)
    .describe('The rule.'),
  chainId: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,128}$/)
    .describe('The chain, from the answer to its POST.'),
  index: z.int().min(0).describe('The zero-based place of the action in the chain.'),
  verb: z
    .enum(steeringVerbs)
    .describe(
      '`retry` and `skip` an action that needs attention (`retry` also one that failed or is partly failed), `runNow` and `reschedule` one that is scheduled, `cancel` one that has not ended.',
    ),
  bulkId: z.string().describe('From the answer to the confirmation.'),
  rejectedId: z.string().describe('The rejected request.'),
  tokenId: z.string().describe('The token; not the token itself.'),
  keyId: z.string().describe('The key; not the key itself.'),
  slug: z.string().describe("The last segment of a problem's `type`."),
};

const page = {
  limit: z.int().min(1).max(200).default(50).describe('At most so many.'),
  cursor: z.string().optional().describe('The `nextCursor` of the part before.'),
};
/** Those of an answer to a chain. */
const shares = {
  'RateLimit-Limit': 'Requests a minute that the company may send.',
  'RateLimit-Remaining': 'How many of them are left.',
  'RateLimit-Reset': 'Seconds until they begin anew.',
};
const signed = 'Needed, with `webhook-id`, where the company has a `webhookSecret`: see Standard Webhooks.';
const location = { Location: 'The path of what was made.' };
const html = { mediaType: 'text/html' };
const readsBody = ['malformed-json', 'invalid-body', 'body-too-large', 'unsupported-media-type'] as const;

export const operations: readonly Operation[] = [
  {
    method: 'post',
    path: '/co/{companyId}/relay',
    id: 'submitChain',
    tag: 'Relay',
    summary: 'Submit a chain of actions',
    description:
      'Runs the actions in array order; delayed ones run on their own when they are due. The answer comes once the chain is durably accepted. One bad action refuses the whole request. With `?dryRun=true` it tells action by action what would happen, and nothing happens.',
    access: 'relay tokens',
    query: {
      dryRun: z
        .enum(['true', 'false'])
        .default('false')
        .describe('`true`: tell what would happen, with no effect. An idempotency key is not used up.'),
    },
    headers: {
      'Idempotency-Key': z
        .string()
        .min(1)
        .max(255)
        .optional()
        .describe(
          'Bare or quoted. A request with a key that was used before runs nothing: the same body gets the first answer again, another body is refused.',
        ),
      'webhook-id': z
        .string()
        .min(1)
        .max(255)
        .optional()
        .describe('The same, as webhook senders call it. Where both are given they must be equal.'),
      'webhook-timestamp': z.string().optional().describe(signed),
      'webhook-signature': z.string().optional().describe(signed),
    },
    body: chainRequest,
    answers: {
      202: {
        description: 'The chain is accepted and will run.',
        body: acceptedSchema,
        headers: { Location: 'The chain.', ...shares },
      },
      200: {
        description: 'To an idempotency key that was used before: the first answer again. To a dry run: what would happen.',
        body: z.union([acceptedSchema, dryRunSchema]),
        headers: { Location: 'The chain.', 'Idempotency-Replayed': '`true` where this is the first answer again.', ...shares },
      },
    },
    problems: [
      'malformed-json',
      'not-an-array',
      'invalid-chain',
      'idempotency-key',
      'invalid-query',
      'unauthorized',
      'body-too-large',
      'unsupported-media-type',
      'idempotency-key-reused',
      'rate-limited',
      'database-unavailable',
      'temporal-unavailable',
    ],
  },

  {
    method: 'get',
    path: '/co/{companyId}/chains',
    id: 'listChains',
    tag: 'Chains',
    summary: 'List the chains of a company',
    description: 'Open chains first, the newest first, then closed ones. It needs no worker, and is a moment behind.',
    access: 'admin or company key',
    query: { ...listQuerySchema.shape, ...page },
    answers: { 200: { description: 'Each chain once.', body: chainListSchema } },
    problems: ['invalid-query', 'not-found', 'temporal-unavailable'],
  },
  {
    method: 'get',
    path: '/chains',
    id: 'listAllChains',
    tag: 'Chains',
    summary: 'List the chains of all companies',
    access: 'admin',
    query: { companyId: pathParameters.companyId?.optional() ?? z.string(), ...listQuerySchema.shape, ...page },
    answers: { 200: { description: 'Each chain once.', body: chainListSchema } },
    problems: ['invalid-query', 'not-found', 'temporal-unavailable'],
  },
  ...(['/co/{companyId}/chains/bulk', '/chains/bulk'] as const).flatMap((path): Operation[] => {
    const all = path === '/chains/bulk';
    const access = all ? 'admin' : 'admin or company key';
    return [
      {
        method: 'post',
        path,
        id: all ? 'steerAllChains' : 'steerChains',
        tag: 'Chains',
        summary: all ? 'Steer many chains across companies' : 'Steer many chains at once',
        description:
          'Without `confirm` nothing is done: the answer says how many chains it would concern, and shows the first ten. With that count as `confirm` it is done, in the background.',
        access,
        body: all ? anyBulkRequest : bulkRequest,
        answers: {
          200: { description: 'What it would concern.', body: bulkPreviewSchema },
          202: { description: 'It is being done.', body: bulkSchema, headers: { Location: 'Where to see how far it is.' } },
        },
        problems: [...readsBody, 'not-found', 'count-changed', 'temporal-unavailable'],
      },
      {
        method: 'get',
        path: `${path}/{bulkId}`,
        id: all ? 'getBulkOfAll' : 'getBulk',
        tag: 'Chains',
        summary: 'Read how far the steering of many chains is',
        access,
        answers: { 200: { description: 'How far it is.', body: bulkSchema } },
        problems: ['not-found'],
      },
    ];
  }),
  {
    method: 'get',
    path: '/co/{companyId}/chains/{chainId}',
    id: 'getChain',
    tag: 'Chains',
    summary: 'Read a chain',
    access: 'admin or company key',
    answers: { 200: { description: 'The chain and its actions as they stand.', body: chainSchema } },
    problems: ['not-found'],
  },
  {
    method: 'post',
    path: '/co/{companyId}/chains/{chainId}/cancel',
    id: 'cancelChain',
    tag: 'Chains',
    summary: 'Cancel a chain',
    description: 'An effect under way is awaited and its outcome recorded; what has not run becomes `cancelled`.',
    access: 'admin or company key',
    answers: {
      202: { description: 'It is being cancelled.', body: z.object({ chainId: z.string(), cancelling: z.literal(true) }) },
    },
    problems: ['not-found', 'already-ended'],
  },
  {
    method: 'post',
    path: '/co/{companyId}/chains/{chainId}/actions/{index}/{verb}',
    id: 'steerAction',
    tag: 'Chains',
    summary: 'Steer one action',
    description:
      'To `retry` an action that failed, or an e-mail that missed somebody, is possible also when the chain has closed: it is opened again, and what stood behind that action and was not run for that follows it.',
    access: 'admin or company key',
    body: rescheduleSchema,
    bodyOptional: true,
    answers: {
      202: {
        description: 'It has been passed on to the chain.',
        body: z.object({
          chainId: z.string(),
          index: z.int(),
          accepted: z.string(),
          reopened: z.literal(true).optional().describe('The chain had closed, and has been opened again.'),
        }),
      },
    },
    problems: ['invalid-body', 'body-too-large', 'not-found', 'already-ended', 'not-steerable', 'temporal-unavailable'],
  },

  {
    method: 'get',
    path: '/co/{companyId}/rejected',
    id: 'listRejected',
    tag: 'Rejected requests',
    summary: 'List the rejected requests of a company',
    access: 'admin or company key',
    query: page,
    answers: { 200: { description: 'The newest first.', body: rejectedListSchema } },
    problems: ['invalid-query', 'not-found'],
  },
  {
    method: 'get',
    path: '/co/{companyId}/rejected/{rejectedId}',
    id: 'getRejected',
    tag: 'Rejected requests',
    summary: 'Read a rejected request with its actions',
    access: 'admin or company key',
    answers: { 200: { description: 'The request.', body: wholeRejectedSchema } },
    problems: ['not-found'],
  },
  {
    method: 'post',
    path: '/co/{companyId}/rejected/{rejectedId}/resend',
    id: 'resendRejected',
    tag: 'Rejected requests',
    summary: 'Send a rejected request again',
    description: 'Needs no token of its rules. Delays count from now.',
    access: 'admin or company key',
    answers: {
      202: {
        description: 'The chain is accepted and will run.',
        body: acceptedSchema,
        headers: { Location: 'The chain.', ...shares },
      },
      200: {
        description: 'The sender has repeated it meanwhile: the first answer again.',
        body: acceptedSchema,
        headers: shares,
      },
    },
    problems: ['invalid-chain', 'not-found', 'already-resent', 'rule-disabled', 'idempotency-key-reused', 'temporal-unavailable'],
  },

  {
    method: 'get',
    path: '/admin/companies',
    id: 'listCompanies',
    tag: 'Companies',
    summary: 'List the companies',
    access: 'admin',
    query: page,
    answers: { 200: { description: 'By company id.', body: companiesResponse } },
    problems: ['invalid-query'],
  },
  {
    method: 'put',
    path: '/admin/companies/{companyId}',
    id: 'putCompany',
    tag: 'Companies',
    summary: 'Make or change a company',
    description:
      'What is left out stays as it is, and `null` removes it. A section that is given replaces the stored one, except for its secrets: they are write-only, shown as `***`, kept where they are left out, and removed by `null`.',
    access: 'admin',
    body: companyRequest,
    answers: {
      200: { description: 'The company is changed.', body: companyResponse, headers: location },
      201: { description: 'The company is made.', body: companyResponse, headers: location },
    },
    problems: [...readsBody, 'invalid-company-id'],
  },
  {
    method: 'get',
    path: '/admin/companies/{companyId}',
    id: 'getCompany',
    tag: 'Companies',
    summary: 'Read a company',
    access: 'admin',
    answers: { 200: { description: 'The company, its secrets as `***`.', body: companyResponse } },
    problems: ['not-found'],
  },
  {
    method: 'delete',
    path: '/admin/companies/{companyId}',
    id: 'deleteCompany',
    tag: 'Companies',
    summary: 'Delete a company with its rules, tokens and keys',
    access: 'admin',
    answers: { 204: { description: 'It is gone.' } },
    problems: ['not-found'],
  },

  {
    method: 'get',
    path: '/admin/companies/{companyId}/pause',
    id: 'getPauses',
    tag: 'Companies',
    summary: 'Read the pauses of a company',
    access: 'admin',
    answers: { 200: { description: 'Those that are on.', body: pausesResponse } },
    problems: ['not-found'],
  },
  {
    method: 'put',
    path: '/admin/companies/{companyId}/pause',
    id: 'pauseCompany',
    tag: 'Companies',
    summary: 'Pause a company or one of its connectors',
    description:
      'For planned downtime: what needs it waits, `pending`, without losing attempts or time, and goes on in order when the pause is over; the contacts of a rule of which something waits are told once.',
    access: 'admin',
    body: pauseRequest,
    bodyOptional: true,
    answers: { 200: { description: 'Those that are on.', body: pausesResponse } },
    problems: [...readsBody, 'not-found'],
  },
  {
    method: 'delete',
    path: '/admin/companies/{companyId}/pause',
    id: 'endPause',
    tag: 'Companies',
    summary: 'End a pause',
    access: 'admin',
    query: { what: pauseSchema.shape.what.optional().describe('Absent: whatever is paused.') },
    answers: { 200: { description: 'What was paused goes on.', body: endedPausesResponse } },
    problems: ['invalid-query', 'not-found'],
  },

  {
    method: 'post',
    path: '/admin/companies/{companyId}/notices/test',
    id: 'testNotices',
    tag: 'Companies',
    summary: 'Send a test notice to every contact',
    description:
      'On the way that notices take, once, now. The answer says of each contact whether it arrived there, and if not, why.',
    access: 'admin',
    body: noticeTestRequest,
    bodyOptional: true,
    answers: { 200: { description: 'What became of it at each contact.', body: noticeTestResponse } },
    problems: [...readsBody, 'not-found', 'temporal-unavailable'],
  },

  {
    method: 'post',
    path: '/admin/companies/{companyId}/rules',
    id: 'createRule',
    tag: 'Rules',
    summary: 'Make a rule',
    description:
      'The answer is the only time that the token is shown. A `relayId` and `relayAccessToken` that existing webhooks use can be taken over.',
    access: 'admin',
    body: newRuleRequest,
    answers: { 201: { description: 'The rule with its first token.', body: createdRuleResponse, headers: location } },
    problems: [...readsBody, 'not-found', 'relay-id-taken'],
  },
  {
    method: 'get',
    path: '/admin/companies/{companyId}/rules',
    id: 'listRules',
    tag: 'Rules',
    summary: 'List the rules of a company',
    access: 'admin',
    query: page,
    answers: { 200: { description: 'The oldest first.', body: rulesResponse } },
    problems: ['invalid-query', 'not-found'],
  },
  {
    method: 'get',
    path: '/admin/companies/{companyId}/rules/{relayId}',
    id: 'getRule',
    tag: 'Rules',
    summary: 'Read a rule',
    access: 'admin',
    answers: { 200: { description: 'The rule.', body: ruleResponse } },
    problems: ['not-found'],
  },
  {
    method: 'patch',
    path: '/admin/companies/{companyId}/rules/{relayId}',
    id: 'changeRule',
    tag: 'Rules',
    summary: 'Change, enable or disable a rule',
    description:
      'What is left out stays as it is. Requests of a disabled rule are refused, and its actions that are still to run become `skipped`.',
    access: 'admin',
    body: ruleChange,
    answers: { 200: { description: 'The rule as it is now.', body: ruleResponse } },
    problems: [...readsBody, 'not-found'],
  },
  {
    method: 'delete',
    path: '/admin/companies/{companyId}/rules/{relayId}',
    id: 'deleteRule',
    tag: 'Rules',
    summary: 'Delete a rule with its tokens',
    access: 'admin',
    answers: { 204: { description: 'It is gone.' } },
    problems: ['not-found'],
  },

  {
    method: 'get',
    path: '/admin/companies/{companyId}/rules/{relayId}/tokens',
    id: 'listTokens',
    tag: 'Tokens',
    summary: 'List the tokens of a rule',
    access: 'admin',
    answers: { 200: { description: 'The newest first; never the tokens themselves.', body: tokensResponse } },
    problems: ['not-found'],
  },
  {
    method: 'post',
    path: '/admin/companies/{companyId}/rules/{relayId}/tokens',
    id: 'rotateToken',
    tag: 'Tokens',
    summary: 'Make a new token',
    description: 'Those before it end, at once or after `graceSeconds`. The answer is the only time that the new one is shown.',
    access: 'admin',
    body: rotationRequest,
    bodyOptional: true,
    answers: { 201: { description: 'The new token.', body: rotatedTokenResponse } },
    problems: [...readsBody, 'not-found'],
  },
  {
    method: 'delete',
    path: '/admin/companies/{companyId}/rules/{relayId}/tokens/{tokenId}',
    id: 'revokeToken',
    tag: 'Tokens',
    summary: 'Revoke a token at once',
    access: 'admin',
    answers: { 204: { description: 'It is revoked.' } },
    problems: ['not-found'],
  },

  {
    method: 'get',
    path: '/admin/companies/{companyId}/keys',
    id: 'listKeys',
    tag: 'Keys',
    summary: 'List the keys of a company',
    access: 'admin',
    answers: { 200: { description: 'By name; never the keys themselves.', body: keysResponse } },
    problems: ['not-found'],
  },
  {
    method: 'post',
    path: '/admin/companies/{companyId}/keys',
    id: 'createKey',
    tag: 'Keys',
    summary: 'Make a key',
    description: 'The answer is the only time that it is shown.',
    access: 'admin',
    body: newKeyRequest,
    answers: { 201: { description: 'The key.', body: createdKeyResponse } },
    problems: [...readsBody, 'not-found', 'key-name-taken'],
  },
  {
    method: 'delete',
    path: '/admin/companies/{companyId}/keys/{keyId}',
    id: 'deleteKey',
    tag: 'Keys',
    summary: 'Delete a key',
    access: 'admin',
    answers: { 204: { description: 'It is gone.' } },
    problems: ['not-found'],
  },

  {
    method: 'get',
    path: '/admin/audit',
    id: 'listAudit',
    tag: 'Audit',
    summary: 'List what was done',
    access: 'admin',
    query: { ...page, companyId: z.string().optional().describe('Only of this company.') },
    answers: { 200: { description: 'The newest first.', body: auditResponse } },
    problems: ['invalid-query'],
  },
  {
    method: 'get',
    path: '/admin/companies/{companyId}/audit',
    id: 'listCompanyAudit',
    tag: 'Audit',
    summary: 'List what was done to a company',
    access: 'admin',
    query: page,
    answers: { 200: { description: 'The newest first.', body: auditResponse } },
    problems: ['invalid-query', 'not-found'],
  },

  {
    method: 'get',
    path: '/healthz',
    id: 'getHealth',
    tag: 'Service',
    summary: 'Whether the process is alive',
    access: 'anybody',
    answers: { 200: { description: 'It is.', body: z.object({ status: z.literal('ok') }) } },
    problems: [],
  },
  {
    method: 'get',
    path: '/readyz',
    id: 'getReadiness',
    tag: 'Service',
    summary: 'Whether Temporal and the database can be reached',
    access: 'anybody',
    answers: {
      200: { description: 'Both can.', body: readiness('ready') },
      503: { description: 'One cannot.', body: readiness('not ready') },
    },
    problems: [],
  },
  {
    method: 'get',
    path: '/metrics',
    id: 'getMetrics',
    tag: 'Service',
    summary: 'What the process has counted, for Prometheus',
    access: 'anybody',
    answers: { 200: { description: 'In the text format of Prometheus.', mediaType: 'text/plain' } },
    problems: [],
  },
  {
    method: 'get',
    path: '/openapi.json',
    id: 'getOpenApi',
    tag: 'Service',
    summary: 'This description of the API, for programs',
    access: 'anybody',
    answers: { 200: { description: 'OpenAPI 3.1.', body: z.looseObject({ openapi: z.string() }) } },
    problems: [],
  },
  {
    method: 'get',
    path: '/docs',
    id: 'getDocs',
    tag: 'Service',
    summary: 'This description of the API, for people',
    access: 'anybody',
    answers: { 200: { description: 'A page.', ...html } },
    problems: [],
  },
  {
    method: 'get',
    path: '/problems/{slug}',
    id: 'getProblemType',
    tag: 'Service',
    summary: 'What a type of problem means, and what to do about it',
    access: 'anybody',
    answers: { 200: { description: 'A page.', ...html } },
    problems: ['not-found'],
  },
];

function readiness(status: string): z.ZodType {
  return z.object({ status: z.literal(status), temporal: z.string(), database: z.string() });
}
