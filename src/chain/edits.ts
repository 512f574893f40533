/** The effect of an edit on an action and its status. Part of the replay contract. */

import type { ActionStatus } from './action-status.js';
import type { ChainAction } from './chain.js';
import type { Fields } from './fields.js';
import { hasEnded, isUnknown } from './outcome.js';
import type { Issue } from './request.js';
import type { Change } from './statuses.js';

type Edit = { fields: Fields; number: number; confirmUnknown?: boolean };

/** Merges the changes of all accepted edits. @param last - a further edit, which is not accepted yet. */
export function changesOf(edits: readonly Edit[], { mends = [] }: ActionStatus, last?: Edit): Fields {
  const taken = edits.filter(({ number }) => mends.includes(number));
  return Object.assign({}, ...taken.map(({ fields }) => fields), last?.fields);
}

/** The reason why the edit is refused, or undefined. After an unknown outcome, another try could cause a second effect. */
export function editRefusal({ number, confirmUnknown }: Edit, status: ActionStatus): string | undefined {
  if (status.mends?.includes(number)) return 'this edit has already been applied';
  return isUnknown(status) && !confirmUnknown
    ? 'nobody knows whether the last try worked: check the other system, then confirm with {"confirmUnknown": true}'
    : undefined;
}

/** The change of the status after an edit. @param action - the edited action. */
export function afterEdit({ mends = [], deliveries }: ActionStatus, { number }: Edit, action: ChainAction): Change {
  const { comment, assignmentId } = action;
  // Keeps recipients who have a copy, even if the edit removed them, so that a later edit cannot send a second copy.
  const sent = deliveries?.filter(({ sent }) => sent);
  // An edited action has another idempotency key, so `kept` and `late` are no longer valid.
  return { comment, assignmentId, mends: [...mends, number], kept: undefined, late: undefined, deliveries: sent };
}

/** The action with its edits. @param same - the names of the unchanged fields. */
export function editedAction(action: ChainAction, mended: Partial<ChainAction>, same: readonly string[]): ChainAction {
  const unchanged = Object.entries(action).filter(([name]) => same.includes(name));
  return { ...Object.fromEntries(unchanged), ...mended } as ChainAction;
}

export const problemsText = (problems: readonly Issue[]) =>
  problems.map(({ pointer, detail }) => `${pointer} ${detail}`.trim()).join('; ');

/** Returns the indexes of the other open actions with the same assignment. Blank ids count as the same assignment. */
export function sameAssignment(
  accepted: readonly ChainAction[],
  actions: readonly Pick<ActionStatus, 'index' | 'assignmentId' | 'state'>[],
  index: number,
): number[] {
  const id = actions.find((action) => action.index === index)?.assignmentId;
  const isNamed = (other: number) =>
    id !== undefined || accepted.some(({ index, sent }) => index === other && sent?.platformAssignmentId !== undefined);
  return actions
    .filter((other) => other.index !== index && other.assignmentId === id && !hasEnded(other.state) && isNamed(other.index))
    .map((other) => other.index);
}
