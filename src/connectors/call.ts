/** What every call to an outside system is given, and the error of a call that failed. */

/** One call to an outside system. */
export interface Call {
  /** Sent as `Idempotency-Key` where the protocol has one; the same for every attempt at the same effect. */
  idempotencyKey?: string;
  /** Milliseconds for the whole call, body included. */
  timeoutMs: number;
  /** Aborts the call when the activity is cancelled. */
  signal?: AbortSignal;
}

/**
 * What may be concluded from a failed call:
 * - `permanent`: the other side said no, and would say no again (4xx, SMTP 5yz, bad settings).
 * - `retryable`: nothing was done, or doing it again under the same key is safe (network, time-out, HTTP 5xx, SMTP 4yz, …).
 * - `unknown`: the other side may have done it, and repeating it would be noticed by people (a mail body that had left).
 */
export type FailureKind = 'permanent' | 'retryable' | 'unknown';

/** The only error that connectors throw on purpose. Its message may be shown to anybody: no secrets. */
export class ConnectorError extends Error {
  override readonly name = 'ConnectorError';

  constructor(
    readonly kind: FailureKind,
    /** What was asked, what came back, what to do: `POST http://…/send answered 404: no such assignment`. */
    message: string,
    readonly facts: {
      /** HTTP status or SMTP reply code, where there was one. */
      status?: number;
      /** From `Retry-After`, at most 3600. */
      retryAfterSeconds?: number;
      /** The request may have arrived, and no answer came: whether it was done is not known. */
      unanswered?: boolean;
    } = {},
  ) {
    super(message);
  }
}
