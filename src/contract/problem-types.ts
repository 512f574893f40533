/**
 * The one table of problem types: every error that the API answers with is one of these, and each has its page at
 * `/problems/{slug}`. Texts are for people who call the API; `code` stands in backticks.
 */

import type { Issue } from '../chain/request.js';

/**
 * Beside status and title, which are the same for every problem of the type: what the relay found and what became of the
 * request, what to do, and what such a problem may say.
 */
function type(status: number, title: string, [meaning, whatToDo, detail, errors]: [string, string, string, Issue[]?]) {
  return { status, title, meaning, whatToDo, example: { detail, errors } };
}

export const problemTypes = {
  'bad-request': type(400, 'Bad request', [
    'The HTTP request could not be understood. Nothing was done.',
    'Compare the request with the description of the endpoint at `/docs`; `detail` says what was wrong.',
    'The request was refused.',
  ]),
  'malformed-url': type(400, 'Malformed URL', [
    'The URL contains something that no id can contain. Nothing was done.',
    'Check the ids in the URL, and that each was percent-encoded once and not more.',
    'The URL must not contain a NUL character.',
  ]),
  'malformed-json': type(400, 'Malformed body', [
    'The body is not JSON in UTF-8, or two readers could understand it differently: a field twice, a NUL, half a character.',
    'Mend the place that `detail` names. In a webhook, let the sender escape the variable that brings a quote or line break.',
    'The body is not JSON at line 4, column 18.',
  ]),
  'not-an-array': type(400, 'Not an array of actions', [
    'The body is JSON, but not an array of one or more objects. Nothing has run.',
    'Send an array also for a single action: `[{"action": "sendEmails", …}]`.',
    'The body must be a JSON array of one or more actions.',
    [{ pointer: '/1', detail: 'must be an object' }],
  ]),
  'invalid-chain': type(400, 'Invalid chain', [
    'The tokens are right, but there is a mistake in the rule itself. One bad action refuses them all: nothing has run.',
    'Mend what `errors` names (`/1/delayInSeconds` is that field of the second action); try it with `?dryRun=true` first.',
    'Nothing has run. /1/delayInSeconds must be a whole number of seconds, such as "1800"',
    [{ pointer: '/1/delayInSeconds', detail: 'must be a whole number of seconds, such as "1800"' }],
  ]),
  'idempotency-key': type(400, 'Unusable idempotency key', [
    'It is empty or has over 255 characters, or `Idempotency-Key` and `webhook-id` differ. Nothing has run.',
    'Send one of the two headers, with 1 to 255 characters, and the same key when you repeat the same request.',
    'Idempotency-Key and webhook-id are both given and differ: send one of them.',
  ]),
  'invalid-body': type(400, 'Invalid body', [
    'A field of the body is missing, unknown or has a value that it cannot have. Nothing was changed.',
    'Mend every place that `errors` names, then send the request again.',
    '/timeZone must be an IANA name such as Europe/Berlin, or ±hh:mm',
    [{ pointer: '/timeZone', detail: 'must be an IANA name such as Europe/Berlin, or ±hh:mm' }],
  ]),
  'invalid-query': type(400, 'Invalid query parameter', [
    'A parameter behind the `?` of the URL has a value that it cannot have. Nothing was done.',
    'Mend the parameter that `detail` names.',
    'limit must be 1 to 200.',
  ]),
  'invalid-company-id': type(400, 'Invalid company id', [
    'A company cannot be made under this id. Nothing was changed.',
    'Choose an id of 1 to 64 letters, digits, `_` or `-`.',
    'A company id is 1 to 64 letters, digits, _ or -.',
  ]),
  unauthorized: type(401, 'Not authorized', [
    'The credentials are missing or not right. To a chain it says the same whether the company, the rule or the token is ' +
      'unknown, or the rule is disabled: a stranger learns nothing. Nothing was done.',
    'For a chain: compare the company in the URL and `relayId` and `relayAccessToken` of every action with the rule; a ' +
      'token may have been rotated or revoked, and the rule may be disabled. Everywhere else: send the admin token, or a key ' +
      'of this company where that is enough, as `Authorization: Bearer …`.',
    'Company, relayId and relayAccessToken of every action must belong together, the rule must be enabled, and the ' +
      'webhook signed if the company asks for it.',
  ]),
  forbidden: type(403, 'Not allowed', [
    'The key is right, and its role does not go so far. Nothing was done.',
    'Use a key of the role that `detail` names, or let the operator do it. Whoever manages the company makes keys: `npx relay ' +
      'keys create <companyId> --name <name> --role <role>`.',
    'The key dashboard has the role read: this needs a key with the role steer, or an admin token.',
  ]),
  'foreign-page': type(403, 'Not a page of the relay', [
    'The request would change something in the name of whoever is signed in, and did not come from a page of the relay: ' +
      'another site could have made the browser send it. Nothing was done.',
    'In a program, send the admin token or key as `Authorization: Bearer …` rather than the cookie. In a browser, use the ' +
      'pages of the relay itself; a proxy in front of it must leave `Host`, `Origin` and `Sec-Fetch-Site` as they are.',
    'By the cookie of a session, only a page of the relay itself may change something.',
  ]),
  'not-found': type(404, 'Not found', [
    'There is nothing at this URL, or not any more.',
    'Check the path and the ids in it. A chain can be read until the retention time of the Temporal namespace is over.',
    'There is no rule 4711 of company acme.',
  ]),
  'method-not-allowed': type(405, 'Method not allowed', [
    'There is something at this URL, but not for this HTTP method. Nothing was done.',
    'Use one of the methods in the `Allow` header. A redirect from `http` to `https` often turns a POST into a GET.',
    'GET is not possible here; POST is.',
  ]),
  'request-timeout': type(408, 'Request too slow', [
    'The headers or the body did not arrive in full in time. Nothing was done.',
    'Send the request again. If it goes on, look for what slows the connection down.',
    'The request did not arrive in full in time.',
  ]),
  'already-ended': type(409, 'Already ended', [
    'The chain or the action has ended, so there is nothing left to steer. Nothing was changed.',
    'Read the chain to see how it ended. To do it again, send a new chain.',
    'This has no effect any more: action 2 is done.',
  ]),
  'not-steerable': type(409, 'Not possible now', [
    'The action is in a state in which this makes no sense. Nothing was changed.',
    '`retry`, `mend` and `skip` need an action that needs attention, `runNow` and `reschedule` a scheduled one. Read the chain again.',
    'Action 1 is running; this is for actions that are scheduled.',
  ]),
  'count-changed': type(409, 'Another number of chains', [
    'Between the count and its confirmation, chains have come or gone. Nothing was done.',
    'Send the request without `confirm` and look at what it concerns now, then confirm the new count.',
    'This concerns 212 chains now, not 214. Look again, then confirm with 212.',
  ]),
  'bulk-running': type(409, 'Many chains are being steered', [
    'The company steers many chains at once already. Nothing was changed.',
    'Wait until that has ended, which `GET /co/{companyId}/chains/bulk/{bulkId}` tells, then confirm again.',
    'Company acme steers many chains already. Wait until that has ended.',
  ]),
  'relay-id-taken': type(409, 'Rule id taken', [
    'The company already has a rule with this `relayId`. Nothing was changed.',
    'Change the existing rule, delete it first, or leave `relayId` out and get one.',
    'Company acme already has a rule with relayId 4711.',
  ]),
  'company-id-used': type(409, 'Company id used', [
    'A company of this id was deleted, or there is one whose id differs only in case: a new one could see chains of the other.' +
      ' Nothing was changed.',
    'Choose another id. To make a deleted company again, with what Temporal still keeps of it, say so with `?reuseId=true`.',
    'There is a company Acme, and ids must differ in more than case: choose another id.',
  ]),
  'company-in-use': type(409, 'Company in use', [
    'The company still has open chains, which could do nothing any more without it; or it is to be erased, and there is one of this' +
      ' id. Nothing was deleted.',
    'Wait until its chains have ended, or cancel them: `?cancelChains=true` (`--cancel-chains`) does both in one. What Temporal' +
      ' keeps of a company is erased once the company is deleted.',
    'Company acme has 3 open chains. Wait until they have ended, or cancel them with ?cancelChains=true (--cancel-chains).',
  ]),
  'key-name-taken': type(409, 'Key name taken', [
    'The company already has a key of this name. Nothing was changed.',
    'Choose another name, or delete the other key first.',
    'Company acme already has a key "dashboard".',
  ]),
  'limit-reached': type(409, 'As many as there may be', [
    'The company has as many rules or keys as it may have. Nothing was made.',
    'Delete those that are not used any more.',
    'Company acme has 100 keys, as many as it may have: delete one that is not used any more.',
  ]),
  'not-confirmed': type(409, 'Not confirmed', [
    'A request that came with a revoked token, or without the right signature, is sent again only by who has seen its actions: ' +
      'somebody else may have written them. And an action of which nobody knows whether its last try took effect is mended only by who ' +
      'accepts that: it might come to two effects. Nothing has run.',
    'Of a refused request, read the actions in `errors`. If every one of them is meant, send the body `{"confirm": true}`; otherwise ' +
      'leave it. Of an action, look what the last try did; then send `"confirmUnknown": true` beside `fields`.',
    'Nothing has run. This request came with a token that was revoked (signature: wrong): somebody else may have written its ' +
      'actions. Read them in errors; if all of them are meant, send {"confirm": true}.',
    [{ pointer: '/0', detail: '{"action":"sendEmails","relayId":"4711","emails":["ada@example.com"],"subject":"Hello"}' }],
  ]),
  'already-taken': type(409, 'Already taken', [
    'Somebody else sees to this cause. Nothing was changed.',
    'Ask whom `detail` names. Whoever may steer the chains of the company can release the cause, and then take it.',
    'key dashboard has taken it. It is free once it is released.',
  ]),
  'already-resent': type(409, 'Already sent again', [
    'This rejected request has been sent again before; `detail` names the chain. Nothing was started.',
    'Look at that chain. To do it once more, send a new chain.',
    'This request was sent again at 2026-03-02T09:12:44.120Z: chain 3f1c0a9be2d84c57.',
  ]),
  'rule-disabled': type(409, 'Rule disabled', [
    'A rule of the rejected request is disabled, or gone, so that it cannot be sent again. Nothing has run.',
    'Enable the rule that `detail` names, then send the request again.',
    'Nothing has run: rule 4711 is disabled.',
  ]),
  'body-too-large': type(413, 'Body too large', [
    'The body has more bytes than are read. Nothing was done.',
    'Shorten it; the HTML of an e-mail is the usual reason: link to images rather than embed them.',
    'A body may have at most 256 KiB.',
  ]),
  'unsupported-media-type': type(415, 'Unsupported media type', [
    'The body is not declared to be JSON. Nothing was done.',
    'Send the header `Content-Type: application/json`.',
    'Send JSON, with Content-Type: application/json.',
  ]),
  misdirected: type(421, 'Unknown host name', [
    'The `Host` header names neither this machine nor the host of RELAY_PUBLIC_URL, and the relay listens on this machine only: ' +
      'a web page may be behind it. Nothing was done.',
    'Use the address that `npm start` prints. Behind a proxy, let the operator set RELAY_PUBLIC_URL to how people reach the relay.',
    'The relay does not go by the name "relay.example.com". Its operator sets RELAY_PUBLIC_URL to a URL with it.',
  ]),
  'idempotency-key-reused': type(422, 'Idempotency key used again', [
    'A chain was accepted under this idempotency key before, and its body was another. Nothing has run.',
    'Use a new key for a new request. To repeat a request, send exactly the same body; only its tokens may differ.',
    'This idempotency key was used before with another body. Use a new key for a new request.',
  ]),
  'rate-limited': type(429, 'Too many requests', [
    'Either this company has sent more requests in a minute than the operator allows, or too many requests from this ' +
      'address had wrong credentials. Nothing was done.',
    'Send the request again after the seconds in `Retry-After`. The `RateLimit-…` headers tell how much is left; several ' +
      'actions in one request count once. A chain whose tokens are right is kept, and can be sent again from there: `npx ' +
      'relay rejected list <companyId>`.',
    'Company acme has sent more than its 600 requests a minute. Nothing has run.',
  ]),
  'quota-exceeded': type(429, 'Quota of the day used up', [
    'The company has not enough left of the actions, or of the e-mail recipients, that it may use a day. Nothing has run; what was ' +
      'accepted before goes on.',
    "A webhook's request is kept, and can be sent again once the day is over (UTC): `npx relay rejected list <companyId>`; a mend is " +
      'asked for again then. If the company needs more, the operator sets its `limits`. If it does not know where so much comes from, look at its chains.',
    'Company acme has not enough left of its 200000 actions a day (UTC). Nothing has run.',
  ]),
  'too-many-open-chains': type(429, 'Too many open chains', [
    'The company has as many chains open as it may: running, waiting for a delay, or needing attention. Nothing has run; what is ' +
      'open goes on.',
    'Retry or skip what needs attention, cancel what nobody needs; then send the request again: it is kept (`npx relay rejected ' +
      'list <companyId>`). If the company needs more, the operator sets its `limits`.',
    'Company acme has 100000 chains open, as many as it may. Nothing has run.',
  ]),
  'headers-too-large': type(431, 'Headers too large', [
    'The headers of the request have more than 16 KiB. Nothing was done.',
    'Send fewer or shorter headers: large cookies are a usual reason.',
    'The headers of the request are too large.',
  ]),
  internal: type(500, 'Internal error', [
    'Something went wrong in the relay that nobody foresaw. A chain has been started only if the chains list shows it.',
    'Send the request again with the same idempotency key. If it goes on, tell the operator, who finds the cause in the log.',
    'Something went wrong here; the operator can find it in the log.',
  ]),
  'database-unavailable': type(503, 'Database cannot be reached', [
    'The relay cannot look companies and rules up at the moment. Nothing has run.',
    'Send the request again after the seconds in `Retry-After`. If it goes on, tell the operator.',
    'The relay cannot look its rules up at the moment. Nothing has run. Send the request again.',
  ]),
  unreadable: type(503, 'Stored data cannot be decrypted', [
    'It was encrypted with a key that the relay does not have now, or was changed since. Nothing was done.',
    'The operator finds in the log which key is missing, and appends it to `RELAY_ENCRYPTION_KEYS`.',
    'What is stored cannot be read: there is no encryption key 2026 here: append it to RELAY_ENCRYPTION_KEYS.',
  ]),
  'temporal-unavailable': type(503, 'Temporal cannot be reached', [
    'The engine that keeps chains did not accept this one. `detail` says whether nothing has run or nobody knows.',
    'Send the request again after the seconds in `Retry-After`, with the same idempotency key.',
    'The chain could not be started. Nothing has run. Send the request again.',
  ]),
};

/** The last segment of a problem's `type`, such as `invalid-chain`. */
export type ProblemSlug = keyof typeof problemTypes;

/** The whole table, in its order: by status. */
export const problemTypeList = Object.entries(problemTypes).map(([slug, type]) => ({ slug: slug as ProblemSlug, ...type }));
