/** What the API says by itself of what a page shows: one stream for all its questions, while somebody looks. */

import { isLookedAt } from './attention.js';

interface Hearer {
  path: string;
  /** @param body - undefined: it is as it was. */
  hear(body?: unknown): void;
}

const hearers = new Set<Hearer>();
/** Those of a page come and go together. */
const gatherMs = 100;
/** Where the API cannot be reached or refuses the stream; meanwhile every question is asked by itself. */
const troubleMs = 30_000;

let source: EventSource | undefined;
let opening: ReturnType<typeof setTimeout> | undefined;

/** @param path - of the company. @returns how to hear no more. */
export function listen(hearer: Hearer): () => void {
  hearers.add(hearer);
  openIn(gatherMs);
  return () => {
    hearers.delete(hearer);
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
  const paths = [...new Set([...hearers].map(({ path }) => path))].slice(0, 10);
  const [company] = /^\/co\/[^/]+/.exec(paths[0] ?? '') ?? [];
  if (company === undefined || !isLookedAt()) return;
  const opened = new EventSource(`${company}/events?${new URLSearchParams(paths.map((path) => ['path', path]))}`);
  source = opened;
  opened.addEventListener('answer', ({ data }) => {
    const { path, body } = JSON.parse(data);
    for (const hearer of hearers) if (hearer.path === path) hearer.hear(body);
  });
  opened.addEventListener('alive', () => {
    for (const { path, hear } of hearers) if (paths.includes(path)) hear();
  });
  opened.addEventListener('end', () => openIn(0));
  opened.addEventListener('error', () => {
    if (opened.readyState === EventSource.CLOSED) openIn(troubleMs);
  });
}

/** A hidden page has none: a browser has few connections to one server. */
const look = () => (isLookedAt() ? source || openIn(0) : close());
document.addEventListener('visibilitychange', look);
addEventListener('focus', look);
