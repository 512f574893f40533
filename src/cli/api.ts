/** The relay's API over HTTP: where it is, what opens it, and how it is asked. A refusal and silence are errors. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isLoopback } from '../contract/loopback.js';
import { problemSchema } from '../contract/problem.js';
import { type Terminal, UsageError } from './terminal.js';

export interface Address {
  /** Without a slash at the end. */
  url: string;
  /** Whether it is this machine. */
  loopback: boolean;
  /** The admin token or a company's key, and what to name when it is refused. */
  credential?: { bearer: string; from: string; kind: 'admin' | 'key' };
}

/** `--url`, RELAY_URL, this machine at PORT, or the relay of the data directory. @throws UsageError that never shows what it was given. */
export function readAddress(given: string | undefined, env: Terminal['env']): Address {
  const name = given === undefined ? 'RELAY_URL' : '--url';
  const running = runningRelay(env);
  const here = env.PORT ? `http://127.0.0.1:${env.PORT}` : (running?.url ?? 'http://127.0.0.1:8080');
  const text = given ?? (env.RELAY_URL || here);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError(`${name} must be a URL such as https://relay.example.com`);
  if (url.username || url.password || url.search || url.hash)
    throw new UsageError(
      `${name} must have no user, password, query or fragment: credentials go into RELAY_ADMIN_TOKEN or RELAY_KEY`,
    );
  const loopback = isLoopback(url.hostname);
  const credential = readCredential(env, running !== undefined && isSame(url, new URL(running.url)));
  return { url: url.href.replace(/\/+$/, ''), loopback, ...(credential && { credential }) };
}

/** For the relay that runs on the data directory also the token in it. */
function readCredential(env: Terminal['env'], isRunning: boolean): Address['credential'] {
  if (env.RELAY_ADMIN_TOKEN) return credentialOf(env.RELAY_ADMIN_TOKEN, 'RELAY_ADMIN_TOKEN', 'admin');
  if (env.RELAY_KEY) return credentialOf(env.RELAY_KEY, 'RELAY_KEY', 'key');
  const file = inDataDir(env, 'admin-token');
  const kept = isRunning ? readIfThere(file) : undefined;
  return kept === undefined ? undefined : credentialOf(kept, file, 'admin');
}

const inDataDir = (env: Terminal['env'], name: string) => join(env.RELAY_DATA_DIR || '.relay', name);

const runningSchema = z.object({ url: z.url(), pid: z.int() });

/** What `npm start` says of itself in its data directory, if that process lives: the token there is for it, not for whoever listens. */
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

/** Loopback names mean the same machine. */
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
  throw new UsageError(`${from} does not hold a token: it must be one word of plain characters`);
}

export type Problem = z.infer<typeof problemSchema>;

/** An answer with a status of success. */
export interface Answer<Body> extends Pick<Response, 'status' | 'headers'> {
  /** The body as it came; empty where there is none. */
  text: string;
  body: Body;
}

/** The API answered with a problem document. */
export class Refused extends Error {
  override readonly name = 'Refused';

  constructor(
    readonly problem: Problem,
    /** The document as it came. */
    readonly text: string,
    /** Seconds, where the API named them. */
    readonly retryAfter: string | null,
    readonly question: Question,
  ) {
    super(problem.title);
  }
}

/** Nobody answered at the address, or something that is not the relay. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';

  constructor(
    message: string,
    /** Whether the API may have had the request all the same. */
    readonly mayHaveArrived: boolean,
  ) {
    super(message);
  }
}

export interface Question {
  /** Sent as JSON; bytes as they are. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Without those that are undefined. */
  query?: Record<string, unknown>;
  /** Whether the admin token or key goes with it. Default: yes. */
  bearer?: boolean;
  /** Another status that is an answer, too, rather than a refusal. */
  alsoAnswer?: number;
  /** What to do next after such a refusal, where the command that asks knows more than explain.ts. */
  nextStep?: (problem: Problem) => string | undefined;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The API itself waits up to 15 seconds for Temporal. */
const patienceMs = 30_000;

export class Api {
  constructor(readonly address: Address) {}

  /** @param schema - the form of the answer's body. @throws Refused, Unreachable */
  async ask<Body>(method: Method, path: string, schema: z.ZodType<Body>, question: Question = {}): Promise<Answer<Body>> {
    const { response, text } = await this.#exchange(method, path, question);
    const { status, ok, headers } = response;
    const json = parseJson(text);
    if (ok || status === question.alsoAnswer) {
      const { success, data } = schema.safeParse(json);
      if (success) return { status, headers, text, body: data };
      throw this.#unlike('answers in a form that this command does not know');
    }
    const { data: problem } = problemSchema.safeParse(json);
    if (problem) throw new Refused(problem, text, headers.get('Retry-After'), question);
    const target = headers.get('Location') ?? '';
    throw this.#unlike(URL.canParse(target) ? `sends on to ${new URL(target).origin}` : `answers ${status}`);
  }

  async #exchange(method: string, path: string, { body, headers: more, query = {}, bearer = true }: Question) {
    const url = new URL(this.address.url + path);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
    const headers = new Headers({ Accept: 'application/json', ...more });
    const { credential } = this.address;
    if (bearer && credential) headers.set('Authorization', `Bearer ${credential.bearer}`);
    // All changes are merged with what is there (RFC 7396).
    if (body !== undefined) headers.set('Content-Type', method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    const sent = body instanceof Uint8Array ? body : JSON.stringify(body);
    try {
      const signal = AbortSignal.timeout(patienceMs);
      const response = await fetch(url, { method, headers, body: sent, redirect: 'manual', signal });
      return { response, text: await response.text() };
    } catch (error) {
      const [reason, mayHaveArrived] = silence(error);
      throw new Unreachable(`The relay's API cannot be reached at ${this.address.url}: ${reason}.`, mayHaveArrived);
    }
  }

  #unlike(what: string): Unreachable {
    return new Unreachable(`${this.address.url} ${what}: this is not the API that the command was made for.`, true);
  }
}

/** A path of the API with the values in it encoded. @throws UsageError for a value that would make it another path. */
export function path(texts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  const wrong = values.find((value) => ['', '.', '..'].includes(String(value).trim()));
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is no id`);
  return String.raw({ raw: texts }, ...values.map(encodeURIComponent));
}

/** What JSON says, of bytes in UTF-8; undefined for anything else. */
export function parseJson(json: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof json === 'string' ? json : new TextDecoder('utf-8', { fatal: true }).decode(json));
  } catch {
    return undefined;
  }
}

/** Why a request was not even sent, by the code of the error. */
const unsent: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the host',
  UND_ERR_CONNECT_TIMEOUT: 'the host does not answer',
};

/** What `fetch` threw, in words. */
function silence(error: unknown): [reason: string, mayHaveArrived: boolean] {
  if (error instanceof Error && error.name === 'TimeoutError') return [`no answer within ${patienceMs / 1000} seconds`, true];
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
  const code = cause && 'code' in cause ? String(cause.code) : '';
  const known = unsent[code];
  return known ? [known, false] : [`the connection failed (${code || cause?.message || 'no reason given'})`, true];
}
