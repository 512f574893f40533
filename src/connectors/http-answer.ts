/** HTTP responses: their JSON, or an error that says what was asked, what came back and what to do. */

import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { isNestedDeeper } from '../chain/text.js';
import { ConnectorError, excerpt } from './call.js';

/** What an error message says of a request, and what it must not say. */
export interface ErrorContext {
  /** `POST https://…/send`, fit to be shown. */
  label: string;
  url: URL;
  /** Where the address and its auth were set: `the company's platform settings`. */
  what: string;
  secretPath: boolean;
  /** Texts that the other side may echo and nobody may see. */
  secrets: string[];
}

const MAX_ANSWER_BYTES = 1024 * 1024;
/** Enough of an error's body to find what it says. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Deep enough for any real answer, shallow enough for every recursive function (`JSON.stringify` overflows at 200,000). */
const MAX_DEPTH = 100;
const MAX_RETRY_AFTER_SECONDS = 3600;

/**
 * @param needsJson - without it, the status alone says that it was done: then `undefined` for a body that cannot be read.
 * @throws ConnectorError for a status other than 2xx: 408, 425, 429 and 5xx are `retryable`, all else is `permanent`; `permanent`
 *   also for JSON that is none, or larger than 1 MiB
 */
export async function answerOf(context: ErrorContext, response: Dispatcher.ResponseData, needsJson: boolean): Promise<unknown> {
  const { statusCode: status, headers, body } = response;
  if (status >= 200 && status <= 299) {
    const json = jsonOf(context, status, body);
    return needsJson ? json : json.catch(() => undefined);
  }
  const { text } = await read(body, MAX_ERROR_BYTES).catch(() => ({ text: '' }));
  const retryable = status >= 500 || [408, 425, 429].includes(status);
  const retryAfterSeconds = retryable ? retryAfter(first(headers['retry-after'])) : undefined;
  const explanation = excerpt(explanationIn(text), { secrets: context.secrets });
  throw new ConnectorError(
    retryable ? 'retryable' : 'permanent',
    `${context.label} answered ${status}${explanation && `: ${explanation}`}${advice(context, status, first(headers.location))}`,
    { status, retryAfterSeconds },
  );
}

async function jsonOf({ label, secrets }: ErrorContext, status: number, body: Readable): Promise<unknown> {
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

/**
 * The value, without `__proto__` keys.
 * @throws SyntaxError if the text is not JSON or is nested deeper than 100 levels
 */
export function parseJson(text: string): unknown {
  if (isNestedDeeper(text, MAX_DEPTH)) throw new SyntaxError(`nested deeper than ${MAX_DEPTH} levels`);
  // A reviver costs several times the parsing, so only where the key could be there; its letters may be written as \u escapes.
  if (!/__proto__|\\u00[5-7]/i.test(text)) return JSON.parse(text);
  return JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value));
}

function first(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

function advice({ what, url, secretPath }: ErrorContext, status: number, location: string | undefined): string {
  if (status === 401 || status === 403) return `; check the auth of ${what}`;
  if (status === 404 || status === 410) return `; check that it is there, and the address in ${what}`;
  if (status < 300 || status > 399) return '';
  const target =
    location !== undefined && URL.canParse(location, url.href) ? ` to ${shownUrl(new URL(location, url), secretPath)}` : '';
  return `, a redirect${target}; redirects are not followed: put the final address into ${what}`;
}

/** Host and path, without user, password and query, which may hold secrets; the path is left out where it is a secret as well. */
export function shownUrl(url: URL, secretPath: boolean): string {
  return excerpt(url.origin + (secretPath ? '/…' : url.pathname), { max: 300 });
}

const sentence = z.string().trim().min(1).optional().catch(undefined);
/** The usual fields of an error in JSON. */
const problemSchema = z.object({
  detail: sentence,
  message: sentence,
  error: z
    .union([z.string().trim().min(1), z.object({ message: sentence }).transform(({ message }) => message)])
    .catch(undefined),
  title: sentence,
});

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

/** `Retry-After` in seconds, from a number or an HTTP date; undefined if it is unreadable or in the past. */
function retryAfter(header = ''): number | undefined {
  const value = header.trim();
  // The oldest of the three forms of a date, asctime, means GMT without saying so.
  const date = () => Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((date() - Date.now()) / 1000);
  return seconds > 0 ? Math.min(seconds, MAX_RETRY_AFTER_SECONDS) : undefined;
}
