/** What every call to an outside system is given, how it proves who it is, and the error of a call that failed. */

import { cutShort } from '../chain/text.js';
import type { Auth } from '../contract/company.js';

/** One call to an outside system. */
export interface Call {
  /** Sent as `Idempotency-Key` where the protocol has one; the same for every attempt at the same effect. */
  idempotencyKey?: string;
  /** Milliseconds for the whole call, body included. */
  timeoutMs: number;
  /** Aborts the call when the activity is cancelled. */
  signal?: AbortSignal;
}

/** The only error that connectors throw on purpose. Its message may be shown to anybody: no secrets. */
export class ConnectorError extends Error {
  override readonly name = 'ConnectorError';

  constructor(
    /**
     * What may be concluded from it:
     * - `permanent`: the other side said no, and would say no again (4xx, SMTP 5yz, bad settings).
     * - `retryable`: nothing was done, or doing it again under the same key is safe (network, time-out, HTTP 5xx, SMTP 4yz, …).
     * - `unknown`: the other side may have done it, and repeating it would be noticed by people (a mail body that had left).
     */
    readonly kind: 'permanent' | 'retryable' | 'unknown',
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

/**
 * Runs `run` with a signal that fires when `call.timeoutMs` have passed or `call.signal` has fired; its reason is an Error that
 * says which. `AbortSignal.any` would not do: in Node 20 its signal may be garbage-collected, and then never fires.
 */
export async function withDeadline<T>(call: Call, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const expire = () => controller.abort(new Error(`no complete answer within ${call.timeoutMs / 1000} s`));
  const cancel = () => controller.abort(new Error('cancelled before an answer came'));
  const timer = setTimeout(expire, call.timeoutMs);
  call.signal?.addEventListener('abort', cancel, { once: true });
  if (call.signal?.aborted) cancel();
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    call.signal?.removeEventListener('abort', cancel);
  }
}

/**
 * What an outside system says, fit for an error message: at most `max` characters on one line, every secret (plain,
 * percent-encoded or as it stands inside JSON) replaced by `***`.
 */
export function excerpt(text: string, { secrets = [], max = 200 }: { secrets?: string[]; max?: number } = {}): string {
  const forms = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret.replace(/\p{Cs}/gu, '')),
    JSON.stringify(secret).slice(1, -1),
  ]);
  const longestFirst = [...new Set(forms)].filter((form) => form !== '').sort((a, b) => b.length - a.length);
  const clean = longestFirst.reduce((rest, form) => rest.replaceAll(form, '***'), text);
  return cutShort(clean.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Z}]+/gu, ' ').trim(), max);
}

export type BasicAuth = Extract<Auth, { type: 'basic' }>;

/** Header names in lower case, and every text that must not appear in a message. */
export function credentialsOf(auth: Auth | undefined): { headers: Record<string, string>; secrets: string[] } {
  switch (auth?.type) {
    case undefined:
      return { headers: {}, secrets: [] };
    case 'bearer':
      return { headers: { authorization: `Bearer ${auth.token}` }, secrets: [auth.token] };
    case 'basic': {
      const encoded = Buffer.from(`${auth.username}:${auth.password}`).toString('base64');
      return { headers: { authorization: `Basic ${encoded}` }, secrets: [encoded, auth.username, auth.password] };
    }
    case 'headers': {
      const headers = Object.entries(auth.headers).map(([name, value]) => [name.toLowerCase(), value]);
      return { headers: Object.fromEntries(headers), secrets: Object.values(auth.headers) };
    }
  }
}

/** The user and password of a URL such as `https://user:password@host/`, as basic auth. */
export function authIn(url: URL): BasicAuth | undefined {
  if (url.username === '' && url.password === '') return undefined;
  return { type: 'basic', username: percentDecoded(url.username), password: percentDecoded(url.password) };
}

/** The text itself where it is not percent-encoded properly: then a bare `%` was meant. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
