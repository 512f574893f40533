/** Options that several commands have, and how a command's help ends. */

import { type Command, Option, type OptionValues } from '@commander-js/extra-typings';
import { UsageError } from './exit-codes.js';
import { readMoment } from './time.js';

/** For what cannot be undone. */
export const yesOption = new Option('--yes', 'do not ask');

export const waitOption = new Option('--wait', 'follow the chain until it has ended or needs attention');

/** For lists that the API answers in parts. */
export function withParts<Args extends unknown[], Options extends OptionValues, Globals extends OptionValues>(
  command: Command<Args, Options, Globals>,
) {
  return command
    .option('--limit <n>', 'at most so many; default: 50', (text) => readCount(text, '--limit must be a whole number from 1'))
    .option('--all', 'all there are');
}

/** Which chains are meant. */
export function withFilter<Args extends unknown[], Options extends OptionValues, Globals extends OptionValues>(
  command: Command<Args, Options, Globals>,
) {
  const reason = 'that need attention, or have failed, for this type of failure, such as PlatformError';
  const since = 'received then or later: 2026-07-01T12:00:00Z, or 2h for two hours ago';
  return command
    .option('--assignment <id>', 'with an action for this assignment')
    .option('--rule <relayId>', 'with an action of this rule')
    .option('--reason <type>', reason)
    .option('--since <time>', since, (text) => readMoment(text, 'ago'))
    .option('--until <time>', 'received before', (text) => readMoment(text, 'ago'));
}

/** What `withFilter` reads, as the API takes it. */
export function filterOf(given: Partial<Record<'assignment' | 'rule' | 'reason' | 'since' | 'until', string>>) {
  const { assignment, rule, reason, since, until } = given;
  return { assignmentId: assignment, relayId: rule, reason, since, until };
}

/** @throws UsageError with `otherwise`. */
export function readCount(text: string, otherwise: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new UsageError(otherwise);
}

/** For `addHelpText`. */
export function example(line: string): ['after', string] {
  return ['after', `\nExample:\n  ${line}`];
}
