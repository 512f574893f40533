/**
 * `/co/{companyId}/events`: a stream of server-sent events. It sends the answer of a path whenever this answer changes. All
 * watchers with the same path and role share one poll. Each poll uses the credentials of one watcher.
 */

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { z } from 'zod';
import type { Caller } from '../contract/audit.js';
import { Problem } from '../contract/problem.js';
import { nextPauseMs, type Rhythm } from '../contract/rhythm.js';
import type { Settings } from '../store/settings.js';
import type { Callers } from './bearer-authentication.js';
import { ofStream } from './limits.js';
import { type Route, route } from './route.js';

/** Calls a route of this API, as an HTTP client would. */
export type Ask = (request: Request, env: Context['env']) => Response | Promise<Response>;

const rhythm: Rhythm = { shortestMs: 2_000, longestMs: 10_000 };
/** After this time, a stream ends. Then the client opens a new one. Must be less than `answerTimeoutMs` in service/server.ts. */
const streamMs = 45_000;
const aliveMs = 15_000;
const accessMs = 1000; // how often a stream without changes checks whether the company's settings have changed
const mostPaths = 10;
const mostLetters = 2000;
const mostStreams = 100; // the maximum number of open streams for a company in this process

type Access = { callers: Pick<Callers, 'of'>; settings: Pick<Settings, 'of'> };

interface Looker {
  ask(): Promise<Response>;
  /** @param body - the answer of the path, as JSON text */
  tell(body: string): void;
  end(): void;
}

/** Polls one path for all its watchers, and keeps the last answer. */
class View {
  readonly lookers = new Set<Looker>();
  #body: string | undefined;
  /** New watchers. They get the next answer, also if it has not changed, but never the last answer, which may be old. */
  #untold: Looker[] = [];
  #wake = new AbortController();

  add(looker: Looker): void {
    this.lookers.add(looker);
    this.#untold.push(looker);
    this.#wake.abort();
  }

