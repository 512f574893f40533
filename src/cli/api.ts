/** Asks the relay's API over HTTP. A refusal and silence are errors. */

import type { z } from 'zod';
import { problemSchema } from '../contract/problem.js';
import type { Address } from './address.js';
import { UsageError } from './terminal.js';

export type Problem = z.infer<typeof problemSchema>;

/** An answer with a status of success. */
export interface Answer<Body = unknown> {
  status: number;
  headers: Headers;
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
    readonly retryAfter: string | undefined,
    readonly address: Address,
    readonly question: Question,
  ) {
    super(problem.title);
  }
}

/** Nobody answered at the address, or something that is not the relay. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';

  constructor(
    readonly address: Address,
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
    const { status, headers } = response;
    if (response.ok || status === question.alsoAnswer) {
      const { success, data } = schema.safeParse(parseJson(text));
      if (success) return { status, headers, text, body: data };
      throw this.#unlike('answers in a form that this command does not know');
    }
    const { data: problem } = problemSchema.safeParse(parseJson(text));
    if (problem) throw new Refused(problem, text, headers.get('Retry-After') ?? undefined, this.address, question);
    const target = headers.get('Location') ?? '';
    const elsewhere = status >= 300 && status < 400 && URL.canParse(target) ? new URL(target).origin : undefined;
    throw this.#unlike(elsewhere ? `sends on to ${elsewhere}` : `answers ${status}`);
  }

  async #exchange(method: string, path: string, { body, headers, query, bearer = true }: Question) {
    const url = new URL(this.address.url + path);
    for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) url.searchParams.set(name, String(value));
    const { credential } = this.address;
    try {
      const response = await fetch(url, {
        method,
        headers: {
          Accept: 'application/json',
          ...(bearer && credential && { Authorization: `Bearer ${credential.bearer}` }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        body: body instanceof Uint8Array ? body : JSON.stringify(body),
        redirect: 'manual',
        signal: AbortSignal.timeout(patienceMs),
      });
      return { response, text: await response.text() };
    } catch (error) {
      const { reason, mayHaveArrived } = silence(error);
      throw new Unreachable(this.address, `The relay's API cannot be reached at ${this.address.url}: ${reason}.`, mayHaveArrived);
    }
  }

  #unlike(what: string): Unreachable {
    return new Unreachable(this.address, `${this.address.url} ${what}: this is not the API that the command was made for.`, true);
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

const reasons: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the host',
  UND_ERR_CONNECT_TIMEOUT: 'the host does not answer',
};

/** What `fetch` threw, in words. */
function silence(error: unknown): { reason: string; mayHaveArrived: boolean } {
  if (error instanceof Error && error.name === 'TimeoutError')
    return { reason: `no answer within ${patienceMs / 1000} seconds`, mayHaveArrived: true };
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
  const code = cause && 'code' in cause ? String(cause.code) : '';
  const failed = `the connection failed (${code || cause?.message || 'no reason given'})`;
  return { reason: reasons[code] ?? failed, mayHaveArrived: reasons[code] === undefined };
}
