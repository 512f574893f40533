/** The parts of every page: a heading that takes the focus after navigation, the title, and announcements for screen readers. */

import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { sessionIsOver } from './api.js';

const said = signal('');
/** A screen reader needs this time to read a message. */
const saidMs = 10_000;
let silence: ReturnType<typeof setTimeout> | undefined;

/** Shows a message at the foot of the page for ten seconds. Screen readers read the message aloud. */
export function announce(words: string): void {
  // Screen readers ignore unchanged text, so a repeated message gets a space at its end.
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

/** The path of the last page, and whether the user has gone from one page to another since the console was loaded. */
let [shownAt, hasGone]: [string | undefined, boolean] = [undefined, false];

export function Page({ title, about, children }: { title: string; about?: ComponentChildren; children?: ComponentChildren }) {
  const { path } = useLocation();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const isNew = shownAt !== undefined && path !== shownAt;
    [shownAt, hasGone] = [path, hasGone || isNew];
    // If the focused heading of a loading page disappears, the browser moves the focus to the body.
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

export function SessionIsOver() {
  if (!sessionIsOver.value) return null;
  const to = `/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`;
  return (
    <div class="note wait" role="alert">
      Your session has ended.{' '}
      <a href={to} target="_blank" rel="noopener">
        Sign in again
      </a>{' '}
      in a new tab, then continue here. This page keeps your input.
    </div>
  );
}
