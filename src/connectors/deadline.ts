/**
 * The time-out and the cancellation of a call as one signal. `AbortSignal.any` of an `AbortSignal.timeout` would not do: in Node
 * 20 such a signal may be garbage-collected, and then never fires.
 */

import type { Call } from './call.js';

/**
 * Runs `run` with a signal that fires when `call.timeoutMs` have passed or `call.signal` has fired.
 * `signal.reason` is then an Error whose message says which of the two it was.
 */
export async function withDeadline<T>(call: Call, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const expire = () => controller.abort(new Error(`no complete answer within ${call.timeoutMs / 1000} s`));
  const cancel = () => controller.abort(new Error('cancelled before an answer came'));
  const timer = setTimeout(expire, call.timeoutMs);
  call.signal?.addEventListener('abort', cancel, { once: true });
  if (call.signal?.aborted) cancel();
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    call.signal?.removeEventListener('abort', cancel);
  }
}
