/** A process cannot start: the message is all that the person at the terminal needs, what is wrong and what to do about it. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}
