/** Keeps the API's answers on an open page up to date, by polls and server-sent events, while somebody uses the page. */

import { type Signal, signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { nextPauseMs, type Rhythm } from '../contract/rhythm.js';
import { query } from './addresses.js';
import { ask, Refused, sessionIsOver } from './api.js';

export interface Resource<Body> {
  /** The last answer. Undefined before the first answer. */
  data: Signal<Body | undefined>;
  /** Why the last request failed. Undefined if the request succeeded. */
  refused: Signal<Refused | undefined>;
  /** The time of the last answer, in Unix milliseconds. */
  at: Signal<number | undefined>;
  /** The cursors of all pages of a list up to this page. The first page has no cursor. */
  cursors?: Signal<string[]>;
}

const listDelayMs = 1200; // Temporal's lists show a change after about a second
const silenceMs = 40_000; // if no event comes for this long, the resource polls again

/** Resources with this rhythm or with `often` also get server-sent events. */
const usual: Rhythm = { shortestMs: 4_000, longestMs: 20_000 };
export const seldom: Rhythm = { shortestMs: 30_000, longestMs: 120_000 };
export const often: Rhythm = { shortestMs: 1_000, longestMs: 8_000 };

/** @param path - if undefined, nothing is requested yet. */
export function useResource<Body>(path: string | undefined, rhythm: Rhythm = usual): Resource<Body> {
  const asking = useMemo(() => keepAsking<Body>(path, rhythm), [path]);
  useEffect(asking.start, [asking]);
  return asking;
}

/** Loads one page of a list. @returns the page and its cursors. */
export function usePages<Body>(path: string, rhythm?: Rhythm, limit?: string): [Resource<Body>, Signal<string[]>] {
  const cursors = useSignal<string[]>([]);
  const page = useResource<Body>(path + query({ limit, cursor: cursors.value.at(-1) }), rhythm);
  return [{ ...page, cursors }, cursors];
}

/**
 * Asks the API after `pauseMs`, and again `pauseMs` after each change of the path or of the body.
 * @param path - if undefined, nothing is asked. @returns `isOutdated`: the answer is about an earlier path or body.
 */
export function useAnswer<Body>(method: 'GET' | 'POST', path: string | undefined, body?: object, pauseMs = 0) {
  const answer = useSignal<{ text: string; body?: Body; refused?: Refused }>({ text: '' });
  const text = path === undefined ? '' : path + JSON.stringify(body);
  useEffect(() => {
    if (path === undefined) return;
    let isOld = false;
    const take = (heard: { body?: Body; refused?: Refused }) => {
      if (!isOld) answer.value = { ...heard, text };
    };
    const refuse = (refused: unknown) => {
      if (!(refused instanceof Refused)) throw refused;
      take({ ...answer.peek(), refused });
    };
    const timer = setTimeout(() => void ask<Body>(method, path, body).then((body) => take({ body }), refuse), pauseMs);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [text]);
  return { body: answer.value.body, refused: answer.value.refused, isOutdated: answer.value.text !== text };
}

const mounted = new Set<() => void>();

/** Requests all resources of the page again after about a second. Each change that a person makes calls this. */
export function refreshAll(): void {
  for (const refresh of mounted) refresh();
}

function keepAsking<Body>(path: string | undefined, rhythm: Rhythm) {
  const [data, refused, at] = [signal<Body>(), signal<Refused>(), signal<number>()];
  let [text, pauseMs, stopped] = ['', rhythm.shortestMs, false];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let heardAt = 0;

  const look = async (hasComeBack = false): Promise<void> => {
    clearTimeout(timer);
    if (path === undefined || stopped || (sessionIsOver.value && !hasComeBack)) return;
    if (!isAttended() && at.value !== undefined) return wait(rhythm.shortestMs);
    try {
      const body = await ask<Body>('GET', path);
      if (stopped) return;
      const changed = take(body);
      wait(Date.now() - heardAt < silenceMs ? silenceMs : nextPauseMs(rhythm, pauseMs, { changed }));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (stopped) return;
      refused.value = error;
      wait(nextPauseMs(rhythm, pauseMs, { changed: false, failed: true, retryAfterSeconds: error.retryAfterSeconds }));
    }
  };
  /** @returns whether the answer differs from the last answer. */
  const take = (body: Body): boolean => {
    const heard = JSON.stringify(body);
    const changed = heard !== text;
    text = heard;
    if (changed) data.value = body;
    [refused.value, at.value] = [undefined, Date.now()];
    return changed;
  };
  const hear = (body?: Body) => {
    heardAt = Date.now();
    if (body !== undefined) take(body);
    else if (at.value !== undefined) at.value = heardAt;
    wait(silenceMs);
  };
  const wait = (ms: number) => {
    pauseMs = ms;
    clearTimeout(timer);
    timer = setTimeout(() => void look(), ms);
  };
  const comesBack = () => {
    if (isAttended() && (sessionIsOver.value || Date.now() - (at.value ?? 0) > rhythm.shortestMs)) void look(true);
  };
  const refresh = () => wait(listDelayMs);
  return {
    ...{ data, refused, at },
    start() {
      mounted.add(refresh);
      const stopListening = rhythm !== seldom && path?.startsWith('/co/') ? listen({ path, hear }) : undefined;
      stopped = false;
      document.addEventListener('visibilitychange', comesBack);
      addEventListener('focus', comesBack);
      void look();
      return () => {
        stopped = true;
        mounted.delete(refresh);
        stopListening?.();
        clearTimeout(timer);
        document.removeEventListener('visibilitychange', comesBack);
        removeEventListener('focus', comesBack);
      };
    },
  };
}

/** `hear` gets the new answer, or undefined if the answer has not changed. */
type Listener = { path: string; hear(body?: unknown): void };

const listeners = new Set<Listener>();
/** The stream opens this long after the last resource has started or stopped, so that the page opens only one stream. */
const gatherMs = 100;
/** After an error, the stream stays closed for this long. In this time, each resource polls. */
const troubleMs = 30_000;

let source: EventSource | undefined;
let opening: ReturnType<typeof setTimeout> | undefined;

export function listen(listener: Listener): () => void {
  listeners.add(listener);
  openIn(gatherMs);
  return () => {
    listeners.delete(listener);
    openIn(gatherMs);
  };
}

function openIn(ms: number): void {
  clearTimeout(opening);
  opening = setTimeout(open, ms);
}

function close(): void {
  clearTimeout(opening);
  source?.close();
  source = undefined;
}

function open(): void {
  close();
  const paths = [...new Set([...listeners].map(({ path }) => path))].slice(0, 10);
  const [company] = /^\/co\/[^/]+/.exec(paths[0] ?? '') ?? [];
  if (company === undefined || !isAttended()) return;
  const opened = new EventSource(`${company}/events?${new URLSearchParams(paths.map((path) => ['path', path]))}`);
  source = opened;
  opened.addEventListener('answer', ({ data }) => {
    const { path, body } = JSON.parse(data);
    for (const listener of listeners) if (listener.path === path) listener.hear(body);
  });
  opened.addEventListener('alive', () => {
    for (const { path, hear } of listeners) if (paths.includes(path)) hear();
  });
  opened.addEventListener('end', () => openIn(0));
  opened.addEventListener('error', () => {
    if (opened.readyState === EventSource.CLOSED) openIn(troubleMs);
  });
}

/** A hidden page closes its stream, because browsers limit the number of connections to one server. */
const look = () => (isAttended() ? source || openIn(0) : close());
document.addEventListener('visibilitychange', look);
addEventListener('focus', look);

const unattendedMs = 30 * 60_000;

let attendedAt = Date.now();
for (const event of ['pointerdown', 'keydown', 'wheel', 'focus'])
  addEventListener(event, () => (attendedAt = Date.now()), { capture: true, passive: true });

export const isAttended = () => document.visibilityState === 'visible' && Date.now() - attendedAt < unattendedMs;
