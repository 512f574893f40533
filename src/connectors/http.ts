/** The HTTP client for outside systems. The client calls no internal address, limits time and size, and follows no redirect. */

import { Agent, type Dispatcher, request as undici } from 'undici';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { isNestedDeeper } from '../chain/text.js';
import type { Auth } from '../contract/company.js';
import { isLoopback } from '../contract/loopback.js';
import type { PrivateNetworks } from '../service/config.js';
import { authIn, type Call, ConnectorError, excerpt, withDeadline } from './call.js';
import { codeOf, guardOf, networkFailure } from './network.js';
import { type Meaning, meaningOf, wordsOf } from './words.js';

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  url: URL; // if there is no `auth`, the user and password in the URL are used
  headers?: Record<string, string>;
  auth?: Auth;
  allowPlainText?: boolean; // whether credentials may go over `http` to another machine
  body?: unknown; // sent as JSON
  form?: [name: string, value: string][] | undefined; // sent instead of `body`
  secrets?: string[] | undefined; // more texts that errors must not contain
  refusal?: (json: unknown) => string | undefined; // why an answer with a 2xx status is a failure; undefined if it is none
  call: Call;
  what: string; // names the settings that contain the address, for advice in errors: `the company's platform settings`
  /** For the title of an error: `the ticket system`, `ticket 4711`. If absent, errors have no title. */
  about?: { name: string; thing: string };
  secretPath?: boolean; // whether the path is secret, as in chat webhooks; errors then show only the host
}

/** `label` names the call in errors, such as `POST https://…/send`. `secrets` are texts that errors must not contain. */
type Asked = HttpRequest & { label: string; secrets: string[] };

type Read<Result> = (asked: Asked, response: Dispatcher.ResponseData) => Promise<Result>;

/** An answer with any status. */
export interface Answer {
  label: string; // `GET https://…/tickets/4711`, for errors
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  json: unknown; // undefined if the text is not JSON
  retryAfterSeconds?: number | undefined;
}

export type HttpClient = ReturnType<typeof createHttpClient>;

