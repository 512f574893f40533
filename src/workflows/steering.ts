/** Where people's signals arrive. What makes no sense now has no effect and is never an error. */

import { setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import type { ActionStatus } from '../chain/action-status.js';
import { chainStatus, isOpenTo, isToRedo, type SteeringVerb } from '../chain/outcome.js';
import { historyFull, usesRoom } from '../chain/room.js';
import { cutShort } from '../chain/text.js';
import { summaryOf } from '../chain/web-ui.js';
import {
  changesQuery,
  isShallow,
  type Mend,
  readMend,
  readSteering,
  resumeSignal,
  type Steering,
  type SteeringName,
  statusQuery,
  steeringSignals,
  verbOf,
} from '../contract/messages.js';
import type { ActionRunner } from './action-runner.js';
import type { NumberedMend } from './mends.js';

/** On the timer with which a workflow of failed actions takes the retries that came last. */
export function lastSummary(actions: readonly ActionStatus[]): string {
  const failed = actions.filter(({ state }) => isToRedo(state));
  return summaryOf(failed, 'takes what arrived last');
}

/** What a workflow does with people's signals beyond what its runner does. */
interface SteeringOptions {
  runner: ActionRunner;
  /** Takes the signal elsewhere, unless it is refused by then; false: it is for here. `here` takes it here after all. */
  passOn?(name: SteeringName, steering: Steering, here: () => void, isRefused: () => boolean): boolean;
  /** A scheduled action is to run at this time, in Unix milliseconds, apart from the others of its group. */
  moveTo?(index: number, dueAt: number): void;
  redo?(index: number, mend?: NumberedMend): void;
  /** Gives what is to be mended its number; undefined where it should have one. */
  hear(mend: Mend): NumberedMend | undefined;
}

export function takeSteering(options: SteeringOptions): void {
  const { lock, states } = options.runner;
  const status = () => ({
    status: chainStatus(states.actions),
    actions: states.actions,
    ...(states.ignored.length > 0 && { ignored: states.ignored }),
    ...(states.isFull && { historyFull: true as const }),
  });
  setHandler(statusQuery, status, { description: 'How each action stands.' });
  const changesTo = (index: unknown) => {
    const isMended = typeof index === 'number' && states.has(index) && states.of(index).mends;
    return isMended ? options.runner.mends.changesTo(index) : null;
  };
  setHandler(changesQuery, changesTo, { description: 'What was mended of an action. Input: its index' });
  setHandler(resumeSignal, () => lock.arrive(() => options.runner.resume()), {
    description: 'From the relay: a pause has ended.',
  });
  for (const name of Object.keys(steeringSignals) as SteeringName[])
    setHandler(steeringSignals[name], (argument: unknown) => lock.arrive(() => take(options, name, argument)), {
      description: steeringSignals[name].description,
    });
  // The last, since it takes what has no handler yet.
  const names = Object.keys(steeringSignals).join(', ');
  setDefaultSignalHandler((name) =>
    lock.arrive(() => states.ignore(`${cutShort(name, 40)}: there is no such signal; there are ${names}`)),
  );
}

const inputs: Partial<Record<SteeringName, string>> = {
  reschedule: '[index, seconds from now]',
  mend: "[index, {field: value}, {confirmUnknown?, by?}], to the chain's own workflow",
};

function take(options: SteeringOptions, name: SteeringName, argument: unknown): void {
  const steering = name === 'mend' ? readNumbered(options, argument) : readSteering(argument);
  const usable = steering && (name === 'reschedule') === (steering.seconds !== undefined);
  if (!usable) {
    const wanted = inputs[name] ?? 'an index or [index]';
    const shown = isShallow(argument, 3) ? JSON.stringify(argument) : '[…]';
    const input = argument === undefined ? '' : ` ${cutShort(shown, 60)}`;
    options.runner.states.ignore(`${name}${input}: its input must be ${wanted}`);
  } else if (!options.runner.states.has(steering.index)) {
    options.runner.states.ignore(`${name} [${steering.index}]: there is no action ${steering.index}`);
  } else {
    const here = () => isRefused(options, name, steering) || steer(options, name, steering);
    const away = options.passOn?.(name, steering, here, () => isRefused(options, name, steering));
    if (!away) here();
  }
}

function readNumbered({ runner, hear }: SteeringOptions, argument: unknown): NumberedMend | undefined {
  const mend = readMend(argument);
  return mend && runner.states.has(mend.index) ? hear(mend) : mend && { ...mend, number: 0 };
}

function isRefused(options: SteeringOptions, name: SteeringName, { index }: Steering): boolean {
  const refused = usesRoom(name) && options.runner.states.isFull;
  if (refused) options.runner.states.ignore(`${name} [${index}]: ${historyFull}`);
  return refused;
}

function steer(options: SteeringOptions, name: SteeringName, steering: Steering | NumberedMend): void {
  const { index, seconds = 0, by = 'hand' } = steering;
  const { runner, redo, moveTo } = options;
  const { lock, states } = runner;
  const { state } = states.of(index);
  const verb = verbOf(name);
  const mend = 'fields' in steering ? steering : undefined;
  const isHeld = state === 'needs-attention';
  const move = moveTo && (() => moveTo(index, lock.now + seconds * 1000));
  const effects: Record<SteeringVerb, (() => void) | undefined> = {
    retry: isHeld ? () => runner.decide(index, { verb: 'retry' }) : redo && (() => redo(index)),
    mend: mend && (isHeld ? () => runner.decide(index, { verb: 'mend', mends: [mend] }) : redo && (() => redo(index, mend))),
    skip: () => runner.decide(index, { verb: 'skip', by }),
    cancel: () => runner.cancel(index, by),
    runNow: move,
    reschedule: move,
  };
  const effect = isOpenTo(verb, state) ? effects[verb] : undefined;
  if (!effect) {
    options.runner.states.ignore(`${name} [${index}]: action ${index} is ${state}`);
    return;
  }
  effect();
  if (mend) return; // Once it is taken, it is in the status.
  const steered = { at: lock.time(), by, verb };
  states.update(index, { steered: [...(states.of(index).steered ?? []), steered].slice(-20) });
}
