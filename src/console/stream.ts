/** Receives server-sent events. All resources of a page share one stream, which is open while somebody uses the page. */

interface Listener {
  path: string;
  /** @param body - the new answer. Undefined if the answer has not changed. */
  hear(body?: unknown): void;
}

const listeners = new Set<Listener>();
/** The stream opens this long after the last resource has started or stopped, so that the page opens only one stream. */
const gatherMs = 100;
/** After an error, the stream stays closed for this long. In this time, each resource polls. */
const troubleMs = 30_000;

let source: EventSource | undefined;
let opening: ReturnType<typeof setTimeout> | undefined;

/** @returns a function that stops listening. */
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
