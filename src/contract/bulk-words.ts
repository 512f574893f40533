/** The words for people about decisions, and about the progress of a decision about many chains. */

import type { BulkVerb, SteeringVerb } from '../chain/allowed-verbs.js';
import { outcomesText } from '../chain/outcome.js';
import { counted } from '../chain/text.js';
import type { Bulk as WholeBulk } from './chain-resource.js';

type Bulk = Pick<WholeBulk, 'count' | 'verb' | 'progress'>;

export const verbWords: Record<SteeringVerb, string> = {
  ...{ retry: 'Retry', mend: 'Edit and retry', skip: 'Skip', runNow: 'Run now', reschedule: 'Reschedule' },
  cancel: 'Cancel',
};

/** For example `Retry 3 chains`, `Run the next step of 3 chains now` or `Skip steps of 3 chains`. @param chains - by default, all chains of a list */
export function orderWords(verb: BulkVerb, chains?: string): string {
  if (verb === 'skip') return chains ? `Skip steps of ${chains}` : 'Skip all steps that need attention';
  return verb === 'runNow'
    ? `Run the next step of ${chains ?? 'all chains'} now`
    : `${verbWords[verb]} ${chains ?? 'all chains'}`;
}

/** For example `“Retry” is finished`. */
export const bulkTitle = ({ verb, status }: Pick<WholeBulk, 'verb' | 'status'>) =>
  `“${verbWords[verb]}” ${({ running: 'is in progress', completed: 'is finished' } as Record<string, string>)[status] ?? status}`;

const verbsDone: Record<BulkVerb, string> = {
  ...{ retry: 'retried', mend: 'edited and retried', skip: 'skipped', cancel: 'cancelled', runNow: 'started' },
};

/** For example `3 of 3 chains handled. 3 steps retried: 2 done, 1 failed again.` */
export const progressWords = (bulk: Bulk) => progressSentences(bulk, 'step').join(' ');

/** @param noun - the API's word is `action`; people see `step` */
export function progressSentences({ count, verb, progress }: Bulk, noun: 'step' | 'action'): string[] {
  if (!progress) return [`${counted(count, 'chain')}.`];
  const { done, actions, unchanged, refused, failed, outcomes = {}, nobodyFound = 0 } = progress;
  const isTold = (outcomes[verb === 'skip' ? 'skipped' : 'cancelled'] ?? 0) === actions; // the verb already says the outcome
  const outcome = isTold ? '' : outcomesText(outcomes, { nobodyFound, ...(verb === 'runNow' && { again: '' }) });
  const sentences = [
    `${done} of ${counted(count, 'chain')} handled.`,
    `${counted(actions, noun)} ${verbsDone[verb]}${outcome && `: ${outcome}`}.`,
    unchanged > 0 && `${counted(unchanged, 'chain')} did not change.`,
    refused > 0 && `The relay refused to change ${counted(refused, noun)}.`,
    failed > 0 && `The relay could not change ${counted(failed, 'chain')}.`,
  ];
  return sentences.filter((sentence) => sentence !== false);
}

/** Describes the effect of a verb on many chains. The dialog shows this text before the user confirms. */
export const verbMeanings: Record<BulkVerb, string> = {
  retry:
    'The relay retries the steps that need attention or have failed. It skips a step if its condition (“Only if”) is no longer true.',
  mend: 'The relay makes the same change in each step that needs attention, then retries the step.',
  skip: 'The relay skips the steps that need attention. The chains continue with the next steps.',
  cancel: 'The relay cancels the steps that have not ended. If a step is running now, it can still succeed.',
  runNow: 'In each chain, the relay runs the next scheduled step now, if its condition is true. Later steps keep their times.',
};
