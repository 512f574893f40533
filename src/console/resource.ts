/** What the API knows, kept up to date for as long as a page shows it and somebody looks. */

import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { ask, Refused, sessionIsOver } from './api.js';
import { nextPauseMs, type Rhythm } from './rhythm.js';

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
/** With nobody at the page for so long, it asks no more: a session ends when it is not used. */
const unattendedMs = 30 * 60_000;

let attendedAt = Date.now();
for (const event of ['pointerdown', 'keydown', 'wheel', 'focus'])
  addEventListener(event, () => (attendedAt = Date.now()), { capture: true, passive: true });

const isLookedAt = () => document.visibilityState === 'visible' && Date.now() - attendedAt < unattendedMs;

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

  const look = async (): Promise<void> => {
    clearTimeout(timer);
    if (path === undefined || stopped || sessionIsOver.value) return;
    if (!isLookedAt() && at.value !== undefined) return wait(rhythm.shortestMs);
    try {
      const body = await ask<Body>('GET', path);
      if (stopped) return;
      const heard = JSON.stringify(body);
      const changed = heard !== text;
      text = heard;
      if (changed) data.value = body;
      [refused.value, at.value] = [undefined, Date.now()];
      wait(nextPauseMs(rhythm, pauseMs, { changed }));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (stopped) return;
      refused.value = error;
      const { retryAfterSeconds } = error;
      wait(nextPauseMs(rhythm, pauseMs, { changed: false, failed: true, retryAfterSeconds }));
    }
  };
  const wait = (ms: number) => {
    pauseMs = ms;
    clearTimeout(timer);
    timer = setTimeout(() => void look(), ms);
  };
  /** Whoever comes back to the page sees how things are now. */
  const comesBack = () => {
    if (isLookedAt() && Date.now() - (at.value ?? 0) > rhythm.shortestMs) void look();
  };
  return {
    data,
    refused,
    at,
    start() {
      stopped = false;
      document.addEventListener('visibilitychange', comesBack);
      addEventListener('focus', comesBack);
      void look();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', comesBack);
      removeEventListener('focus', comesBack);
    },
    refresh: () => wait(listDelayMs),
  };
}
