/**
 * `/co/{companyId}/events`: what other paths answer, sent whenever it changes (server-sent events). All who look at the same share
 * one question, which is asked in the name of one of them.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import { z } from 'zod';
import type { Caller } from '../contract/audit.js';
import { Problem } from '../contract/problem.js';
import { nextPauseMs, type Rhythm } from '../contract/rhythm.js';
import { type Route, route } from './route.js';

/** Sends a request through the whole API. */
export type Ask = (request: Request, env: Context['env']) => Response | Promise<Response>;

const rhythm: Rhythm = { shortestMs: 2_000, longestMs: 10_000 };
/** Less than the server gives to an answer (`answerTimeoutMs`). Whoever still looks then asks for another stream. */
const streamMs = 45_000;
const aliveMs = 15_000;
const mostPaths = 10;
/** Of a company at one process. */
const mostStreams = 100;

interface Looker {
  ask(): Promise<Response>;
  /** @param body - JSON */
  tell(body: string): void;
  end(): void;
}

/** What one path answers to all who look at it. */
class View {
  readonly lookers = new Set<Looker>();
  #body: string | undefined;

  add(looker: Looker): void {
    this.lookers.add(looker);
    if (this.#body !== undefined) looker.tell(this.#body);
  }

  /** Asks until nobody looks any more. */
  async watch(): Promise<void> {
    for (let pauseMs = rhythm.shortestMs; ; ) {
      const [looker] = this.lookers;
      if (!looker) return;
      const answer = await looker.ask();
      const body = answer.ok ? await answer.text() : undefined;
      const changed = body !== undefined && body !== this.#body;
      if (changed) {
        this.#body = body;
        for (const each of this.lookers) each.tell(body);
      }
      // The next question is another's: nobody's share of them is used up alone.
      if (this.lookers.delete(looker)) {
        if (answer.status === 401 || answer.status === 403) looker.end();
        else this.lookers.add(looker);
      }
      const retryAfterSeconds = Number(answer.headers.get('Retry-After')) || undefined;
      pauseMs = nextPauseMs(rhythm, pauseMs, { changed, failed: !answer.ok, retryAfterSeconds });
      await sleep(pauseMs, undefined, { ref: false });
    }
  }
}

/** @param stop - of the process: streams end with it. */
export function eventRoutes(ask: Ask, stop?: AbortSignal): Route[] {
  const views = new Map<string, View>();
  const streams = new Map<string, number>();

  /** @returns how to look no more. */
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
    route('GET /co/:companyId/events', 'watch', 'Be told what other paths answer, whenever it changes', {
      access: 'admin or company key',
      use: 'reads',
      description:
        'Server-sent events. `answer` has `{"path", "body"}`: what a GET of the path answers, at first and whenever it has' +
        ` changed; \`alive\` comes every ${aliveMs / 1000} seconds. After ${streamMs / 1000} seconds comes \`end\`: ask again.`,
      query: z.object({
        path: z
          .string()
          .max(2000)
          .describe(`A path of the company that GET answers with JSON, with its query. Up to ${mostPaths}, each by a \`path\`.`),
      }),
      answers: { 200: ['The events.', 'text/event-stream'] },
      problems: ['rate-limited'],
      handle(c, { companyId }) {
        const paths = [...new Set(c.req.queries('path'))];
        const isOfCompany = (path: string) => {
          const { origin, pathname, search } = new URL(path, 'http://relay');
          const isWhole = origin === 'http://relay' && pathname + search === path;
          return isWhole && (pathname === `/co/${companyId}` || pathname.startsWith(`/co/${companyId}/`));
        };
        if (paths.length > mostPaths) throw new Problem('invalid-query', `path must be given at most ${mostPaths} times.`);
        if (!paths.every(isOfCompany) || paths.some((path) => path.startsWith(`/co/${companyId}/events`)))
          throw new Problem('invalid-query', `path must be a path below /co/${companyId}, such as /co/${companyId}/chains.`);
        const open = (by: number) => streams.set(companyId, (streams.get(companyId) ?? 0) + by);
        if ((streams.get(companyId) ?? 0) >= mostStreams) {
          const detail = `Company ${companyId} has ${mostStreams} streams of events open at this process: ask for paths by themselves.`;
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
          let end = () => {};
          const ended = new Promise<void>((resolve) => {
            end = resolve;
          });
          const looks = paths.map((path) =>
            look(`${roleOf(actor)} ${path}`, {
              ask: async () => ask(new Request(new URL(path, c.req.url), { headers }), env),
              tell: (body) => void stream.writeSSE({ event: 'answer', data: `{"path":${JSON.stringify(path)},"body":${body}}` }),
              end,
            }),
          );
          const alive = setInterval(() => void stream.writeSSE({ event: 'alive', data: '{}' }), aliveMs);
          const late = setTimeout(end, streamMs);
          stream.onAbort(end);
          stop?.addEventListener('abort', end);
          await ended;
          stop?.removeEventListener('abort', end);
          for (const leave of looks) leave();
          clearInterval(alive);
          clearTimeout(late);
          open(-1);
          await stream.writeSSE({ event: 'end', data: '{}' }); // A browser drops what has no data.
        });
      },
    }),
  ];
}

const roleOf = (actor: Caller) => (actor.kind === 'key' ? actor.role : actor.kind);