  /** Polls until nobody watches the path. */
  async watch(): Promise<void> {
    for (let pauseMs = rhythm.shortestMs; ; ) {
      const [looker] = this.lookers;
      if (!looker) return;
      this.#wake = new AbortController();
      const untold = this.#untold;
      this.#untold = [];
      const answer = await looker.ask();
      const body = answer.ok ? await answer.text() : undefined;
      const changed = body !== undefined && body !== this.#body;
      if (changed) this.#body = body;
      if (body === undefined) this.#untold.push(...untold);
      else for (const each of changed ? this.lookers : untold) if (this.lookers.has(each)) each.tell(body);
      // The watchers take turns: each poll uses the credentials and the rate limit of the next watcher.
      if (this.lookers.delete(looker)) {
        if (answer.status === 401 || answer.status === 403) looker.end();
        else this.lookers.add(looker);
      }
      const retryAfterSeconds = Number(answer.headers.get('Retry-After')) || undefined;
      pauseMs = nextPauseMs(rhythm, pauseMs, { changed, failed: !answer.ok, retryAfterSeconds });
      await sleep(pauseMs, undefined, { ref: false, signal: this.#wake.signal }).catch(() => {});
    }
  }
}

/** Sends events to a client. If the client is slow, the newest body of a path replaces the waiting body of this path. */
class Outbox {
  /** The waiting bodies by path. The path `undefined` means an `alive` event. */
  readonly #waiting = new Map<string | undefined, string>();
  #isSending = false;

  constructor(private readonly stream: SSEStreamingApi) {}

  /** @param path - `undefined` sends an `alive` event */
  put(path: string | undefined, body = '{}'): void {
    this.#waiting.set(path, body);
    if (!this.#isSending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (const [path, body] of this.#waiting) {
      this.#waiting.delete(path);
      const answer = path !== undefined && { event: 'answer', data: `{"path":${JSON.stringify(path)},"body":${body}}` };
      await this.stream.writeSSE(answer || { event: 'alive', data: body });
    }
    this.#isSending = false;
  }
}

/** Matches the GET paths that have JSON answers, and captures the company. Matches no `%`, which could hide another path. */
function pathsTold(routes: readonly Route[]): RegExp {
  const root = '/co/:companyId';
  const isTold = ({ method, path, answers }: Route) =>
    method === 'get' && path.startsWith(root) && typeof answers[200]?.[1] === 'object';
  const ends = routes.filter(isTold).map(({ path }) => path.slice(root.length).replaceAll(/:\w+/g, '[\\w-]+'));
  return new RegExp(`^/co/([\\w-]+)(?:${ends.join('|')})(?:\\?[^#\\s]*)?$`);
}

/** @param routes - the routes that clients can watch. @param stop - if aborted, ends all streams. @param access - absent only in tests. */
export function eventRoutes(ask: Ask, routes: readonly Route[], stop?: AbortSignal, access?: Access): Route[] {
  const told = pathsTold(routes);
  const views = new Map<string, View>();
  const streams = new Map<string, number>();

  /** @returns a function that removes the watcher. */
  function look(key: string, looker: Looker): () => void {
    const known = views.get(key);
    const view = known ?? new View();
    view.add(looker);
    if (!known) {
      views.set(key, view);
      void view.watch().finally(() => views.delete(key));
    }
    return () => view.lookers.delete(looker);
  }

  return [
    route.company('GET /co/:companyId/events', 'watch', 'Watch other paths for changes', {
      use: 'reads',
      description:
        'Sends server-sent events. The event `answer` comes at the start and after every change. It has `{"path", "body"}`: ' +
        `\`body\` is the answer to a GET of the path. The event \`alive\` comes every ${aliveMs / 1000} seconds. After ` +
        `${streamMs / 1000} seconds, the event \`end\` comes: open the stream again.`,
      query: z.object({
        path: z
          .string()
          .max(mostLetters)
          .describe(
            `A GET path of the company, with its query. The answer must be JSON. Repeat \`path\` for up to ${mostPaths} paths.`,
          ),
      }),
      answers: { 200: ['The events.', 'text/event-stream'] },
      problems: ['rate-limited'],
      handle(c, { companyId }) {
        const paths = [...new Set(c.req.queries('path'))];
        const isTold = (path: string) => path.length <= mostLetters && told.exec(path)?.[1] === companyId;
        if (paths.length > mostPaths) throw new Problem('invalid-query', `path must be given at most ${mostPaths} times.`);
        if (!paths.every(isTold)) {
          const example = `such as /co/${companyId}/chains?limit=20`;
          throw new Problem('invalid-query', `path must be a GET path of the company with a JSON answer, ${example}.`);
        }
        const open = (by: number) => streams.set(companyId, (streams.get(companyId) ?? 0) + by);
        if ((streams.get(companyId) ?? 0) >= mostStreams) {
          const detail = `Company ${companyId} has ${mostStreams} open event streams at this process: close a stream, or use GET.`;
          throw new Problem('rate-limited', detail, { headers: { 'Retry-After': '60' }, bound: 'event-streams' });
        }
        const headers = new Headers();
        for (const name of ['Authorization', 'Cookie']) {
          const credential = c.req.header(name);
          if (credential !== undefined) headers.set(name, credential);
        }
        const { env } = c;
        const actor = c.get('actor');
        return streamSSE(c, async (stream) => {
          open(1);
          const over = new AbortController();
          const end = () => over.abort();
          const ended = once(over.signal, 'abort');
          const outbox = new Outbox(stream);
          let known: object | undefined;
          /** Checks the caller again if the company has changed. Ends the stream if the caller has no access, or a new role. */
          const check = async () => {
            const company = (await access?.settings.of(companyId))?.company;
            if (!access || (company && company === known)) return;
            const now = await access.callers.of(c);
            if (!now || roleOf(now) !== roleOf(actor)) end();
            known = company;
          };
          let checked = Promise.resolve();
          const ifAllowed = (tell: () => void) => {
            checked = checked.then(check).then(() => (over.signal.aborted ? undefined : tell()), end);
          };
          const looks = paths.map((path) =>
            look(`${roleOf(actor)} ${path}`, {
              ask: async () => ask(new Request(new URL(path, c.req.url), { headers }), ofStream(env)),
              tell: (body) => ifAllowed(() => outbox.put(path, body)),
              end,
            }),
          );
          const quiet = setInterval(() => ifAllowed(() => {}), accessMs);
          const alive = setInterval(() => outbox.put(undefined), aliveMs);
          const late = setTimeout(end, streamMs);
          stream.onAbort(end);
          stop?.addEventListener('abort', end);
          await ended;
          stop?.removeEventListener('abort', end);
          for (const leave of looks) leave();
          clearInterval(quiet);
          clearInterval(alive);
          clearTimeout(late);
          open(-1);
          await stream.writeSSE({ event: 'end', data: '{}' }); // Browsers ignore events without data.
        });
      },
    }),
  ];
}

const roleOf = (actor: Caller) => (actor.kind === 'admin' ? actor.kind : actor.role);
