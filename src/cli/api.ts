/** The HTTP client of the relay's API. It throws `Refused` if the API refuses a request, and `Unreachable` if no relay answers. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isLoopback } from '../contract/loopback.js';
import { problemSchema } from '../contract/problem.js';
import { type Terminal, UsageError } from './terminal.js';

export interface Address {
  url: string; // without a trailing slash
  loopback: boolean;
  /** The admin token or a company's key. `from` is the variable or file with the credential, for error messages. */
  credential?: { bearer: string; from: string; kind: 'admin' | 'key' };
}

/** The address from `--url`, from RELAY_URL, or of the relay on this machine, in this order. @throws UsageError if none is known */
export function readAddress(given: string | undefined, env: Terminal['env']): Address {
  const name = given === undefined ? 'RELAY_URL' : '--url';
  const running = runningRelay(env);
  const here = env.PORT ? `http://127.0.0.1:${env.PORT}` : (running?.url ?? 'http://127.0.0.1:8080');
  const text = given ?? (env.RELAY_URL || here);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError(`${name} must be a URL such as https://relay.example.com`);
  if (url.username || url.password || url.search || url.hash)
    throw new UsageError(
      `${name} must not have a user, password, query or fragment. Set the token in RELAY_ADMIN_TOKEN or RELAY_KEY`,
    );
  const loopback = isLoopback(url.hostname);
  const credential = readCredential(env, running !== undefined && isSame(url, new URL(running.url)));
  return { url: url.href.replace(/\/+$/, ''), loopback, ...(credential && { credential }) };
}

/** Reads the credential from the environment. If there is none, the running relay here has one in its file `admin-token`. */
function readCredential(env: Terminal['env'], isRunning: boolean): Address['credential'] {
  if (env.RELAY_ADMIN_TOKEN) return credentialOf(env.RELAY_ADMIN_TOKEN, 'RELAY_ADMIN_TOKEN', 'admin');
  if (env.RELAY_KEY) return credentialOf(env.RELAY_KEY, 'RELAY_KEY', 'key');
  const file = inDataDir(env, 'admin-token');
  const kept = isRunning ? readIfThere(file) : undefined;
  return kept === undefined ? undefined : credentialOf(kept, file, 'admin');
}

const inDataDir = (env: Terminal['env'], name: string) => join(env.RELAY_DATA_DIR || '.relay', name);

const runningSchema = z.object({ url: z.url(), pid: z.int() });

/** The relay of the data directory. Undefined if it has ended: a program that now uses its port must not get the token. */
function runningRelay(env: Terminal['env']): z.infer<typeof runningSchema> | undefined {
  const running = runningSchema.safeParse(parseJson(readIfThere(inDataDir(env, 'api.json')) ?? '')).data;
  if (running === undefined) return undefined;
  try {
    process.kill(running.pid, 0);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return undefined;
  }
  return running;
}

function isSame(a: URL, b: URL): boolean {
  return a.port === b.port && (a.hostname === b.hostname || (isLoopback(a.hostname) && isLoopback(b.hostname)));
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function credentialOf(text: string, from: string, kind: 'admin' | 'key') {
  const bearer = text.trim();
  if (/^[\x21-\x7e]+$/.test(bearer)) return { bearer, from, kind };
  throw new UsageError(`${from} does not contain a token: a token is one word of ASCII characters`);
}

export type Problem = z.infer<typeof problemSchema>;

export interface Answer<Body> extends Pick<Response, 'status' | 'headers'> {
  text: string; // the raw body
  body: Body;
}

/** The API answered with a problem document. */
export class Refused extends Error {
  override readonly name = 'Refused';

  constructor(
    readonly problem: Problem,
    readonly text: string, // the problem document as the API sent it
    readonly retryAfter: string | null, // seconds, from `Retry-After`
    readonly question: Question,
  ) {
    super(problem.title);
  }
}

/** Nothing answered, or the answer was not from a relay of this version. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';

  /** @param mayHaveArrived - whether the API may have received the request */
  constructor(
    message: string,
    readonly mayHaveArrived: boolean,
  ) {
    super(message);
  }
}

export interface Question {
  body?: unknown; // the client sends bytes unchanged, and everything else as JSON
  headers?: Record<string, string>;
  query?: Record<string, unknown>; // the client omits parameters whose value is undefined
  /** Whether to send the admin token or key. @default true */
  bearer?: boolean;
  /** For this status, `ask` returns the answer, as for a 2xx status. For all other statuses, `ask` throws an error. */
  alsoAnswer?: number;
  /** After a refusal, the command prints this next step instead of the step from explain.ts. */
  nextStep?: (problem: Problem) => string | undefined;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const patienceMs = 30_000; // for a check or test, the API waits up to 27 seconds for Temporal, so this limit must be longer

export class Api {
  constructor(readonly address: Address) {}

