/** HTTP responses other than 2xx, turned into errors that say what was asked, what came back and what to do. */

import { z } from 'zod';
import { ConnectorError } from './call.js';
import { excerpt } from './excerpt.js';
import { parseJson } from './json.js';

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

interface ErrorResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** 408, 425, 429 and 5xx are `retryable`, and only then is `Retry-After` heeded; all else is `permanent`. */
export function responseError(context: ErrorContext, { status, headers, body }: ErrorResponse): ConnectorError {
  const retryable = status >= 500 || [408, 425, 429].includes(status);
  const retryAfterSeconds = retryable ? retryAfter(first(headers['retry-after'])) : undefined;
  const explanation = explanationIn(body, context.secrets);
  return new ConnectorError(
    retryable ? 'retryable' : 'permanent',
    `${context.label} answered ${status}${explanation && `: ${explanation}`}${advice(context, status, first(headers.location))}`,
    { status, retryAfterSeconds },
  );
}

/** Host and path, without user, password and query, which may hold secrets; the path is left out where it is a secret as well. */
export function shownUrl(url: URL, secretPath: boolean): string {
  return excerpt(url.origin + (secretPath ? '/…' : url.pathname), { max: 300 });
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

const sentence = z.string().trim().min(1);
const problemSchema = z.object({
  detail: sentence.optional().catch(undefined),
  message: sentence.optional().catch(undefined),
  error: z
    .union([sentence, z.object({ message: sentence }).transform(({ message }) => message)])
    .optional()
    .catch(undefined),
  title: sentence.optional().catch(undefined),
});

/** What the other side says went wrong: one of the usual fields of a JSON body, otherwise the body's text without HTML tags. */
function explanationIn(body: string, secrets: string[]): string {
  const { detail, message, error, title } = problemIn(body);
  return excerpt(detail ?? message ?? error ?? title ?? body.replace(/<[^<>]*>/g, ' '), { secrets });
}

function problemIn(body: string): z.infer<typeof problemSchema> {
  try {
    return problemSchema.safeParse(parseJson(body)).data ?? {};
  } catch {
    return {}; // not JSON
  }
}

const MAX_RETRY_AFTER_SECONDS = 3600;

/** `Retry-After` in seconds, from a number or an HTTP date; undefined if it is unreadable or in the past. */
function retryAfter(header = ''): number | undefined {
  const value = header.trim();
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((httpDate(value) - Date.now()) / 1000);
  return seconds > 0 ? Math.min(seconds, MAX_RETRY_AFTER_SECONDS) : undefined;
}

/** Milliseconds since 1970. The oldest of the three forms, asctime, means GMT without saying so. */
function httpDate(value: string): number {
  return Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
}
