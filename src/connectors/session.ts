/** Makes all calls of one effect to a vendor, with one deadline. Finds the address, signs in, and sorts the failures. */

import type { z } from 'zod';
import type { Auth } from '../contract/company.js';
import { type Call, ConnectorError, excerpt } from './call.js';
import type { Answer, HttpClient, HttpRequest } from './http.js';
import { meaningOf, wordsOf } from './words.js';

export interface Exchange {
  method?: HttpRequest['method']; // default: GET
  path: string; // the part of the URL after `baseUrl`, with the query
  json?: unknown;
  form?: HttpRequest['form'];
  /** What the call is about, for the title of an error: `ticket 4711`. */
  about?: string;
  /** Whether the call changes something. */
  writes?: boolean;
  /** The call times out so early that the session still has this many milliseconds. */
  leavesMs?: number;
}

/** The address and the credentials of the calls. `secrets` are more texts that errors must not contain. */
export interface Access {
  baseUrl: string;
  auth?: Auth;
  headers?: Record<string, string>;
  /** Every form has these parameters. Without a form, the query has them. */
  parameters?: HttpRequest['form'];
  secrets?: string[];
}

/**
 * Why a call failed. `moved`: the address or the access token is out of date, so the session looks both up again, once. `busy`: too
 * many calls. `conflict`: somebody else is changing the same record. `refused`: the vendor would refuse the same call again.
 */
export type Sorted = {
  as: 'moved' | 'credentials' | 'rights' | 'missing' | 'conflict' | 'busy' | 'temporary' | 'refused';
  says?: string; // the vendor's sentence
  title?: string; // replaces the usual title
  remedy?: string;
  retryAfterSeconds?: number;
  status?: number; // the status in the body, if it differs from the HTTP status
  /** What `moved` means if the address and the token were already looked up again. Default: `credentials`. */
  again?: Exclude<Sorted['as'], 'moved'>;
};

type Read = <Schema extends z.ZodType>(schema: Schema, access: Access, exchange: Exchange) => Promise<z.infer<Schema>>;

/** How to call the API of a vendor. */
export interface VendorApi {
  name: string;
  /** The place of the settings, for advice: `the company's ticketing settings`. */
  what: string;
  /** @param read - makes the calls that look up an address or a token */
  access(read: Read): Promise<Access>;
  /** Sorts an answer by its body. If this returns undefined, the HTTP status alone decides (`byStatus`). */
  sort(answer: Answer, exchange: Exchange): Sorted | undefined;
  /** Returns the vendor's sentence from an error answer that `sort` did not sort. Default: the whole text. */
  says?(answer: Answer): string | undefined;
}

/** The facts that a connection remembers between effects, such as its access and its fields. A restart forgets all facts. */
export class Memory {
  readonly #facts = new Map<string, { until: number; fact: Promise<unknown>; found?: unknown }>();

  /**
   * Returns the remembered fact, or looks it up. A failure is not remembered.
   * @param fresh - looks the fact up even if the memory has it.
   * @param outdated - looks the fact up if the memory still has this old fact. Another session may already have replaced it.
   */
  async of<Fact>(
    name: string,
    look: () => Promise<Fact>,
    { fresh = false, outdated, minutes = 10 }: { fresh?: boolean; outdated?: Fact; minutes?: number } = {},
  ): Promise<Fact> {
    const known = this.#facts.get(name);
    const isOld = fresh || (outdated !== undefined && known?.found === outdated);
    if (known && !isOld && known.until > Date.now()) return known.fact as Promise<Fact>;
    const fact = look();
    const remembered: { until: number; fact: Promise<unknown>; found?: unknown } = { until: Date.now() + minutes * 60_000, fact };
    this.#facts.set(name, remembered);
    try {
      const found = await fact;
      remembered.found = found;
      return found;
    } catch (error) {
      if (this.#facts.get(name) === remembered) this.#facts.delete(name);
      throw error;
    }
  }
}

export class Session {
  readonly #until: number;
  #lookedUp = false;

  constructor(
    readonly api: VendorApi,
    private readonly http: HttpClient,
    readonly memory: Memory,
    readonly call: Call,
  ) {
    this.#until = Date.now() + call.timeoutMs;
  }

  get leftMs(): number {
    return this.#until - Date.now();
  }

  /** Asks, and reads the JSON of the answer. @throws ConnectorError, also if the answer does not match the schema */
  async read<Schema extends z.ZodType>(schema: Schema, exchange: Exchange): Promise<z.infer<Schema>> {
    return this.#parse(schema, await this.ask(exchange));
  }

  #parse<Schema extends z.ZodType>(schema: Schema, { json, label, status }: Answer): z.infer<Schema> {
    const read = schema.safeParse(json);
    if (read.success) return read.data;
    const { path = [], message = '' } = read.error.issues[0] ?? {};
    const where = path.join('.') || 'the answer';
    const found = `${label} answered ${status} in a form that the relay does not know: ${where}: ${message}`;
    const title = `${this.api.name} answered in an unknown format`;
    const remedy = 'Tell the operator of the relay: the connector may need an update';
    throw new ConnectorError('permanent', found, { status, title, remedy });
  }

