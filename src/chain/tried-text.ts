/** The results of events, and of trying a rule on past events, in words for every page and command. */

import { counted } from './text.js';

export const outcomeWords = { chain: 'started a chain', 'not-applicable': 'the rule did not run', refused: 'refused' };

const wouldBe = {
  same: 'would start the same chain',
  different: 'would start a different chain',
  'no-longer-applies': 'would not start a chain any more',
  'applies-now': 'would start a chain, but started none before',
  'would-be-refused': 'would be refused',
  'needs-attention': 'would need attention',
  'not-applicable': 'would start no chain, as before',
};

/** @param outcome - the outcome from the API. A newer relay may send an outcome that has no words. */
export const triedWords = (outcome: string): string =>
  Object.hasOwn(wouldBe, outcome) ? wouldBe[outcome as keyof typeof wouldBe] : outcome;

const unchanged = ['same', 'not-applicable'];

interface Tried {
  tried: number;
  counts: Partial<Record<keyof typeof wouldBe, number | undefined>>;
  stopped?: true | undefined;
}

/** For example `The relay tried the rule on 9 events: 2 events would start a different chain.` @param which - such as `the last ` */
export function triedText({ tried, counts, stopped }: Tried, which = ''): string {
  if (tried === 0) return 'There are no events to try the rule on.';
  const parts = Object.entries(wouldBe).flatMap(([outcome, words]) => {
    const count = counts[outcome as keyof typeof wouldBe] ?? 0;
    return count > 0 && !unchanged.includes(outcome) ? [`${counted(count, 'event')} ${words}`] : [];
  });
  const all = `The relay tried the rule on ${which}${counted(tried, 'event')}${stopped ? ' (there was no time for more events)' : ''}`;
  return parts.length > 0 ? `${all}: ${parts.join('; ')}.` : `${all}: nothing would change.`;
}

/** Without the mistake that a step has now, because the reason of the result names this mistake. */
export const shownDifferences = <One extends { field: string; after?: unknown }>(differences: readonly One[]): One[] =>
  differences.filter(({ field, after }) => field !== 'needs attention' || after === undefined);
