/** The changes of a draft that a person can undo and redo. */

export interface History<State> {
  past: readonly State[];
  present: State;
  future: readonly State[];
  /** What the last change was about, and when, in Unix milliseconds. */
  last?: { about: string; at: number };
}

const mostSteps = 200;
/** Changes of the same field within this time are one step. */
const sameStepMs = 1500;

export function begun<State>(present: State): History<State> {
  return { past: [], present, future: [] };
}

/** @param about - for example `3 subject`. If it is empty, the change is a step of its own. */
export function changed<State>(history: History<State>, present: State, about: string, at: number): History<State> {
  const { past, last } = history;
  const isSameStep = about !== '' && last?.about === about && at - last.at < sameStepMs;
  return {
    past: isSameStep ? past : [...past, history.present].slice(-mostSteps),
    present,
    future: [],
    last: { about, at },
  };
}

export function undone<State>({ past, present, future }: History<State>): History<State> {
  const before = past.at(-1);
  return before === undefined
    ? { past, present, future }
    : { past: past.slice(0, -1), present: before, future: [present, ...future] };
}

export function redone<State>({ past, present, future }: History<State>): History<State> {
  const [next, ...later] = future;
  return next === undefined ? { past, present, future } : { past: [...past, present], present: next, future: later };
}
