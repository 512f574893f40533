/** The HTTP client for outside systems: kept from internal addresses, bounded in time and size, following no redirects. */

import type { Readable } from 'node:stream';
import { Agent, errors, request as undici } from 'undici';
import type { Auth } from '../contract/company.js';
import { version } from '../contract/version.js';
import { authIn, credentialsOf } from './auth.js';
import { type Call, ConnectorError } from './call.js';
import { withDeadline } from './deadline.js';
import { assertPublicHost, publicLookup } from './destination.js';
import { type ErrorContext, responseError, shownUrl } from './error-response.js';
import { excerpt } from './excerpt.js';
import { parseJson } from './json.js';
import { networkFailure } from './network-error.js';

export interface HttpRequest {
  /** A GET needs a JSON body in the response; everything else is done with any 2xx. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** User and password in it serve as basic auth where `auth` is missing. */
  url: URL;
  /** Names in lower case. */
  headers?: Record<string, string>;
  auth?: Auth;
  /** Sent as JSON. */
  body?: unknown;
  call: Call;
  /** Where the address and its auth were set, for the advice in errors: `the company's platform settings`. */
  what: string;
  /** The path is a secret as well, as those of chat webhooks are: errors show only the host. */
  secretPath?: boolean;
}

export interface HttpClient {
  /**
   * @returns the JSON of a 2xx response. Where the method is not GET the status alone says that it was done: then `undefined` for
   * a body that is not JSON, larger than 1 MiB or broken off.
   * @throws ConnectorError `retryable` for network errors, time-outs, 408, 425, 429 and 5xx, else `permanent`; never `unknown`
   */
  request(request: HttpRequest): Promise<unknown>;
  /** Closes all connections; requests under way fail. */
  close(): Promise<void>;
}

const MAX_ANSWER_BYTES = 1024 * 1024;
/** Enough of an error's body to find what it says. */
const MAX_ERROR_BYTES = 64 * 1024;

/** @param options.allowPrivateNetworks - without it, only public addresses are connected to (see destination.ts) */
export function createHttpClient({ allowPrivateNetworks }: { allowPrivateNetworks: boolean }): HttpClient {
  const agent = new Agent({
    connect: allowPrivateNetworks ? {} : { lookup: publicLookup },
    // the call's deadline covers headers and body
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  /** Sends the request. @returns the response as soon as its headers are there. */
  async function send({ method, url, body, ...request }: HttpRequest, credentials: Record<string, string>, signal: AbortSignal) {
    if (!allowPrivateNetworks) assertPublicHost(url.hostname);
    return undici(new URL(url.pathname + url.search, url.origin), {
      dispatcher: agent,
      method,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': `relay/${version}`,
        ...credentials,
        'content-type': body === undefined ? undefined : 'application/json',
        'idempotency-key': request.call.idempotencyKey,
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
        const context: ErrorContext = {
          label: `${method} ${shownUrl(url, secretPath)}`,
          url,
          what,
          secretPath,
          secrets: [...secrets, ...url.searchParams.values(), ...(secretPath ? [url.pathname] : [])],
        };
        try {
          const { statusCode: status, headers, body } = await send(request, credentials, signal);
          if (status < 200 || status > 299) {
            const { text } = await read(body, MAX_ERROR_BYTES).catch(() => ({ text: '' }));
            throw responseError(context, { status, headers, body: text });
          }
          const json = readJson(context, status, body);
          return await (method === 'GET' ? json : json.catch(() => undefined));
        } catch (error) {
          throw connectorError(context, error, signal);
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

async function readJson({ label, secrets }: ErrorContext, status: number, body: Readable): Promise<unknown> {
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

/** Codes of a connection that broke after it had been made: the request may have arrived. */
const BROKEN = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

/** Whatever ended a request, as a ConnectorError. */
function connectorError({ label, what, secrets }: ErrorContext, error: unknown, signal: AbortSignal): ConnectorError {
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
  return new ConnectorError(kind, `${label}: ${words}`, { unanswered: broken || undefined });
}
