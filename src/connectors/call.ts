/** What every call to an outside system is given, and the error of a call that failed. */

import { cutShort } from '../chain/text.js';

export interface Call {
  /** Sent as `Idempotency-Key` where the protocol has one; the same for every attempt at the same effect. */
  idempotencyKey?: string;
  /** For the whole call, body included. */
  timeoutMs: number;
}

/** The only error that connectors throw on purpose. Its message may be shown to anybody: no secrets. */
export class ConnectorError extends Error {
  override readonly name = 'ConnectorError';

  constructor(
    readonly kind:
      | 'permanent' // the other side said no, and would say no again: 4xx, SMTP 5yz, bad settings
      | 'retryable' // nothing was done, or doing it again under the same key is safe: network, time-out, 5xx, SMTP 4yz
      | 'unknown', // the other side may have done it, and people would notice a repetition: a mail body that had left
    /** What was asked, what came back, what to do: `POST http://…/send answered 404: no such assignment`. */
    message: string,
    readonly facts: {
      status?: number; // HTTP's, or SMTP's reply code
      retryAfterSeconds?: number; // at most 3600
      unanswered?: boolean; // the request may have arrived, and no answer came
    } = {},
  ) {
    super(message);
  }
}

/** Runs `run` with a signal whose reason, when the time is over, is an Error that says so. */
export async function withDeadline<T>(timeoutMs: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(
    () => deadline.abort(new Error(`no complete answer within ${Math.round(timeoutMs / 10) / 100} s`)),
    timeoutMs,
  );
  return run(deadline.signal).finally(() => clearTimeout(timer));
}

/** At most `max` characters on one line, every secret (plain, percent-encoded or as it stands inside JSON) replaced by `***`. */
export function excerpt(text: string, secrets: string[] = [], max = 200): string {
  const forms = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret.replace(/\p{Cs}/gu, '')),
    JSON.stringify(secret).slice(1, -1),
  ]);
  const longestFirst = forms.filter((form) => form !== '').sort((a, b) => b.length - a.length);
  const clean = longestFirst.reduce((rest, form) => rest.replaceAll(form, '***'), text);
  return cutShort(clean.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Z}]+/gu, ' ').trim(), max);
}

export function authIn({ username, password }: URL) {
  if (username === '' && password === '') return undefined;
  return { type: 'basic' as const, username: percentDecoded(username), password: percentDecoded(password) };
}

/** The text itself where it is not percent-encoded properly: then a bare `%` was meant. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
