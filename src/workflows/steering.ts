/** Handles people's signals. A signal that does not fit the state of its action has no effect, and is never an error. */

import { setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import { effectOf, historyFull, usesRoom } from '../chain/allowed-verbs.js';
import { sameAssignment } from '../chain/edits.js';
import { cutShort } from '../chain/text.js';
import {
  changesQuery,
  fieldsOf,
  isMend,
  lateQuery,
  type Mend,
  type NumberedMend,
  readSignal,
  readStop,
  resumeSignal,
  type Steering,
  type SteeringName,
  statusQuery,
  steeringNames,
  steeringSignals,
  stopSignal,
  verbOf,
} from '../contract/messages.js';
import type { Sequences } from './action/sequences.js';

/** The handlers of a workflow for signals that its own sequences do not handle. */
interface Others {
  /**
   * Forwards the signal to the other workflow that runs the action. @returns false if this workflow runs the action.
   * @param here - applies the signal in this workflow, if the other workflow has closed.
   */
  passOn?(name: SteeringName, steering: Steering, here: () => void, isRefused: () => boolean): boolean;
  /** Runs a failed action again. Only the workflow of a chain has this function. */
  redo?(index: number, mend?: NumberedMend): void;
}

export function takeSteering(sequences: Sequences, { passOn, redo }: Others): void {
  const { chain, engine, states, mends } = sequences;
  const isChain = redo !== undefined;
  /** Only the chain gives numbers to mends. A delayed action receives mends that already have a number. */
  const hear = (mend: Mend) => mends.hear(mend, isChain ? undefined : mend.number);

  setHandler(statusQuery, () => states.view, { description: 'The status of each action.' });
  const statusOf = (index: unknown) => states.actions.find((action) => action.index === index);
  const changesTo = (index: unknown, withWaiting?: unknown) => {
    if (withWaiting === true) return statusOf(index) ? mends.asked(Number(index)) : null;
    return statusOf(index)?.mends ? mends.changesTo(Number(index)) : null;
  };
  setHandler(changesQuery, changesTo, { description: 'The edited fields of an action. Input: its index' });
  const lateOf = (index: unknown) => {
    const { late, mends } = statusOf(index) ?? {};
    return late ? { late, mends } : null;
  };
  setHandler(lateQuery, lateOf, { description: 'The late values of an action. Input: its index' });
  const resume = (argument: unknown) => engine.arrive(() => sequences.resume(fieldsOf(argument).overdue === 'now'));
  setHandler(resumeSignal, resume, { description: 'The relay reports that a pause has ended.' });
  for (const name of steeringNames) {
    const { description } = steeringSignals[name];
    const handle = (argument: unknown, wasReset?: unknown) => {
      engine.wasReset ||= wasReset === true;
      engine.arrive(() => take(name, argument, wasReset === true));
    };
    setHandler(steeringSignals[name], handle, { description });
  }
  setHandler(stopSignal, (argument: unknown) => engine.arrive(() => stop(argument)), { description: stopSignal.description });
  // Must come last, because this handler takes every signal that has no handler yet.
  const unknown = `there is no such signal; there are ${steeringNames.join(', ')}`;
  setDefaultSignalHandler((name) => engine.arrive(() => states.ignore(`${cutShort(name, 40)}: ${unknown}`)));

  /** @param wasReset - after a reset, a signal may arrive before its action is held. The signal then waits for the hold. */
  function take(name: SteeringName, argument: unknown, wasReset: boolean) {
    const read = readSignal(name, argument, { isChain, hasAction: (index) => states.has(index) });
    if (typeof read === 'string') return states.ignore(read);
    const isForAll = isChain && isMend(read) && read.allActions;
    const { others: edits, ...own } = isMend(read) ? read : { ...read, others: undefined };
    const same = isForAll && !edits ? sameAssignment(chain.actions, states.actions, read.index) : [];
    const others = [...same.map((index) => ({ index })), ...(edits ?? []).filter(({ index }) => isChain && states.has(index))];
    const all = [{ ...own, waits: own.waits || wasReset }, ...others.map((other) => ({ ...own, ...other, waits: true }))];
    for (const steering of all) {
      const heard = isMend(steering) ? hear(steering) : undefined;
      if (heard && isChain && own.waits && steering === all[0]) show(heard);
      dispatch(name, heard ?? steering);
    }
  }

  /** Shows an edit that waits for the turn of its action. `Mends.take` does not show this edit again. */
  function show({ index, by = 'hand', fields, at }: Mend): void {
    states.steer(index, by, 'mend', Object.keys(fields), at);
  }

  /** Cancels all actions that have not ended. If an effect is running, first waits for the outcome of the effect. */
  function stop(argument: unknown): void {
    const asked = readStop(argument);
    if (!asked) states.ignore('stop: its input must be {"reason": "why"}');
    else for (const { index } of states.open) dispatch('cancelAction', { ...asked, index });
  }

  function dispatch(name: SteeringName, steering: Steering): void {
    const here = () => isRefused(name, steering) || steer(name, steering);
    if (!passOn?.(name, steering, here, () => isRefused(name, steering))) here();
  }

  function isRefused(name: SteeringName, { index }: Steering): boolean {
    const refused = usesRoom(verbOf(name)) && states.isFull;
    if (refused) states.ignore(`${name} [${index}]: ${historyFull}`);
    return refused;
  }

  function steer(name: SteeringName, steering: Steering) {
    const { index, seconds = 0, by = 'hand', reason = `cancelled by ${by}`, waits } = steering;
    const { state } = states.of(index);
    const verb = verbOf(name);
    const mend = isMend(steering) ? (steering as NumberedMend) : undefined;
    const effect = effectOf(verb, state, waits);
    if (!effect || (effect === 'redo' && !redo)) return states.ignore(`${name} [${index}]: action ${index} is ${state}`);
    if (effect === 'redo') redo?.(index, mend);
    else if (effect === 'move') sequences.move(index, engine.now + seconds * 1000);
    else if (effect === 'cancel') sequences.cancel(index, reason);
    else if (verb === 'skip') sequences.decide(index, { verb, by });
    else sequences.decide(index, mend ? { verb: 'mend', mends: [mend] } : { verb: 'retry' });
    if (!mend) states.steer(index, by, verb); // For a mend, `Mends.take` updates the status.
  }
}
