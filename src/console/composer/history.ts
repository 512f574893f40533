/** The changes of a draft that a person can undo and redo. */

export interface History<State> {
  past: readonly State[];
  present: State;
  future: readonly State[];
  /** What the last change was about, and when, in Unix milliseconds. */
  last?: { about: string; at: number };
}

const mostSteps = 200;
const sameStepMs = 1500; // changes of the same field within this time are one step

export const begun = <State>(present: State): History<State> => ({ past: [], present, future: [] });

/** @param about - for example `3 subject`. If it is empty, the change is a step of its own. */
export function changed<State>({ past, present, last }: History<State>, next: State, about: string, at: number): History<State> {
  const isSameStep = about !== '' && last?.about === about && at - last.at < sameStepMs;
  const before = isSameStep ? past : [...past, present].slice(-mostSteps);
  return { past: before, present: next, future: [], last: { about, at } };
}

export function undone<State>({ past, present, future }: History<State>): History<State> {
  if (past.length === 0) return { past, present, future };
  return { past: past.slice(0, -1), present: past.at(-1) as State, future: [present, ...future] };
}

export const redone = <State>({ past, present, future: [next, ...later] }: History<State>): History<State> =>
  next === undefined ? { past, present, future: [] } : { past: [...past, present], present: next, future: later };
