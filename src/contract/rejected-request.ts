/** Why a request was refused although its sender is known. */

export const rejectionReasons = [
  'invalid-chain', // a mistake in the rule itself
  'idempotency-key', // an idempotency key that is none, or two that differ
  'idempotency-key-reused', // used before, with another body
  'token-expired', // rotated, and its grace is over
  'token-revoked',
  'rule-disabled',
  'signature', // the company wants signed webhooks, and this one was not, or not rightly
  'rate-limited',
] as const;

export type RejectionReason = (typeof rejectionReasons)[number];