export function createHttpClient({ allowPrivateNetworks }: { allowPrivateNetworks: PrivateNetworks }) {
  const guard = guardOf(allowPrivateNetworks);
  const agent = new Agent({
    connect: { lookup: guard.lookup },
    maxResponseSize: 1024 * 1024,
    // Turn off undici's timeouts, because the whole call has a deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  /** Sends the request. @param read - reads the answer. @throws ConnectorError */
  async function exchange<Result>(request: HttpRequest, signal: AbortSignal, read: Read<Result>): Promise<Result> {
    const { method, url, headers, auth, allowPlainText = false, body, form, call, what, secretPath } = request;
    const label = `${method} ${shownUrl(url, secretPath)}`;
    const credentials = credentialsOf(auth ?? authIn(url));
    const sent = [...credentials.secrets, ...(request.secrets ?? [])];
    if (sent.length > 0 && url.protocol === 'http:' && !isLoopback(url.hostname) && !allowPlainText)
      throw new ConnectorError(
        'permanent',
        `${label} was not sent: others could read the credentials on the way; set an https address in ${what}, or set allowPlainText to true`,
        wordsFor(request, 'uncalled'),
      );
    const secrets = [...sent, ...url.searchParams.values(), ...(secretPath ? [url.pathname] : [])];
    const asked: Asked = { ...request, label, secrets };
    try {
      guard.assertAllowed(url.hostname);
      const content = form ? 'application/x-www-form-urlencoded' : body === undefined ? undefined : 'application/json';
      // Omits user and password. Keeps the origin, because a path that begins with // would otherwise name another host.
      const response = await undici(new URL(url.origin + url.pathname + url.search), {
        dispatcher: agent,
        method,
        headers: {
          accept: 'application/json',
          'accept-encoding': 'identity',
          'user-agent': `relay/${packageJson.version}`,
          ...credentials.headers,
          'content-type': content,
          'idempotency-key': call.idempotencyKey,
          ...headers,
        },
        body: form ? new URLSearchParams(form).toString() : body === undefined ? null : JSON.stringify(body),
        signal,
      });
      return await read(asked, response);
    } catch (error) {
      throw connectorError(asked, error, signal);
    }
  }

  return {
    /** @returns the answer's JSON. If it is not JSON, a GET throws, and other methods return undefined. @throws ConnectorError */
    request: (request: HttpRequest) => withDeadline(request.call.timeoutMs, (signal) => exchange(request, signal, answerOf)),
    /** @returns the answer, whatever its status is. @throws ConnectorError if the answer is missing or too long */
    ask: (request: HttpRequest) => withDeadline(request.call.timeoutMs, (signal) => exchange(request, signal, wholeAnswer)),
    close: () => agent.destroy(),
  };
}

async function wholeAnswer(asked: Asked, { statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<Answer> {
  const { label } = asked;
  const text = await body.text().catch((error: unknown) => {
    if (codeOf(error) !== 'UND_ERR_RES_EXCEEDED_MAX_SIZE') throw error;
    const facts = { status, unanswered: true, ...wordsFor(asked, 'form') };
    throw new ConnectorError('retryable', `${label} answered ${status} with ${tooLong}`, facts);
  });
  let json: unknown;
  try {
    json = parseJson(text);
  } catch {
    // The answer is not JSON. The caller decides whether this is a failure.
  }
  return { label, status, headers, text, json, retryAfterSeconds: retryAfter(headers['retry-after']) };
}

const tooLong = 'more than 1 MiB, which is the limit';

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

/** The URL without user, password and query, because these may contain secrets. */
const shownUrl = (url: URL, secretPath = false) => excerpt(url.origin + (secretPath ? '/…' : url.pathname), [], 300);

async function answerOf(asked: Asked, { statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<unknown> {
  if (status >= 200 && status <= 299) {
    const json = jsonOf(asked, status, body);
    if (!asked.refusal) return asked.method === 'GET' ? json : json.catch(() => undefined);
    const refusal = asked.refusal(await json);
    if (refusal === undefined) return json;
    const says = excerpt(`${refusal}: ${explanationIn(JSON.stringify(await json))}`, asked.secrets, 400);
    const facts = { status, ...wordsFor(asked, 'refused') };
    throw new ConnectorError('permanent', `${asked.label} answered ${status}, but ${says}`, facts);
  }
  const text = await body.text().catch(() => '');
  const retryable = status >= 500 || [408, 425, 429].includes(status);
  const explanation = excerpt(explanationIn(text), asked.secrets);
  const meaning = meaningOf(status) === 'conflict' || status < 400 ? 'refused' : meaningOf(status);
  const message = `${asked.label} answered ${status}${explanation && `: ${explanation}`}${advice(asked, status, headers.location)}`;
  const facts = { status, ...wordsFor(asked, meaning) };
  if (!retryable) throw new ConnectorError('permanent', message, facts);
  throw new ConnectorError('retryable', message, { ...facts, retryAfterSeconds: retryAfter(headers['retry-after']) });
}

async function jsonOf(asked: Asked, status: number, body: Dispatcher.ResponseData['body']): Promise<unknown> {
  const { label, secrets } = asked;
  const unusable = (what: string) =>
    new ConnectorError('permanent', `${label} answered ${status} with ${what}`, { status, ...wordsFor(asked, 'form') });
  const text = await body.text().catch((error: unknown) => {
    throw codeOf(error) === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' ? unusable(tooLong) : error;
  });
  try {
    return parseJson(text);
  } catch {
    throw unusable(`a body that is not JSON: ${excerpt(text, secrets) || '(empty)'}`);
  }
}

/** The maximum number of nested levels in an answer. Real answers have fewer levels, and at this depth recursion is still safe. */
const mostLevels = 100;

/** Parses JSON without its `__proto__` keys. @throws SyntaxError also for text that is nested too deep. */
export function parseJson(text: string): unknown {
  if (isNestedDeeper(text, mostLevels)) throw new SyntaxError(`nested deeper than ${mostLevels} levels`);
  // A reviver makes parsing several times slower, so use it only if `__proto__` may occur, plain or with \u escapes.
  if (!/__proto__|\\u00[5-7]/i.test(text)) return JSON.parse(text);
  return JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value));
}

const words = z.string().trim().min(1);
const said = z
  .union([words, z.object({ message: words }).transform(({ message }) => message)])
  .optional()
  .catch(undefined);
const problemSchema = z.object({ detail: said, message: said, error_description: said, error: said, title: said });

/** Finds the reason in an answer: the first field of `problemSchema` in a JSON body. Otherwise, the body without HTML tags. */
function explanationIn(body: string): string {
  const withoutTags = body.replace(/<[^<>]*>/g, ' ');
  try {
    const { detail, message, error_description, error, title } = problemSchema.parse(parseJson(body));
    return detail ?? message ?? error_description ?? error ?? title ?? withoutTags;
  } catch {
    return withoutTags;
  }
}

function advice({ what, url, secretPath }: Asked, status: number, location: unknown): string {
  if (status === 401 || status === 403) return `; check auth in ${what}`;
  if (status === 404 || status === 410) return `; check the id, and the address in ${what}`;
  if (status < 300 || status > 399) return '';
  const isUrl = typeof location === 'string' && URL.canParse(location, url.href);
  const target = isUrl ? ` to ${shownUrl(new URL(location, url), secretPath)}` : '';
  return `, a redirect${target}; the relay does not follow redirects: enter the final address in ${what}`;
}

/** Reads a `Retry-After` header: a number or an HTTP date. @returns seconds; undefined for an unreadable or past value. */
function retryAfter(header: unknown): number | undefined {
  const value = String(header).trim();
  // A date in the format of asctime is in GMT, but does not contain `GMT`.
  const date = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((date - Date.now()) / 1000);
  return seconds > 0 ? Math.min(seconds, 3600) : undefined;
}

/** undici's codes for invalid requests, such as a line break in a header. */
const unsendable = ['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'];

const wordsFor = ({ about, what }: Pick<HttpRequest, 'about' | 'what'>, as: Meaning) =>
  about && wordsOf(as, about.name, about.thing, what);

function connectorError(asked: Asked, error: unknown, signal: AbortSignal): ConnectorError {
  const { label, what, secrets } = asked;
  if (error instanceof ConnectorError) return error;
  if (!signal.aborted && error instanceof Error && unsendable.includes(codeOf(error) ?? '')) {
    const why = `${label} could not be sent: ${excerpt(error.message, secrets)}; check auth in ${what}`;
    return new ConnectorError('permanent', why, wordsFor(asked, 'uncalled'));
  }
  const { kind, message, facts } = networkFailure(error, signal);
  const words = wordsFor(asked, kind === 'permanent' ? 'uncalled' : 'silent');
  return new ConnectorError(kind, `${label}: ${message}`, { ...facts, ...words });
}
