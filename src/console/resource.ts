/** What the API knows, kept up to date for as long as a page shows it and somebody looks. */

import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { nextPauseMs, type Rhythm } from '../contract/rhythm.js';
import { ask, Refused, sessionIsOver } from './api.js';
import { isLookedAt } from './attention.js';
import { listen } from './stream.js';

export interface Resource<Body> {
  /** What was last heard; undefined: nothing yet. */
  data: Signal<Body | undefined>;
  /** Why the last question was refused. */
  refused: Signal<Refused | undefined>;
  /** When it was last heard, in Unix milliseconds. */
  at: Signal<number | undefined>;
  /** Asks again soon: something was done that changes it. */
  refresh(): void;
}

/** What has lately changed a list takes a moment to be seen in it. */
const listDelayMs = 1200;
/** With nothing heard from the stream for so long, it is asked again. */
const silenceMs = 40_000;

/** Of what is asked in this rhythm, or often, the API also says by itself what changes. */
const usual: Rhythm = { shortestMs: 4_000, longestMs: 20_000 };
export const seldom: Rhythm = { shortestMs: 30_000, longestMs: 120_000 };
export const often: Rhythm = { shortestMs: 1_000, longestMs: 8_000 };

/** @param path - undefined: nothing is asked yet. */
export function useResource<Body>(path: string | undefined, rhythm: Rhythm = usual): Resource<Body> {
  const asking = useMemo(() => keepAsking<Body>(path, rhythm), [path]);
  useEffect(() => {
    asking.start();
    return asking.stop;
  }, [asking]);
  return asking;
}

function keepAsking<Body>(path: string | undefined, rhythm: Rhythm) {
  const [data, refused, at] = [signal<Body>(), signal<Refused>(), signal<number>()];
  let [text, pauseMs, stopped] = ['', rhythm.shortestMs, false];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let heardAt = 0;

  const look = async (hasComeBack = false): Promise<void> => {
    clearTimeout(timer);
    if (path === undefined || stopped || (sessionIsOver.value && !hasComeBack)) return;
    if (!isLookedAt() && at.value !== undefined) return wait(rhythm.shortestMs);
    try {
      const body = await ask<Body>('GET', path);
      if (stopped) return;
      const changed = take(body);
      wait(Date.now() - heardAt < silenceMs ? silenceMs : nextPauseMs(rhythm, pauseMs, { changed }));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (stopped) return;
      refused.value = error;
      const { retryAfterSeconds } = error;
      wait(nextPauseMs(rhythm, pauseMs, { changed: false, failed: true, retryAfterSeconds }));
    }
  };
  /** @returns whether it is new. */
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
  let listenNoMore = () => {};
  const wait = (ms: number) => {
    pauseMs = ms;
    clearTimeout(timer);
    timer = setTimeout(() => void look(), ms);
  };
  /** Whoever comes back to the page sees how things are now. */
  const comesBack = () => {
    if (isLookedAt() && (sessionIsOver.value || Date.now() - (at.value ?? 0) > rhythm.shortestMs)) void look(true);
  };
  return {
    data,
    refused,
    at,
    start() {
      stopped = false;
      document.addEventListener('visibilitychange', comesBack);
      addEventListener('focus', comesBack);
      if ((rhythm === usual || rhythm === often) && path?.startsWith('/co/')) listenNoMore = listen({ path, hear });
      void look();
    },
    stop() {
      stopped = true;
      listenNoMore();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', comesBack);
      removeEventListener('focus', comesBack);
    },
    refresh: () => wait(listDelayMs),
  };
}
