/** The HTTP client for outside systems: kept from internal addresses, bounded in time and size, following no redirects. */

import { Agent, request as undici } from 'undici';
import packageJson from '../../package.json' with { type: 'json' };
import type { Auth } from '../contract/company.js';
import { authIn, type Call, ConnectorError, credentialsOf, excerpt, withDeadline } from './call.js';
import { answerOf, type ErrorContext, shownUrl } from './http-answer.js';
import { assertPublicHost, codeOf, networkFailure, publicLookup } from './network.js';

export interface HttpRequest {
  /** A GET needs a JSON body in the response; everything else is done with any 2xx. */
  method: 'GET' | 'POST' | 'PATCH';
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

export type HttpClient = ReturnType<typeof createHttpClient>;

/** @param options.allowPrivateNetworks - without it, only public addresses are connected to (see network.ts) */
export function createHttpClient({ allowPrivateNetworks }: { allowPrivateNetworks: boolean }) {
  const agent = new Agent({
    connect: allowPrivateNetworks ? {} : { lookup: publicLookup },
    // the call's deadline covers headers and body
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  async function exchange(request: HttpRequest, signal: AbortSignal): Promise<unknown> {
    const { method, url, headers, auth, body, call, what, secretPath = false } = request;
    const credentials = credentialsOf(auth ?? authIn(url));
    const context: ErrorContext = {
      label: `${method} ${shownUrl(url, secretPath)}`,
      url,
      what,
      secretPath,
      secrets: [...credentials.secrets, ...url.searchParams.values(), ...(secretPath ? [url.pathname] : [])],
    };
    try {
      if (!allowPrivateNetworks) assertPublicHost(url.hostname);
      const response = await undici(new URL(url.pathname + url.search, url.origin), {
        dispatcher: agent,
        method,
        headers: {
          accept: 'application/json',
          'accept-encoding': 'identity',
          'user-agent': `relay/${packageJson.version}`,
          ...credentials.headers,
          'content-type': body === undefined ? undefined : 'application/json',
          'idempotency-key': call.idempotencyKey,
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal,
      });
      return await answerOf(context, response, method === 'GET');
    } catch (error) {
      throw connectorError(context, error, signal);
    }
  }

  return {
    /**
     * @returns the JSON of a 2xx response. Where the method is not GET the status alone says that it was done: then `undefined`
     * for a body that is not JSON, larger than 1 MiB or broken off.
     * @throws ConnectorError `retryable` for network errors, time-outs, 408, 425, 429 and 5xx, else `permanent`; never `unknown`
     */
    request: (request: HttpRequest) => withDeadline(request.call, (signal) => exchange(request, signal)),
    /** Closes all connections; requests under way fail. */
    close: () => agent.destroy(),
  };
}

/** undici's codes for a request that it will not send, such as one with a line break in a header. */
const UNSENDABLE = ['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'];

/** Whatever ended a request, as a ConnectorError. */
function connectorError({ label, what, secrets }: ErrorContext, error: unknown, signal: AbortSignal): ConnectorError {
  if (error instanceof ConnectorError) return error;
  if (!signal.aborted && error instanceof Error && UNSENDABLE.includes(codeOf(error) ?? '')) {
    const why = excerpt(error.message, { secrets });
    return new ConnectorError('permanent', `${label} could not be sent: ${why}; check the auth of ${what}`);
  }
  const { kind, message, facts } = networkFailure(error, signal);
  return new ConnectorError(kind, `${label}: ${message}`, facts);
}
