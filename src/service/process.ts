/** The life of a process: start, run until somebody asks it to stop, stop in the reverse order of starting. */

import { ConfigError } from './config.js';

/** What has been started, to be stopped last in first out. */
export class Closers {
  readonly #closers: { name: string; close: () => unknown }[] = [];

  add(name: string, close: () => unknown): void {
    this.#closers.push({ name, close });
  }

  /** Stops everything; one that fails to stop does not keep the others from it. */
  async close(report: (name: string, error: unknown) => void): Promise<void> {
    for (let closer = this.#closers.pop(); closer; closer = this.#closers.pop()) {
      try {
        await closer.close();
      } catch (error) {
        report(closer.name, error);
      }
    }
  }
}

/** An error whose message is all that the person at the terminal needs. */
function isPlain(error: unknown): error is Error {
  return (
    error instanceof ConfigError ||
    (error instanceof Error && ['StartError', 'MissingSearchAttributes', 'StoreError'].includes(error.name))
  );
}

/**
 * Runs a process until SIGINT, SIGTERM, or until what it runs ends.
 * @param start - starts everything; `running` settles only when something went wrong.
 */
export async function runProcess(
  start: (closers: Closers, signal: AbortSignal) => Promise<{ running: Promise<unknown> }>,
  say: (line: string) => void,
): Promise<void> {
  const closers = new Closers();
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (!stop.signal.aborted) say('stopping…');
      stop.abort(name);
    });
  }
  const asked = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve()));
  let code = 0;
  try {
    const started = await start(closers, stop.signal);
    await Promise.race([started.running, asked]);
    if (!stop.signal.aborted) throw new Error('ended without being asked to');
  } catch (error) {
    if (!stop.signal.aborted) {
      code = 1;
      say(isPlain(error) ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
  }
  await closers.close((name, error) =>
    say(`${name} did not stop cleanly: ${error instanceof Error ? error.message : String(error)}`),
  );
  process.exit(code);
}
