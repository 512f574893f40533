/** What the command's exit code tells a script. */

export const exitCodes = {
  ok: 0,
  /** The API answered, and refused. */
  refused: 1,
  /** The command line is wrong, or a deletion was not confirmed: nothing was changed. */
  usage: 2,
  /** No answer, or one that is not the relay's. */
  unreachable: 3,
  /** The chain that was shown or waited for failed, needs attention, or was cancelled or terminated. */
  trouble: 4,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Somebody was asked, and did not say yes. */
export class NotConfirmed extends Error {
  override readonly name = 'NotConfirmed';
}

/** The command line or what it names cannot be used; the message says what to write instead. Never holds a secret. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