  /** @throws Refused, Unreachable */
  async ask<Body>(method: Method, path: string, schema: z.ZodType<Body>, question: Question = {}): Promise<Answer<Body>> {
    const { response, text } = await this.#exchange(method, path, question);
    const { status, ok, headers } = response;
    const json = parseJson(text);
    if (ok || status === question.alsoAnswer) {
      const { success, data } = schema.safeParse(json);
      if (success) return { status, headers, text, body: data };
      throw this.#unlike('answers in a format that this command does not know');
    }
    throw this.#refusal(response, text, question);
  }

  /** Writes the body of an answer piece by piece. @throws Refused, or Unreachable (also if the connection breaks) */
  async download(path: string, question: Question, write: (bytes: Uint8Array) => Promise<unknown>): Promise<void> {
    const read = async (response: Response) => {
      if (!response.ok) return response.text();
      for await (const bytes of response.body ?? []) await write(bytes);
      return '';
    };
    const { response, text } = await this.#exchange('GET', path, question, read);
    if (!response.ok) throw this.#refusal(response, text, question);
  }

  #refusal({ status, headers }: Response, text: string, question: Question): Refused | Unreachable {
    const { data: problem } = problemSchema.safeParse(parseJson(text));
    if (problem) return new Refused(problem, text, headers.get('Retry-After'), question);
    const target = headers.get('Location') ?? '';
    return this.#unlike(URL.canParse(target) ? `redirects to ${new URL(target).origin}` : `answers ${status}`);
  }

  /** @param read - reads the body. Without this function, the whole exchange must end within `patienceMs` */
  async #exchange(
    method: string,
    path: string,
    { body, headers: more, query = {}, bearer = true }: Question,
    read?: (response: Response) => Promise<string>,
  ) {
    const url = new URL(this.address.url + path);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
    const headers = new Headers({ Accept: 'application/json', ...more });
    const { credential } = this.address;
    if (bearer && credential) headers.set('Authorization', `Bearer ${credential.bearer}`);
    // A PATCH body is a JSON Merge Patch (RFC 7396).
    if (body !== undefined) headers.set('Content-Type', method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    const sent = body instanceof Uint8Array ? body : JSON.stringify(body);
    try {
      const signal = read ? null : AbortSignal.timeout(patienceMs);
      const response = await fetch(url, { method, headers, body: sent, redirect: 'manual', signal });
      return { response, text: await (read ? read(response) : response.text()) };
    } catch (error) {
      const [reason, mayHaveArrived] = silence(error);
      throw new Unreachable(`The relay's API cannot be reached at ${this.address.url}: ${reason}.`, mayHaveArrived);
    }
  }

  #unlike(what: string): Unreachable {
    return new Unreachable(`${this.address.url} ${what}: it is not a relay, or its version differs from this command's.`, true);
  }
}

/** A path of the API with encoded values. @throws UsageError if a value would change the path. */
export function path(texts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  const wrong = values.find((value) => ['', '.', '..'].includes(String(value).trim()));
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is not an id`);
  return String.raw({ raw: texts }, ...values.map(encodeURIComponent));
}

/** @returns undefined if the text is not JSON, or the bytes are not UTF-8. */
export function parseJson(json: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof json === 'string' ? json : new TextDecoder('utf-8', { fatal: true }).decode(json));
  } catch {
    return undefined;
  }
}

/** These error codes mean that the client sent nothing. */
const unsent: Record<string, string> = {
  ECONNREFUSED: 'no process listens there',
  ENOTFOUND: 'the host does not exist',
  EAI_AGAIN: 'the DNS lookup failed',
  EHOSTUNREACH: 'the host is not reachable',
  ENETUNREACH: 'the network is not reachable',
  UND_ERR_CONNECT_TIMEOUT: 'the host does not answer',
};

function silence(error: unknown): [reason: string, mayHaveArrived: boolean] {
  if (error instanceof Error && error.name === 'TimeoutError') return [`no answer within ${patienceMs / 1000} seconds`, true];
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
  const code = cause && 'code' in cause ? String(cause.code) : '';
  const known = unsent[code];
  return known ? [known, false] : [`the connection failed (${code || cause?.message || 'no reason given'})`, true];
}
