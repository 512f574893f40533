/**
 * The one HTTP client for outside systems: guarded against internal addresses, bounded in time and size, following no redirects,
 * and telling by the kind of its errors whether trying again may help.
 */

import type { Readable } from 'node:stream';
import { Agent, errors, request as send } from 'undici';
import { version } from '../contract/version.js';
import { authIn, credentialsOf } from './auth.js';
import { type Call, ConnectorError } from './call.js';
import { withDeadline } from './deadline.js';
import { assertPublicHost, publicLookup } from './destination.js';
import { excerpt } from './excerpt.js';
import { type Asked, refusalError, shownUrl } from './http-refusal.js';
import { parseJson } from './json.js';
import { networkFailure } from './network-error.js';
import type { Auth } from './settings.js';

export interface HttpRequest {
  /** A GET reads and needs a JSON answer; everything else writes, and is done with any 2xx. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** User and password in it serve as basic auth where `auth` is missing. */
  url: URL;
  /** Names in lower case. */
  headers?: Record<string, string>;
  auth?: Auth | undefined;
  /** Sent as JSON. */
  body?: unknown;
  call: Call;
  /** Where the address and its auth were set, for the advice in errors: `the company's platform settings`. */
  what: string;
  /** The path is a secret as well, as those of chat webhooks are: errors show the host only. */
  secretPath?: boolean;
}

export interface HttpClient {
  /**
   * The JSON of a 2xx answer. `undefined` for a write whose answer was not JSON, larger than 1 MiB or broken off: its status had
   * said that it was done.
   * @throws ConnectorError: `retryable` for network errors, time-outs, 408, 425, 429 and 5xx, otherwise `permanent`; never `unknown`
   */
  request(request: HttpRequest): Promise<unknown>;
  /** Closes all connections; requests under way fail. */
  close(): Promise<void>;
}

const MAX_ANSWER_BYTES = 1024 * 1024;
/** Of the body of an error only the beginning is wanted. */
const MAX_ERROR_BYTES = 64 * 1024;

/** @param options.allowPrivateNetworks without it, only public addresses are connected to (see destination.ts) */
export function createHttpClient({ allowPrivateNetworks }: { allowPrivateNetworks: boolean }): HttpClient {
  const agent = new Agent({
    connect: allowPrivateNetworks ? {} : { lookup: publicLookup },
    // the call's deadline covers headers and body
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  /** Up to the headers of the answer. */
  async function exchange(
    { method, url, body, ...request }: HttpRequest,
    credentials: Record<string, string>,
    signal: AbortSignal,
  ) {
    if (!allowPrivateNetworks) assertPublicHost(url.hostname);
    return send(new URL(url.pathname + url.search, url.origin), {
      dispatcher: agent,
      method,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': `relay/${version}`,
        ...credentials,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(request.call.idempotencyKey !== undefined && { 'idempotency-key': request.call.idempotencyKey }),
        ...request.headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal,
    });
  }

  return {
    request: (request) =>
      withDeadline(request.call, async (signal) => {
        const { method, url, what, secretPath = false } = request;
        const { headers: credentials, secrets } = credentialsOf(request.auth ?? authIn(url));
        const asked: Asked = {
          label: `${method} ${shownUrl(url, secretPath)}`,
          url,
          what,
          secretPath,
          secrets: [...secrets, ...url.searchParams.values(), ...(secretPath ? [url.pathname] : [])],
        };
        try {
          const { statusCode: status, headers, body } = await exchange(request, credentials, signal);
          if (status < 200 || status > 299) {
            const { text } = await read(body, MAX_ERROR_BYTES).catch(() => ({ text: '' })); // the status has said enough
            throw refusalError(asked, { status, headers, body: text });
          }
          const json = readJson(asked, status, body);
          return await (method === 'GET' ? json : json.catch(() => undefined));
        } catch (error) {
          throw connectorError(asked, error, signal);
        }
      }),
    close: () => agent.destroy(),
  };
}

/** At most `limit` bytes of a body; what comes after them is not waited for. */
async function read(body: Readable, limit: number): Promise<{ text: string; whole: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > limit) break;
  }
  return { text: new TextDecoder().decode(Buffer.concat(chunks)), whole: size <= limit };
}

async function readJson({ label, secrets }: Asked, status: number, body: Readable): Promise<unknown> {
  const { text, whole } = await read(body, MAX_ANSWER_BYTES);
  if (!whole)
    throw new ConnectorError('permanent', `${label} answered ${status} with more than 1 MiB, the most that is read`, { status });
  try {
    return parseJson(text);
  } catch {
    const seen = excerpt(text, { secrets }) || 'nothing';
    throw new ConnectorError('permanent', `${label} answered ${status} with something that is not JSON: ${seen}`, { status });
  }
}

/** undici's codes for a request that it will not send, such as one with a line break in a header. */
const UNSENDABLE = ['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'];

/** Codes of a connection that was there and broke. */
const BROKEN = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

/** Turns whatever ended a request into the one error of connectors. */
function connectorError({ label, what, secrets }: Asked, error: unknown, signal: AbortSignal): ConnectorError {
  if (error instanceof ConnectorError) return error;
  if (signal.aborted) return new ConnectorError('retryable', `${label}: ${signal.reason.message}`, { unanswered: true });
  if (error instanceof Error && 'code' in error && UNSENDABLE.includes(String(error.code))) {
    const why = excerpt(error.message, { secrets });
    return new ConnectorError('permanent', `${label} could not be sent: ${why}; check the auth of ${what}`);
  }
  if (error instanceof errors.HTTPParserError)
    return new ConnectorError('retryable', `${label}: the answer was not HTTP`, { unanswered: true });
  const { kind, words } = networkFailure(error);
  const broken = error instanceof Error && 'code' in error && BROKEN.includes(String(error.code));
  return new ConnectorError(kind, `${label}: ${words}`, broken ? { unanswered: true } : {});
}
