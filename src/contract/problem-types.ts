/** All problem types of the API. Each type has a page at `/problems/{slug}`. In the texts, backticks mark code. */

import type { Issue } from '../chain/request.js';

/** `meaning` also says whether anything was done. */
function type(status: number, title: string, [meaning, whatToDo, detail, errors]: [string, string, string, Issue[]?]) {
  return { status, title, meaning, whatToDo, example: { detail, errors } };
}

export const problemTypes = {
  'bad-request': type(400, 'Bad request', [
    'The HTTP request could not be understood. Nothing was done.',
    '`detail` says what is wrong. `/docs` describes the endpoint: compare the request with this description.',
    'The request was refused.',
  ]),
  'malformed-url': type(400, 'Malformed URL', [
    'The URL contains a character that no id can contain. Nothing was done.',
    'Check the ids in the URL. Each must be percent-encoded exactly once.',
    'The URL must not contain a NUL character.',
  ]),
  'malformed-json': type(400, 'Malformed body', [
    'The body is not JSON, or two programs could read it differently. For example, a field occurs twice, or the body contains ' +
      'a NUL or half a character. A mistake with a clear meaning, such as an extra comma, causes only a warning. ' +
      'If a token in the body is right, the relay stores the request, and the company can send it again.',
    'Correct the place that `detail` names. In the template of the webhook, use a variable that contains no free text, or ' +
      'let the platform escape the variable as JSON.',
    'The body cannot be read: line 1, column 205: there is a single quotation mark (\'); JSON needs a double quotation mark (").',
  ]),
  'not-an-array': type(400, 'Not an array of actions', [
    'The body is JSON, but not an array of objects. Nothing has run.',
    'Send an array also for a single action: `[{"action": "sendEmails", …}]`.',
    'The body must be a JSON array of one or more actions.',
    [{ pointer: '/1', detail: 'must be an object' }],
  ]),
  'invalid-chain': type(400, 'Invalid chain', [
    'The tokens are right, but an action is invalid. The relay then refuses the whole request. Nothing has run.',
    'Correct every place in `errors` (`/1/delayInSeconds` is a field of the second action). Test the chain with `?dryRun=true`.',
    'Nothing has run. /1/delayInSeconds must be a whole number of seconds, such as "1800"',
    [{ pointer: '/1/delayInSeconds', detail: 'must be a whole number of seconds, such as "1800"' }],
  ]),
  'not-an-object': type(400, 'Not an event', [
    'The body is JSON, but not an object, so it is no event. Nothing has run. The relay stores the request.',
    'Send one event as a JSON object to `/co/{companyId}/events/{relayId}`. Send a list of actions to `/co/{companyId}/relay`.',
    'The body must be a JSON object.',
  ]),
  'event-refused': type(400, 'Event refused', [
    'The relay cannot make valid actions from the event. For example, a required value is missing, or an expression fails. ' +
      'Nothing has run. The relay stores the event.',
    'Read `errors`. Correct the event or the contents of the rule, then send the stored event again. ' +
      '`npx relay rejected list <companyId>` lists it.',
    'Nothing has run. /variables/assignment_id is missing: the event has no value at workorder.id',
    [{ pointer: '/variables/assignment_id', detail: 'is missing: the event has no value at workorder.id' }],
  ]),
  'idempotency-key': type(400, 'Unusable idempotency key', [
    'The key is empty or longer than 255 characters, or `Idempotency-Key` and `webhook-id` differ. Nothing has run.',
    'Send one of the two headers, with 1 to 255 characters. Send the same key when you repeat the same request.',
    'Idempotency-Key and webhook-id are both given and differ: send one of them.',
  ]),
  'invalid-body': type(400, 'Invalid input', [
    'A field of the body is missing, unknown or invalid. Nothing was changed.',
    'Correct every place that `errors` names, then send the request again.',
    '/timeZone must be the name of a time zone such as Europe/Berlin, or ±hh:mm',
    [{ pointer: '/timeZone', detail: 'must be the name of a time zone such as Europe/Berlin, or ±hh:mm' }],
  ]),
  'invalid-query': type(400, 'Invalid query parameter', [
    'A parameter after the `?` of the URL is invalid. Nothing was done.',
    'Correct the parameter that `detail` names.',
    'limit must be 1 to 200.',
  ]),
  'invalid-company-id': type(400, 'Invalid company id', [
    'This id is not allowed for a company. Nothing was changed.',
    'Choose an id of 1 to 64 letters, digits, `_` or `-`.',
    'A company id is 1 to 64 letters, digits, _ or -.',
  ]),
  unauthorized: type(401, 'Not authorized', [
    'The credentials are missing or wrong. If you sent a chain, the wrong part can be the company, the rule, the token or the ' +
      'signature. The answer does not say which part is wrong, so that a stranger learns nothing. Nothing was done.',
    'For a chain: check in every action that `relayId` is a rule of the company in the URL, and `relayAccessToken` is a token ' +
      'of this rule. Check whether the token was rotated or revoked, or the rule was disabled. For other requests: send the ' +
      'admin token as `Authorization: Bearer …`. Many endpoints also accept a key of the company.',
    'Company, relayId and relayAccessToken of every action must belong together, the rule must be enabled, and the ' +
      'webhook must be signed if the company requires a signature.',
  ]),
  forbidden: type(403, 'Not allowed', [
    'The key is right, but its role does not allow this request. Nothing was done.',
    'Use a key with the role that `detail` names, or ask the operator. Managers of the company create keys: `npx relay keys' +
      ' create <companyId> --name <name> --role <role>`.',
    'The key dashboard has the role read: this request needs the role steer, or an admin token.',
  ]),
  'foreign-page': type(403, 'Change refused', [
    'The request has a session cookie and would change something, but it did not come from a page of the relay. Another site ' +
      'may have made the browser send it. Nothing was done.',
    'In a program, send the admin token or key as `Authorization: Bearer …` instead of the cookie. In a browser, use the ' +
      'pages of the relay. A proxy in front of the relay must not change `Host`, `Origin` and `Sec-Fetch-Site`.',
    'This change did not come from a page of the relay. Nothing was changed.',
  ]),
  'not-found': type(404, 'Not found', [
    'This URL is wrong, or the object at this URL was deleted.',
    'Check the path and its ids. A chain can be read until the retention time of the Temporal namespace is over.',
    'There is no rule 4711 of company acme.',
  ]),
  'method-not-allowed': type(405, 'Method not allowed', [
    'This URL does not accept this HTTP method. Nothing was done.',
    'Use one of the methods in the `Allow` header. A redirect from `http` to `https` often turns a POST into a GET.',
    'GET is not possible here. Use POST.',
  ]),
  'request-timeout': type(408, 'Request too slow', [
    'The headers or the body did not arrive in time. Nothing was done.',
    'Send the request again. If it happens again, check the connection.',
    'The complete request did not arrive in time.',
  ]),
  'already-ended': type(409, 'Already ended', [
    'The chain or the action has ended and cannot be changed any more. Nothing was changed.',
    'Read the chain to see how it ended. To run it again, send a new chain.',
    'This has no effect any more: action 2 is done.',
  ]),
  'not-steerable': type(409, 'Not possible now', [
    'The decision is not possible in the current state of the action. Nothing was changed.',
    '`retry` and `mend` need an action that needs attention or has failed; `mend` also takes a scheduled action. ' +
      '`skip` needs an action that needs attention. ' +
      '`runNow` and `reschedule` need a scheduled action. Read the chain again.',
    'Action 1 is running, but runNow is for actions that are scheduled. Possible now: cancel.',
  ]),
  'count-changed': type(409, 'The number of chains has changed', [
    'The number of chains has changed between the count and its confirmation. Nothing was done.',
    'Send the request without `confirm`, check the chains in the answer, then confirm the new count.',
    'The number of chains is now 212, not 214. Check the chains, then confirm with 212.',
  ]),
  'bulk-running': type(409, 'Another bulk order is running', [
    'Another bulk order of the company is still running. Nothing was changed.',
    'Wait until that order has ended (see `GET /co/{companyId}/chains/bulk/{bulkId}`), then confirm again.',
    'Company acme has a bulk order that is still running. Wait until it has ended.',
  ]),
  'relay-id-taken': type(409, 'Rule id taken', [
    'The company already has a rule with this `relayId`. Nothing was changed.',
    'Change the existing rule, delete it first, or omit `relayId` to get a new id.',
    'Company acme already has a rule with relayId 4711.',
  ]),
  'company-id-used': type(409, 'Company id used', [
    'A company with this id was deleted, or the id of another company differs from this id only in upper and lower case. The ' +
      'new company could see the chains of the other company. Nothing was changed.',
    'Choose another id. To create the deleted company again, with the chains that Temporal still keeps, use `?reuseId=true`.',
    'The id of company Acme differs from this id only in upper and lower case: choose another id.',
  ]),
  'company-in-use': type(409, 'Company in use', [
    'The company still has open chains, which need the company. Or you tried to erase the data of a company that still ' +
      'exists. Nothing was deleted.',
    'Wait until the chains have ended, or repeat the request and cancel the chains: `?cancelChains=true` ' +
      '(`--cancel-chains`). Delete a company before you erase its data in Temporal.',
    'Company acme has 3 open chains. Wait until no chain is open, or cancel all open chains with ?cancelChains=true (--cancel-chains).',
  ]),
  'key-name-taken': type(409, 'Key name taken', [
    'The company already has a key with this name. Nothing was changed.',
    'Choose another name, or delete the key with this name.',
    'Company acme already has a key "dashboard".',
  ]),
  'draft-changed': type(409, 'Draft changed', [
    'Somebody else has saved the draft since you read it. Nothing was changed. `conflict` has the stored draft and your contents.',
    'Compare the draft and your contents in `conflict`. Then send the contents again, with the `revision` of the stored draft.',
    'The draft of rule 4711 has revision 8, not 7: key ada saved it at 2026-07-01T12:00:00.000Z.',
  ]),
  unpublishable: type(409, 'Contents with mistakes', [
    'The draft or version has mistakes, or the rule has no draft. Nothing was changed.',
    'Correct every place that `errors` names, save the draft, then repeat the request.',
    'Nothing was changed. /actions/1/delayInSeconds must be a whole number of seconds, such as "1800"',
    [{ pointer: '/actions/1/delayInSeconds', detail: 'must be a whole number of seconds, such as "1800"' }],
  ]),
  'limit-reached': type(409, 'Limit reached', [
    'The company has the maximum number of rules, keys, or unconfirmed contacts. Nothing was created.',
    'Delete a rule, key or contact that is no longer used. With an admin token, you can add more contacts.',
    'Company acme has 100 keys, which is its limit: delete one that is not used any more.',
  ]),
  'not-confirmed': type(409, 'Not confirmed', [
    'A person must confirm this request, for one of three reasons. The token or signature of a refused request is not valid, ' +
      'so somebody else may have written its actions. The request would run the actions of an event again. Or the outcome ' +
      'of the last attempt is unknown, so a retry could do the action twice. Nothing has run.',
    'For a refused request or an event, read the actions in `errors`. To run all these actions, add `"confirm": true` to the ' +
      'body. For an action, check whether the last attempt worked, then send `"confirmUnknown": true` together with `fields`.',
    'Nothing has run. This request came with a token that was revoked (signature: wrong): somebody else may have written its ' +
      'actions. Read the actions in errors. To send all actions, repeat the request with {"confirm": true}.',
    [{ pointer: '/0', detail: '{"action":"sendEmails","relayId":"4711","emails":["ada@example.com"],"subject":"Hello"}' }],
  ]),
  'already-taken': type(409, 'Already taken', [
    'Another person has taken this cause. Nothing was changed.',
    'Ask the person whom `detail` names. Every key with the role `steer` or `manage` can release the cause and then take it.',
    'Somebody else has taken this cause: key dashboard. Wait until it is released.',
  ]),
  'already-resent': type(409, 'Already sent again', [
    'This refused request has already been sent again; `detail` names the chain. Nothing was started.',
    'Look at that chain. To run the actions once more, send a new chain.',
    'This request was sent again at 2026-03-02T09:12:44.120Z: chain 3f1c0a9be2d84c57.',
  ]),
  'already-dropped': type(409, 'Already dropped', [
    'A person has dropped this refused request: it will not run. Nothing was started.',
    'Let the sender send the request again, or send a new chain.',
    'This request was dropped at 2026-03-02T09:12:44.120Z by key dashboard.',
  ]),
  'only-proposed': type(409, 'Only a proposal can be sent', [
    'The body of the refused request could not be read as actions. There may be a `proposal`: the actions that the body ' +
      'probably means. Nothing has run.',
    'Read the `proposal`. If it is right, send `{"proposed": true}`, with `actions` to change actions and `leaveOut` to ' +
      'omit actions. Otherwise drop the request.',
    'The body of this request could not be read as actions. Read its proposal; to send it, use {"proposed": true}.',
  ]),
  'not-authenticated': type(409, 'Not authenticated', [
    'An action of the proposal does not contain the right token of its rule. Somebody may have written this action into a ' +
      'text of the event. Nothing has run.',
    'Omit the actions that `errors` names: `{"proposed": true, "leaveOut": [1]}`. You can send omitted actions as a new chain.',
    'Nothing has run. Action 1 of the proposal did not contain the right token of its rule: leave such actions out.',
    [{ pointer: '/1', detail: 'did not contain the right token of its rule' }],
  ]),
  'rule-disabled': type(409, 'Rule disabled', [
    'A rule of the refused request is disabled or deleted, so the request cannot be sent again. Nothing has run.',
    'Enable the rule that `detail` names, then send the request again.',
    'Nothing has run: rule 4711 is disabled.',
  ]),
  'rule-without-contents': type(409, 'Rule without contents', [
    'The rule has no published version, so the relay does not know what to do with an event. Nothing has run. The relay stores ' +
      'the event.',
    'Publish a version of the rule, then send the stored event again. For lists of actions, use `/co/{companyId}/relay`.',
    'Rule 4711 has no published version. Nothing has run.',
  ]),
  'lists-refused': type(409, 'Lists of actions refused', [
    'The rule accepts only events: its door has `refuseLists: true`. Nothing has run. The relay stores the request.',
    'Send events to `/co/{companyId}/events/{relayId}`, or allow lists in the settings of the rule.',
    'Rule 4711 accepts only events, not lists. Nothing has run.',
  ]),
  'body-too-large': type(413, 'Request too large', [
    'The body is too large. Nothing was done. If a token in a chain is right, the relay stores the first 256 KiB.',
    'Shorten the body. The usual reason is the HTML of an e-mail: link to images instead of embedding them.',
    'A request may have at most 256 KiB.',
  ]),
  'unsupported-media-type': type(415, 'Unsupported media type', [
    'The `Content-Type` header does not declare JSON. Nothing was done. Only a chain is accepted without this header.',
    'Send JSON, with the header `Content-Type: application/json`.',
    'Send JSON, with Content-Type: application/json.',
  ]),
  misdirected: type(421, 'Unknown host name', [
    'The `Host` header must name this machine or the host of RELAY_PUBLIC_URL, because the relay listens on this machine only. ' +
      'Perhaps a web page has sent the request. Nothing was done.',
    'Use the address that `npm start` prints. Behind a proxy, the operator sets RELAY_PUBLIC_URL to the public URL of the relay.',
    'This relay does not know the host name "relay.example.com". The operator can set it in RELAY_PUBLIC_URL.',
  ]),
  'idempotency-key-reused': type(422, 'Idempotency key used again', [
    'A chain with another body was accepted under this idempotency key before. Nothing has run.',
    'Use a new key for a new request. To repeat a request, send exactly the same body; only its tokens may differ.',
    'This idempotency key was used before with another body. Use a new key for a new request.',
  ]),
  'rate-limited': type(429, 'Too many requests', [
    'The company or the key has sent more requests in a minute than the operator allows. Or your IP address has sent too many ' +
      'requests with wrong credentials. Nothing was done.',
    'Wait as many seconds as `Retry-After` says, then send the request again. The `RateLimit-…` headers show how many ' +
      'requests are left. A request with several actions counts once. If the tokens are right, the relay stores the ' +
      'request, and you can send it again. `npx relay rejected list <companyId>` lists it.',
    'Company acme has sent more than its 600 requests a minute. Nothing has run.',
  ]),
  'quota-exceeded': type(429, 'Quota of the day used up', [
    'The company has reached its limit of actions or e-mail recipients a day (UTC). Nothing has run. Accepted chains continue.',
    'The relay stores the request of a webhook (`npx relay rejected list <companyId>`). Send it again after midnight UTC. ' +
      'If the relay refused an edit, repeat the edit after midnight. If the company needs more, the operator raises its ' +
      '`limits`. If the usage is unexpected, look at the chains.',
    'Company acme would exceed its limit of 200000 actions a day (UTC). Nothing has run.',
  ]),
  'too-many-open-chains': type(429, 'Too many open chains', [
    'The company has the maximum number of open chains: running, delayed, or needing attention. Nothing has run; open ' +
      'chains continue.',
    'Retry or skip actions that need attention, and cancel chains that are not needed. Then send the request again: the relay ' +
      'stores it (`npx relay rejected list <companyId>`). If the company needs more, the operator raises its `limits`.',
    'Company acme has 100000 open chains, which is its limit. Nothing has run.',
  ]),
  'headers-too-large': type(431, 'Headers too large', [
    'The headers of the request have more than 16 KiB. Nothing was done.',
    'Send fewer or shorter headers. Large cookies are a usual reason.',
    'The headers of the request are too large.',
  ]),
  internal: type(500, 'Internal error', [
    'The relay had an unexpected error. Check in the list of chains whether your chain was started.',
    'Send the request again with the same idempotency key. If it happens again, tell the operator, who finds the cause in ' +
      'the log.',
    'The relay had an unexpected error; the operator finds it in the log.',
  ]),
  'database-unavailable': type(503, 'Database cannot be reached', [
    'The relay cannot read companies and rules now. Nothing has run.',
    'Wait as many seconds as `Retry-After` says, then send the request again. If it happens again, tell the operator.',
    'The relay cannot read its rules at the moment. Nothing has run. Send the request again.',
  ]),
  unreadable: type(503, 'Stored data cannot be decrypted', [
    'The relay does not have the key that encrypted the data, or the data were changed. Nothing was done.',
    'The operator finds the id of the missing key in the log, and appends this key to `RELAY_ENCRYPTION_KEYS`.',
    'Stored data cannot be read: this relay has no encryption key 2026; the operator must append the key to RELAY_ENCRYPTION_KEYS.',
  ]),
  'temporal-unavailable': type(503, 'Temporal cannot be reached', [
    'Temporal, which runs the chains, did not answer. `detail` says whether nothing has run or the outcome is unknown.',
    'Wait as many seconds as `Retry-After` says, then send the request again with the same idempotency key.',
    'The chain could not be started. Nothing has run. Send the request again.',
  ]),
};

export type ProblemSlug = keyof typeof problemTypes;

/** The types in the order of their statuses. */
export const problemTypeList = Object.entries(problemTypes).map(([slug, type]) => ({ slug: slug as ProblemSlug, ...type }));
