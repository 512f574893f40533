/** What every page has: a heading that gets the focus when one comes to it, its title, and what is said aloud. */

import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { sessionIsOver } from './api.js';

const said = signal('');
/** Long enough to be read aloud; whoever comes by later is told nothing old. */
const saidMs = 10_000;
let silence: ReturnType<typeof setTimeout> | undefined;

/** Says what was done: aloud, and for a moment at the foot of the page. */
export function announce(words: string): void {
  // The same words again are said again.
  said.value = words === said.value ? `${words}\u00a0` : words;
  clearTimeout(silence);
  silence = setTimeout(() => (said.value = ''), saidMs);
}

export function Announcer() {
  return (
    <p role="status" class={said.value ? 'said' : 'unseen'}>
      {said}
    </p>
  );
}

/** The page that was shown last, and whether anybody has gone from one to another. */
let [shownAt, hasGone]: [string | undefined, boolean] = [undefined, false];

export function Page({ title, about, children }: { title: string; about?: ComponentChildren; children?: ComponentChildren }) {
  const { path } = useLocation();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const isNew = shownAt !== undefined && path !== shownAt;
    [shownAt, hasGone] = [path, hasGone || isNew];
    // What was shown while a page was loading takes the focus away with it.
    if (isNew || (hasGone && document.activeElement === document.body)) heading.current?.focus();
  }, [path]);
  useEffect(() => {
    document.title = `${title} · Relay`;
  }, [title]);
  return (
    <main id="content">
      <SessionIsOver />
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {about && <div class="soft">{about}</div>}
      {children}
    </main>
  );
}

/** Beside that which could not be done, too: what was being written stays as it is. */
export function SessionIsOver() {
  if (!sessionIsOver.value) return null;
  const to = `/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`;
  return (
    <div class="note wait" role="alert">
      Your session has ended.{' '}
      <a href={to} target="_blank" rel="noopener">
        Sign in again
      </a>{' '}
      in a new tab, and go on here: what you have written stays.
    </div>
  );
}
