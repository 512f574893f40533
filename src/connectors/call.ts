/** The options of every call to an outside system, and the error of a failed call. */

import { cutShort } from '../chain/text.js';

export interface Call {
  /** HTTP calls send this key as `Idempotency-Key`. Every attempt at one effect has the same key. */
  idempotencyKey?: string;
  timeoutMs: number; // for the whole call, including the body
  /** The number of the attempt, from 1. Above 1, an earlier attempt may have had its effect, for example before a crash. */
  attempt?: number;
  /** The data that the previous attempt with the same key has kept. */
  kept?: unknown;
  /** Keeps data for the next attempt with the same key. Then the data is safe even if the worker is lost. */
  keep?(data: unknown): Promise<unknown>;
}

/** Limits for the effects in a system. */
export interface Bounds {
  /** Whether an effect needs several calls. Then it is no local activity, and checks whether an earlier attempt succeeded. */
  severalCalls: boolean;
  /** The vendor's limits for all connections with one `account` (address and credentials). Only a hash of `account` is stored. */
  limits?: { account: string; threads: number; callsPerHour: number };
}

/** The only error that connectors throw on purpose. The message contains no secret, because many people can see the message. */
export class ConnectorError extends Error {
  override readonly name = 'ConnectorError';

  constructor(
    readonly kind:
      | 'permanent' // a repetition cannot help: 4xx, SMTP 5yz, wrong settings
      | 'retryable' // nothing happened, or a repetition with the same key is safe: network, time-out, 5xx, SMTP 4yz
      | 'unknown', // the effect may have happened, and a repetition, such as a second e-mail, would disturb people
    /** The message names the call, the answer, and the next step: `POST http://…/send answered 404: no such assignment`. */
    message: string,
    readonly facts: {
      status?: number; // HTTP status, or SMTP reply code
      retryAfterSeconds?: number; // at most 3600
      unanswered?: boolean; // the request may have arrived, but no answer came
      settled?: boolean; // for `unknown`: the system could not tell the outcome, so the relay does not repeat the effect
      notTried?: boolean; // the relay sent nothing, so the attempt does not count
      title?: string; // the failure in plain words: `Assignment 2001 does not exist at WorkMarket`
      remedy?: string; // what to do: `Change the assignment number, then retry`
    } = {},
  ) {
    super(message);
  }
}

/** Makes the error of a call that only prepares the effect. If this call gets no answer, the effect has not happened. */
export function beforeEffect(error: unknown, words: { title?: string; remedy?: string } = {}): unknown {
  if (!(error instanceof ConnectorError)) return error;
  return new ConnectorError(error.kind, error.message, { ...error.facts, ...words, unanswered: false, status: undefined });
}

/** After the timeout, the signal aborts with an Error that names the timeout. */
export async function withDeadline<T>(timeoutMs: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  const abort = () => deadline.abort(new Error(`no complete answer within ${Math.round(timeoutMs / 10) / 100} s`));
  const timer = setTimeout(abort, timeoutMs);
  return run(deadline.signal).finally(() => clearTimeout(timer));
}

/** Shortens the text to one line of `max` characters. Replaces secrets by `***`, also percent-encoded or JSON-escaped secrets. */
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

/** Decodes percent-encoding. If the text contains a bare `%`, returns the text unchanged. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
