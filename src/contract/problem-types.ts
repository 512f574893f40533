/**
 * The one table of problem types: every error that the API answers with is one of these, and each has its page at
 * `/problems/{slug}`. Texts are for people who call the API; `code` stands in backticks.
 */

import type { Issue } from '../chain/request.js';

interface ProblemType {
  status: number;
  /** The same for every problem of this type. */
  title: string;
  /** One or two sentences: what the relay found, and what became of the request. */
  meaning: string;
  whatToDo: string;
  /** What such a problem may say. */
  example: { detail: string; errors?: readonly Issue[] };
}

export const problemTypes = {
  'bad-request': {
    status: 400,
    title: 'Bad request',
    meaning: 'The HTTP request could not be understood. Nothing was done.',
    whatToDo: 'Compare the request with the description of the endpoint at `/docs`; `detail` says what was wrong.',
    example: { detail: 'The request was refused.' },
  },
  'malformed-url': {
    status: 400,
    title: 'Malformed URL',
    meaning: 'The URL contains something that no id can contain. Nothing was done.',
    whatToDo: 'Check the ids in the URL, and that each was percent-encoded once and not more.',
    example: { detail: 'The URL must not contain a NUL character.' },
  },
  'malformed-json': {
    status: 400,
    title: 'Malformed body',
    meaning:
      'The body is not JSON in UTF-8, or two readers could understand it differently: a field twice, a NUL, half a character.',
    whatToDo:
      'Mend the place that `detail` names. In a webhook, let the sender escape the variable that brings a quote or line break.',
    example: { detail: 'The body is not JSON at line 4, column 18.' },
  },
  'not-an-array': {
    status: 400,
    title: 'Not an array of actions',
    meaning: 'The body is JSON, but not an array of one or more objects. Nothing has run.',
    whatToDo: 'Send an array also for a single action: `[{"action": "sendEmails", …}]`.',
    example: {
      detail: 'The body must be a JSON array of one or more actions.',
      errors: [{ pointer: '/1', detail: 'must be an object' }],
    },
  },
  'invalid-chain': {
    status: 400,
    title: 'Invalid chain',
    meaning: 'The tokens are right, but there is a mistake in the rule itself. One bad action refuses them all: nothing has run.',
    whatToDo:
      'Mend what `errors` names (`/1/delayInSeconds` is that field of the second action); try it with `?dryRun=true` first.',
    example: {
      detail: 'Nothing has run. /1/delayInSeconds must be a whole number of seconds, such as "1800"',
      errors: [{ pointer: '/1/delayInSeconds', detail: 'must be a whole number of seconds, such as "1800"' }],
    },
  },
  'idempotency-key': {
    status: 400,
    title: 'Unusable idempotency key',
    meaning: 'It is empty or has over 255 characters, or `Idempotency-Key` and `webhook-id` differ. Nothing has run.',
    whatToDo: 'Send one of the two headers, with 1 to 255 characters, and the same key when you repeat the same request.',
    example: { detail: 'Idempotency-Key and webhook-id are both given and differ: send one of them.' },
  },
  'invalid-body': {
    status: 400,
    title: 'Invalid body',
    meaning: 'A field of the body is missing, unknown or has a value that it cannot have. Nothing was changed.',
    whatToDo: 'Mend every place that `errors` names, then send the request again.',
    example: {
      detail: '/timeZone must be an IANA name such as Europe/Berlin, or ±hh:mm',
      errors: [{ pointer: '/timeZone', detail: 'must be an IANA name such as Europe/Berlin, or ±hh:mm' }],
    },
  },
  'invalid-query': {
    status: 400,
    title: 'Invalid query parameter',
    meaning: 'A parameter behind the `?` of the URL has a value that it cannot have. Nothing was done.',
    whatToDo: 'Mend the parameter that `detail` names.',
    example: { detail: 'limit must be 1 to 200.' },
  },
  'invalid-company-id': {
    status: 400,
    title: 'Invalid company id',
    meaning: 'A company cannot be made under this id. Nothing was changed.',
    whatToDo: 'Choose an id of 1 to 64 letters, digits, `_` or `-`.',
    example: { detail: 'A company id is 1 to 64 letters, digits, _ or -.' },
  },
  unauthorized: {
    status: 401,
    title: 'Not authorized',
    meaning:
      'The credentials are missing or not right. To a chain it says the same whether the company, the rule or the token is ' +
      'unknown, or the rule is disabled: a stranger learns nothing. Nothing was done.',
    whatToDo:
      'For a chain: compare the company in the URL and `relayId` and `relayAccessToken` of every action with the rule; a ' +
      'token may have been rotated or revoked, and the rule may be disabled. Everywhere else: send the admin token, or a key ' +
      'of this company where that is enough, as `Authorization: Bearer …`.',
    example: {
      detail:
        'Company, relayId and relayAccessToken of every action must belong together, the rule must be enabled, and the ' +
        'webhook signed if the company asks for it.',
    },
  },
  'not-found': {
    status: 404,
    title: 'Not found',
    meaning: 'There is nothing at this URL, or not any more.',
    whatToDo: 'Check the path and the ids in it. A chain can be read until the retention time of the Temporal namespace is over.',
    example: { detail: 'There is no rule 4711 of company acme.' },
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    meaning: 'There is something at this URL, but not for this HTTP method. Nothing was done.',
    whatToDo: 'Use one of the methods in the `Allow` header. A redirect from `http` to `https` often turns a POST into a GET.',
    example: { detail: 'GET is not possible here; POST is.' },
  },
  'request-timeout': {
    status: 408,
    title: 'Request too slow',
    meaning: 'The headers or the body did not arrive in full in time. Nothing was done.',
    whatToDo: 'Send the request again. If it goes on, look for what slows the connection down.',
    example: { detail: 'The request did not arrive in full in time.' },
  },
  'already-ended': {
    status: 409,
    title: 'Already ended',
    meaning: 'The chain or the action has ended, so there is nothing left to steer. Nothing was changed.',
    whatToDo: 'Read the chain to see how it ended. To do it again, send a new chain.',
    example: { detail: 'This has no effect any more: action 2 is done.' },
  },
  'not-steerable': {
    status: 409,
    title: 'Not possible now',
    meaning: 'The action is in a state in which this makes no sense. Nothing was changed.',
    whatToDo:
      '`retry` and `skip` need an action that needs attention, `runNow` and `reschedule` a scheduled one. Read the chain again.',
    example: { detail: 'Action 1 is running; this is for actions that are scheduled.' },
  },
  'count-changed': {
    status: 409,
    title: 'Another number of chains',
    meaning: 'Between the count and its confirmation, chains have come or gone. Nothing was done.',
    whatToDo: 'Send the request without `confirm` and look at what it concerns now, then confirm the new count.',
    example: { detail: 'This concerns 212 chains now, not 214. Look again, then confirm with 212.' },
  },
  'relay-id-taken': {
    status: 409,
    title: 'Rule id taken',
    meaning: 'The company already has a rule with this `relayId`. Nothing was changed.',
    whatToDo: 'Change the existing rule, delete it first, or leave `relayId` out and get one.',
    example: { detail: 'Company acme already has a rule with relayId 4711.' },
  },
  'key-name-taken': {
    status: 409,
    title: 'Key name taken',
    meaning: 'The company already has a key of this name. Nothing was changed.',
    whatToDo: 'Choose another name, or delete the other key first.',
    example: { detail: 'Company acme already has a key "dashboard".' },
  },
  'already-resent': {
    status: 409,
    title: 'Already sent again',
    meaning: 'This rejected request has been sent again before; `detail` names the chain. Nothing was started.',
    whatToDo: 'Look at that chain. To do it once more, send a new chain.',
    example: { detail: 'This request was sent again at 2026-03-02T09:12:44.120Z: chain 3f1c0a9be2d84c57.' },
  },
  'rule-disabled': {
    status: 409,
    title: 'Rule disabled',
    meaning: 'A rule of the rejected request is disabled, or gone, so that it cannot be sent again. Nothing has run.',
    whatToDo: 'Enable the rule that `detail` names, then send the request again.',
    example: { detail: 'Nothing has run: rule 4711 is disabled.' },
  },
  'body-too-large': {
    status: 413,
    title: 'Body too large',
    meaning: 'The body has more bytes than are read. Nothing was done.',
    whatToDo: 'Shorten it; the HTML of an e-mail is the usual reason: link to images rather than embed them.',
    example: { detail: 'A body may have at most 256 KiB.' },
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    meaning: 'The body is not declared to be JSON. Nothing was done.',
    whatToDo: 'Send the header `Content-Type: application/json`.',
    example: { detail: 'Send JSON, with Content-Type: application/json.' },
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'Idempotency key used again',
    meaning: 'A chain was accepted under this idempotency key before, and its body was another. Nothing has run.',
    whatToDo: 'Use a new key for a new request. To repeat a request, send exactly the same body; only its tokens may differ.',
    example: { detail: 'This idempotency key was used before with another body. Use a new key for a new request.' },
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    meaning:
      'Either this company has sent more requests in a minute than the operator allows, or too many requests from this ' +
      'address had wrong credentials. Nothing was done.',
    whatToDo:
      'Send the request again after the seconds in `Retry-After`. The `RateLimit-…` headers tell how much is left; several ' +
      'actions in one request count once. A chain whose tokens are right is kept, and can be sent again from there: `npx ' +
      'relay rejected list <companyId>`.',
    example: { detail: 'Company acme has sent more than its 600 requests a minute. Nothing has run.' },
  },
  'headers-too-large': {
    status: 431,
    title: 'Headers too large',
    meaning: 'The headers of the request have more than 16 KiB. Nothing was done.',
    whatToDo: 'Send fewer or shorter headers: large cookies are a usual reason.',
    example: { detail: 'The headers of the request are too large.' },
  },
  internal: {
    status: 500,
    title: 'Internal error',
    meaning: 'Something went wrong in the relay that nobody foresaw. A chain has been started only if the chains list shows it.',
    whatToDo:
      'Send the request again with the same idempotency key. If it goes on, tell the operator, who finds the cause in the log.',
    example: { detail: 'Something went wrong here; the operator can find it in the log.' },
  },
  'database-unavailable': {
    status: 503,
    title: 'Database cannot be reached',
    meaning: 'The relay cannot look companies and rules up at the moment. Nothing has run.',
    whatToDo: 'Send the request again after the seconds in `Retry-After`. If it goes on, tell the operator.',
    example: { detail: 'The relay cannot look its rules up at the moment. Nothing has run. Send the request again.' },
  },
  'temporal-unavailable': {
    status: 503,
    title: 'Temporal cannot be reached',
    meaning: 'The engine that keeps chains did not accept this one. `detail` says whether nothing has run or nobody knows.',
    whatToDo: 'Send the request again after the seconds in `Retry-After`, with the same idempotency key.',
    example: { detail: 'The chain could not be started. Nothing has run. Send the request again.' },
  },
} as const satisfies Record<string, ProblemType>;

/** The last segment of a problem's `type`, such as `invalid-chain`. */
export type ProblemSlug = keyof typeof problemTypes;

/** The whole table, in its order: by status. */
export const problemTypeList: readonly (ProblemType & { slug: ProblemSlug })[] = (
  Object.entries(problemTypes) as [ProblemSlug, ProblemType][]
).map(([slug, type]) => ({ slug, ...type }));
