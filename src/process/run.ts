/** The life of a process: start, run until somebody asks it to stop, stop in the reverse order of starting. */

import { StartError } from '../service/config.js';

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

/**
 * Runs a process until SIGINT or SIGTERM, or until what it runs ends. Exit code: 0 when it was asked to stop, otherwise 1.
 * A StartError is said in one line, every other error with its stack.
 * @param start starts everything; `running` settles only when something went wrong
 */
export async function runProcess(
  start: (closers: Closers, stop: AbortSignal) => Promise<{ running: Promise<unknown> }>,
  say: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): Promise<void> {
  const closers = new Closers();
  const stop = new AbortController();
  const asked = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve()));
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (!stop.signal.aborted) say('stopping…');
      stop.abort(name);
    });
  }
  let code = 0;
  try {
    const { running } = await start(closers, stop.signal);
    await Promise.race([running, asked]);
    if (!stop.signal.aborted) throw new Error('ended without being asked to');
  } catch (error) {
    if (!stop.signal.aborted) {
      code = 1;
      say(error instanceof Error && !(error instanceof StartError) ? (error.stack ?? error.message) : messageOf(error));
    }
  }
  await closers.close((name, error) => say(`${name} did not stop cleanly: ${messageOf(error)}`));
  process.exit(code);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