  /** @throws ConnectorError with the vendor's sentence, a title and a remedy. */
  async ask(exchange: Exchange): Promise<Answer> {
    const access = await this.#access();
    const { answer, sorted } = await this.#exchange(access, exchange);
    if (!sorted) return answer;
    if (sorted.as === 'moved' && !this.#lookedUp) {
      await this.#access(access);
      return this.ask(exchange);
    }
    throw this.#failure(sorted, exchange, answer, access, sorted.again);
  }

  #failure(
    sorted: Sorted,
    { about = 'the request' }: Exchange,
    answer: Answer,
    access: Access,
    again: Exclude<Sorted['as'], 'moved'> = 'credentials',
  ): ConnectorError {
    const { says = '', retryAfterSeconds, status = answer.status } = sorted;
    const as = sorted.as === 'moved' ? again : sorted.as;
    const usual = wordsOf(as, this.api.name, about, this.api.what);
    const { title = usual.title, remedy = usual.remedy } = sorted;
    const said = excerpt(says, access.secrets);
    const kind = ['conflict', 'busy', 'temporary'].includes(as) ? 'retryable' : 'permanent';
    const message = `${answer.label} answered ${answer.status}${said && `: ${said}`}`;
    return new ConnectorError(kind, message, { status, retryAfterSeconds, title, remedy });
  }

  #access(outdated?: Access): Promise<Access> {
    this.#lookedUp ||= outdated !== undefined;
    const look = () =>
      this.api.access(async (schema, access, exchange) => {
        const { answer, sorted } = await this.#exchange(access, exchange);
        if (sorted) throw this.#failure(sorted, exchange, answer, access);
        return this.#parse(schema, answer);
      });
    return this.memory.of('access', look, { ...(outdated && { outdated }), minutes: 60 });
  }

  async #exchange({ baseUrl, auth, headers, parameters = [], secrets }: Access, exchange: Exchange) {
    const { method = 'GET', path, json: body, form, leavesMs = 0 } = exchange;
    const { name, what } = this.api;
    const url = new URL(`${baseUrl.replace(/\/+$/, '')}${path}`);
    if (!form) for (const [parameter, value] of parameters) url.searchParams.append(parameter, value);
    const call = { ...this.call, timeoutMs: Math.max(1, this.leftMs - leavesMs) };
    const request = { method, url, auth, headers, body, form: form && [...parameters, ...form], secrets };
    const answer = await this.http.ask({ ...request, call, what, about: { name, thing: '' } });
    return { answer, sorted: this.api.sort(answer, exchange) ?? byStatus(answer, this.api.says?.(answer)) };
  }
}

/** @param purpose - such as `verify a change, so nothing was changed`. @throws ConnectorError if fewer milliseconds are left */
export function assertLeft({ leftMs, api: { name } }: Session, milliseconds: number, purpose: string): void {
  const message = `${name} is too slow: no time was left to ${purpose}`;
  if (leftMs < milliseconds) throw new ConnectorError('retryable', message, wordsOf('slow', name, '', ''));
}

/** The places of the settings, for advice. */
export const platformSettings = "the company's platform settings";
export const ticketingSettings = "the company's ticketing settings";

/** Makes the error of a problem that the connector itself finds, before a call or in a successful answer. */
export const refused = (message: string, title: string, remedy: string): ConnectorError =>
  new ConnectorError('permanent', message, { title, remedy });

/** @param about - `ticket 4711` */
export function missing(name: string, about: string): ConnectorError {
  const { title, remedy } = wordsOf('missing', name, about, '');
  return refused(`${name} has no ${about}`, title, remedy);
}

/** The relay sends credentials to `found`, so it must be the vendor's address or have `baseUrl`'s host. @throws ConnectorError */
export function assertOwnHost(name: string, found: string, own: RegExp, baseUrl: string | undefined): void {
  const { hostname, host, protocol } = new URL(found);
  if (baseUrl === undefined ? protocol === 'https:' && own.test(hostname) : host === new URL(baseUrl).host) return;
  throw refused(
    `${name} gave the address ${host}, which does not belong to ${name}; nothing was sent there`,
    `${name} gave the relay an unknown address`,
    'Tell the operator of the relay',
  );
}

/** Sorts an answer by its HTTP status. Returns undefined for a success. */
export function byStatus({ status, retryAfterSeconds, text, json }: Answer, says?: string): Sorted | undefined {
  const isPage = json === undefined && text.trim() !== '';
  if (status >= 200 && status <= 299) return isPage ? { as: 'temporary', says: 'the answer is not JSON' } : undefined;
  return { as: meaningOf(status), says: says ?? text.replace(/<[^<>]*>/g, ' '), retryAfterSeconds };
}
