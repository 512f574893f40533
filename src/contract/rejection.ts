/** Why the relay refuses a request from a sender that it knows, in words. */

export const refusalWords = {
  'invalid-chain': 'The list of steps has a mistake',
  'idempotency-key': 'The event key (Idempotency-Key) is not valid', // or two headers contain different keys
  'idempotency-key-reused': 'The webhook sent the same event key (Idempotency-Key) for two different requests',
  'token-expired': 'The token has expired', // the token was rotated, and its grace period is over
  'token-revoked': 'The token was revoked',
  'rule-disabled': 'The rule is disabled',
  signature: 'The signature is missing or wrong', // the company requires signed webhooks
  'rate-limited': 'Too many requests in one minute',
  'actions-per-day': 'The daily limit of steps is reached',
  'recipients-per-day': 'The daily limit of e-mail recipients is reached',
  'open-chains': 'Too many chains are open',
  'malformed-body': 'The request cannot be read', // not strict JSON, or a text may contain injected JSON
  'not-actions': 'The request is not a list of steps',
  'body-too-large': 'The request is too large',
  'unsupported-body': 'The encoding of the request is not supported', // charset or content encoding
  'wrong-token': 'The token of at least one step is wrong', // only some tokens are right
  'event-unreadable': 'The event cannot be read', // no JSON object, or two programs could read it differently
  'event-refused': 'The rule refuses the event', // or the rule has no contents
  'lists-refused': 'The rule accepts only events, not lists of steps',
};
export type RejectionReason = keyof typeof refusalWords;

/** Whether only a person who sets up webhooks understands the details of a refusal. */
export const isForTechnicians = (reason: string) => /body|unreadable|not-actions/.test(reason);
