/** Options that several commands have, and how a command's help ends. */

import { Option } from '@commander-js/extra-typings';
import { UsageError } from './exit-codes.js';
import { readMoment } from './time.js';

/** For what cannot be undone. */
export const yesOption = new Option('--yes', 'do not ask');

export const waitOption = new Option('--wait', 'follow the chain until it has ended or needs attention');

/** For lists that the API gives in parts. */
export const limitOption = new Option('--limit <n>', 'at most so many; default: 50').argParser((text) =>
  readCount(text, '--limit must be a whole number from 1'),
);
export const allOption = new Option('--all', 'all there are');

/** Which chains are meant. */
export const assignmentOption = new Option('--assignment <id>', 'with an action for this assignment');
export const ruleOption = new Option('--rule <relayId>', 'with an action of this rule');
export const reasonOption = new Option(
  '--reason <type>',
  'that need attention, or have failed, for this type of failure, such as PlatformError',
);
export const sinceOption = new Option(
  '--since <time>',
  'received then or later: 2026-07-01T12:00:00Z, or 2h for two hours ago',
).argParser((text) => readMoment(text, 'ago'));
export const untilOption = new Option('--until <time>', 'received before').argParser((text) => readMoment(text, 'ago'));

/** @throws UsageError with `otherwise`. */
export function readCount(text: string, otherwise: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new UsageError(otherwise);
}

/** What stands below the options in a command's help. */
export function example(line: string, details?: string): string {
  return `\n${details === undefined ? '' : `${details}\n\n`}Example:\n  ${line}`;
}
