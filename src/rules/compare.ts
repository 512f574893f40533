/** Compares two versions, and the actions that two versions make from one event: action by action, field by field. */

import { isDeepStrictEqual } from 'node:util';
import type { ChainAction } from '../chain/chain.js';
import { problemsText } from '../chain/edits.js';
import type { Fields } from '../chain/fields.js';
import { fieldsOf } from '../chain/sent.js';
import type { Contents, ContentsDiff, Tried, TriedOutcome } from '../contract/rule-contents.js';
import type { Rendered } from './render.js';

type Change = ContentsDiff['variables'][number];
type TryResult = Pick<Tried['events'][number], 'outcome' | 'reason' | 'differences'>;

const mostDifferences = 20;

export function diffContents(before: Contents, after: Contents): ContentsDiff {
  const fields = changesIn(ownFields(before), ownFields(after));
  const { field: _, ...when } = fields.find(({ field }) => field === 'when') ?? {};
  const variables = changesIn(before.variables, after.variables);
  const actions = alignedPairs(before.actions, after.actions).flatMap((pair) => {
    const [old = {}, now = {}] = [before.actions[pair.before ?? -1], after.actions[pair.after ?? -1]];
    const changes = changesIn(old, now);
    return changes.length === 0 ? [] : [{ ...pair, action: String({ ...old, ...now }.action), changes }];
  });
  const same = [fields, variables, actions].every(({ length }) => length === 0);
  return { same, ...(Object.keys(when).length > 0 && { when }), fields, variables, actions };
}

const ownFields = ({ variables: _variables, actions: _actions, ...fields }: Contents): Fields => fields;

/** @param published - the result of the published version for the event; undefined if there is no published version. */
export function compareOutcomes(published: Rendered | undefined, tried: Rendered): TryResult {
  if (tried.kind === 'refused') {
    const reason = problemsText(tried.problems.slice(0, 5));
    return { outcome: published?.kind === 'refused' ? 'same' : 'would-be-refused', reason };
  }
  if (tried.kind === 'not-applicable')
    return { outcome: published?.kind === 'chain' ? 'no-longer-applies' : 'not-applicable', reason: tried.reason };
  const held = tried.actions.find(mistakesIn);
  const outcomeOr = (outcome: TriedOutcome): TryResult =>
    held ? { outcome: 'needs-attention', reason: `action ${held.index}: ${mistakesIn(held)}` } : { outcome };
  if (published?.kind !== 'chain') return outcomeOr('applies-now');
  const differences = differencesIn(published.actions.map(shownFields), tried.actions.map(shownFields));
  if (differences.length === 0) return { outcome: 'same' };
  return { ...outcomeOr('different'), differences: differences.slice(0, mostDifferences) };
}

function shownFields(action: ChainAction): Fields {
  const { relayId: _, ...fields } = fieldsOf(action);
  const expression = action.condition?.opaque?.if;
  const mistakes = mistakesIn(action);
  return {
    ...fields,
    ...(expression && { if: expression.text }),
    ...(mistakes !== undefined && { 'needs attention': mistakes }),
  };
}

const mistakesIn = ({ cannotSchedule, invalidData }: ChainAction) => cannotSchedule ?? invalidData;

function differencesIn(before: readonly Fields[], after: readonly Fields[]): NonNullable<TryResult['differences']> {
  if (isDeepStrictEqual(before, after)) return [];
  return alignedPairs(before, after).flatMap((pair) => {
    const action = pair.after ?? pair.before ?? 0;
    const [old, now] = [before[pair.before ?? -1], after[pair.after ?? -1]];
    const changes = old && now ? changesIn(old, now) : changesIn({ action: old?.action }, { action: now?.action });
    return changes.map((change) => ({ action, ...change }));
  });
}

function changesIn(before: Fields, after: Fields): Change[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((field) => {
    const [old, now] = [before[field], after[field]];
    if (isDeepStrictEqual(old, now)) return [];
    return [{ field, ...(old !== undefined && { before: old }), ...(now !== undefined && { after: now }) }];
  });
}

type Pair = { before?: number; after?: number };

/** Pairs similar actions. Begins with the most similar actions. The pairs have the same order in both lists. */
function alignedPairs(before: readonly Fields[], after: readonly Fields[]): Pair[] {
  // Most lists begin and end with equal actions. Only the actions between these equal actions need the slow search.
  const more = after.length - before.length;
  const isSame = (from: number, to: number) => isDeepStrictEqual(before[from], after[to]);
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && isSame(head, head)) head++;
  let tail = before.length;
  while (tail > head && tail + more > head && isSame(tail - 1, tail - 1 + more)) tail--;

  const alike = before.slice(head, tail).flatMap((one, from) =>
    after.slice(head, tail + more).flatMap((other, to) => {
      const fields = likeness(one, other);
      return fields > 0 ? [{ from: head + from, to: head + to, fields }] : [];
    }),
  );
  const partners = new Map<number, number>();
  for (const { from, to } of alike.sort((one, other) => other.fields - one.fields))
    if ([...partners].every(([earlier, its]) => (earlier - from) * (its - to) > 0)) partners.set(from, to);

  const pairs: Pair[] = [];
  let to = 0;
  for (const from of before.keys()) {
    const partner = from < head ? from : from >= tail ? from + more : partners.get(from);
    while (partner !== undefined && to < partner) pairs.push({ after: to++ });
    pairs.push(partner === undefined ? { before: from } : { before: from, after: to++ });
  }
  while (to < after.length) pairs.push({ after: to++ });
  return pairs;
}

/** @returns 0 for actions with different names, otherwise the number of equal fields, including `action`. */
const likeness = (one: Fields, other: Fields) =>
  one.action === other.action ? Object.keys(one).filter((field) => isDeepStrictEqual(one[field], other[field])).length : 0;
