/** The error with which the all-in-one process refuses to start. */

/** Its message is the one line that the user reads: what is wrong, and what to do about it. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
