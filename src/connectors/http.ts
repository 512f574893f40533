/** The HTTP client for outside systems: kept from internal addresses, bounded in time and size, following no redirects. */

import { Agent, type Dispatcher, request as undici } from 'undici';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { isNestedDeeper } from '../chain/text.js';
import type { Auth } from '../contract/company.js';
import { isLoopback } from '../contract/loopback.js';
import { authIn, type Call, ConnectorError, excerpt, withDeadline } from './call.js';
import { assertPublicHost, codeOf, networkFailure, publicLookup } from './network.js';

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PATCH';
  /** User and password in it serve as basic auth where `auth` is missing. */
  url: URL;
  /** Names in lower case. */
  headers?: Record<string, string>;
  auth?: Auth;
  /** Credentials may go over `http` to another machine. */
  allowPlainText?: boolean;
  body?: unknown;
  call: Call;
  /** Where the address and its auth were set, for the advice in errors: `the company's platform settings`. */
  what: string;
  /** The path is a secret as well, as those of chat webhooks are: errors show only the host. */
  secretPath?: boolean;
}

/** For errors: what was asked, as `POST https://…/send`, and texts that the other side may echo and nobody may see. */
type Asked = HttpRequest & { label: string; secrets: string[] };

export type HttpClient = ReturnType<typeof createHttpClient>;

export function createHttpClient({ allowPrivateNetworks }: { allowPrivateNetworks: boolean }) {
  const agent = new Agent({
    connect: allowPrivateNetworks ? {} : { lookup: publicLookup },
    maxResponseSize: 1024 * 1024,
    // The call's deadline covers headers and body.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  async function exchange(request: HttpRequest, signal: AbortSignal): Promise<unknown> {
    const { method, url, headers, auth, allowPlainText = false, body, call, what, secretPath } = request;
    const label = `${method} ${shownUrl(url, secretPath)}`;
    const credentials = credentialsOf(auth ?? authIn(url));
    if (credentials.secrets.length > 0 && url.protocol === 'http:' && !isLoopback(url.hostname) && !allowPlainText)
      throw new ConnectorError(
        'permanent',
        `${label} was not sent: credentials would be legible on the way; set an https address in ${what}, or allowPlainText to true`,
      );
    const secrets = [...credentials.secrets, ...url.searchParams.values(), ...(secretPath ? [url.pathname] : [])];
    const asked: Asked = { ...request, label, secrets };
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
      return await answerOf(asked, response);
    } catch (error) {
      throw connectorError(asked, error, signal);
    }
  }

  return {
    /**
     * @returns the answer's JSON; `undefined` where it cannot be read and the method is not GET: then the status says enough.
     * @throws ConnectorError `retryable` for network errors, time-outs, 408, 425, 429 and 5xx, else `permanent`
     */
    request: (request: HttpRequest) => withDeadline(request.call.timeoutMs, (signal) => exchange(request, signal)),
    close: () => agent.destroy(),
  };
}

/** Header names in lower case, and every text that must not appear in a message. */
function credentialsOf(auth: Auth | undefined): { headers: Record<string, string>; secrets: string[] } {
  switch (auth?.type) {
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
    default:
      return { headers: {}, secrets: [] };
  }
}

/** Host and path, without user, password and query, which may hold secrets. */
function shownUrl(url: URL, secretPath = false): string {
  return excerpt(url.origin + (secretPath ? '/…' : url.pathname), [], 300);
}

async function answerOf(asked: Asked, { statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<unknown> {
  if (status >= 200 && status <= 299) {
    const json = jsonOf(asked, status, body);
    return asked.method === 'GET' ? json : json.catch(() => undefined);
  }
  const text = await body.text().catch(() => '');
  const retryable = status >= 500 || [408, 425, 429].includes(status);
  const explanation = excerpt(explanationIn(text), asked.secrets);
  throw new ConnectorError(
    retryable ? 'retryable' : 'permanent',
    `${asked.label} answered ${status}${explanation && `: ${explanation}`}${advice(asked, status, headers.location)}`,
    { status, retryAfterSeconds: retryable ? retryAfter(headers['retry-after']) : undefined },
  );
}

async function jsonOf({ label, secrets }: Asked, status: number, body: Dispatcher.ResponseData['body']): Promise<unknown> {
  const unusable = (what: string) => new ConnectorError('permanent', `${label} answered ${status} with ${what}`, { status });
  const text = await body.text().catch((error: unknown) => {
    throw codeOf(error) === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' ? unusable('more than 1 MiB, the most that is read') : error;
  });
  try {
    return parseJson(text);
  } catch {
    throw unusable(`something that is not JSON: ${excerpt(text, secrets) || 'nothing'}`);
  }
}

/** Deep enough for any real answer, shallow enough for every recursive function (`JSON.stringify` overflows at 200,000). */
const mostLevels = 100;

/** Without `__proto__` keys. @throws SyntaxError also where it is nested too deep. */
export function parseJson(text: string): unknown {
  if (isNestedDeeper(text, mostLevels)) throw new SyntaxError(`nested deeper than ${mostLevels} levels`);
  // A reviver costs several times the parsing, so only where the key could be there; its letters may be written as \u escapes.
  if (!/__proto__|\\u00[5-7]/i.test(text)) return JSON.parse(text);
  return JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value));
}

const words = z.string().trim().min(1);
const said = z
  .union([words, z.object({ message: words }).transform(({ message }) => message)])
  .optional()
  .catch(undefined);
const problemSchema = z.object({ detail: said, message: said, error: said, title: said });

/** What the other side says went wrong: one of the usual fields of a JSON body, otherwise the body's text without HTML tags. */
function explanationIn(body: string): string {
  const withoutTags = body.replace(/<[^<>]*>/g, ' ');
  try {
    const { detail, message, error, title } = problemSchema.parse(parseJson(body));
    return detail ?? message ?? error ?? title ?? withoutTags;
  } catch {
    return withoutTags;
  }
}

function advice({ what, url, secretPath }: Asked, status: number, location: unknown): string {
  if (status === 401 || status === 403) return `; check the auth of ${what}`;
  if (status === 404 || status === 410) return `; check that it is there, and the address in ${what}`;
  if (status < 300 || status > 399) return '';
  const isUrl = typeof location === 'string' && URL.canParse(location, url.href);
  const target = isUrl ? ` to ${shownUrl(new URL(location, url), secretPath)}` : '';
  return `, a redirect${target}; redirects are not followed: put the final address into ${what}`;
}

/** `Retry-After` in seconds, from a number or an HTTP date; undefined if it is unreadable or in the past. */
function retryAfter(header: unknown): number | undefined {
  const value = String(header).trim();
  // The oldest of the three forms of a date, asctime, means GMT without saying so.
  const date = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((date - Date.now()) / 1000);
  return seconds > 0 ? Math.min(seconds, 3600) : undefined;
}

/** undici's codes for a request that it will not send, such as one with a line break in a header. */
const unsendable = ['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'];

function connectorError({ label, what, secrets }: Asked, error: unknown, signal: AbortSignal): ConnectorError {
  if (error instanceof ConnectorError) return error;
  if (!signal.aborted && error instanceof Error && unsendable.includes(codeOf(error) ?? '')) {
    const why = excerpt(error.message, secrets);
    return new ConnectorError('permanent', `${label} could not be sent: ${why}; check the auth of ${what}`);
  }
  const { kind, message, facts } = networkFailure(error, signal);
  return new ConnectorError(kind, `${label}: ${message}`, facts);
}
