/** Where people's signals arrive. What makes no sense now has no effect and is never an error. */

import { setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import type { ActionStatus } from '../chain/action-status.js';
import { chainStatus, isOpenTo, isToRedo, type SteeringVerb } from '../chain/outcome.js';
import { historyFull, usesRoom } from '../chain/room.js';
import { cutShort } from '../chain/text.js';
import { summaryOf } from '../chain/web-ui.js';
import {
  isShallow,
  readSteering,
  resumeSignal,
  type Steering,
  type SteeringName,
  statusQuery,
  steeringSignals,
} from '../contract/messages.js';
import type { ActionRunner } from './action-runner.js';

/** On the timer with which a workflow of failed actions takes the retries that came last. */
export function lastSummary(actions: readonly ActionStatus[]): string {
  const failed = actions.filter(({ state }) => isToRedo(state));
  return summaryOf(failed, 'takes what arrived last');
}

/** What a workflow does with people's signals beyond what its runner does. */
interface SteeringOptions {
  runner: ActionRunner;
  ignored?(signal: string): void;
  /** Takes the signal elsewhere, unless it is refused by then; false: it is for here. `here` takes it here after all. */
  passOn?(name: SteeringName, steering: Steering, here: () => void, isRefused: () => boolean): boolean;
  /** A scheduled action is to run at this time, in Unix milliseconds, apart from the others of its group. */
  moveTo?(index: number, dueAt: number): void;
  redo?(index: number): void;
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
    lock.arrive(() => ignore(options, `${cutShort(name, 40)}: there is no such signal; there are ${names}`)),
  );
}

function take(options: SteeringOptions, name: SteeringName, argument: unknown): void {
  const steering = readSteering(argument);
  const usable = steering && (name === 'reschedule') === (steering.seconds !== undefined);
  if (!usable) {
    const wanted = name === 'reschedule' ? '[index, seconds from now]' : 'an index or [index]';
    const shown = isShallow(argument, 3) ? JSON.stringify(argument) : '[…]';
    const input = argument === undefined ? '' : ` ${cutShort(shown, 60)}`;
    ignore(options, `${name}${input}: its input must be ${wanted}`);
  } else if (!options.runner.states.has(steering.index)) {
    ignore(options, `${name} [${steering.index}]: there is no action ${steering.index}`);
  } else {
    const here = () => isRefused(options, name, steering) || steer(options, name, steering);
    const away = options.passOn?.(name, steering, here, () => isRefused(options, name, steering));
    if (!away) here();
  }
}

function isRefused(options: SteeringOptions, name: SteeringName, { index }: Steering): boolean {
  const refused = usesRoom(name) && options.runner.states.isFull;
  if (refused) ignore(options, `${name} [${index}]: ${historyFull}`);
  return refused;
}

function ignore({ runner, ignored }: SteeringOptions, signal: string): void {
  runner.states.ignore(signal);
  ignored?.(signal);
}

function steer(options: SteeringOptions, name: SteeringName, { index, seconds = 0, by = 'hand' }: Steering): void {
  const { runner, redo, moveTo } = options;
  const { lock, states } = runner;
  const { state } = states.of(index);
  const verb: SteeringVerb = name === 'cancelAction' ? 'cancel' : name;
  const move = moveTo && (() => moveTo(index, lock.now + seconds * 1000));
  const effects: Record<SteeringVerb, (() => void) | undefined> = {
    retry: state === 'needs-attention' ? () => runner.decide(index, { verb: 'retry' }) : redo && (() => redo(index)),
    skip: () => runner.decide(index, { verb: 'skip', by }),
    cancel: () => runner.cancel(index, by),
    runNow: move,
    reschedule: move,
  };
  const effect = isOpenTo(verb, state) ? effects[verb] : undefined;
  if (!effect) {
    ignore(options, `${name} [${index}]: action ${index} is ${state}`);
    return;
  }
  effect();
  const steered = { at: lock.time(), by, verb };
  states.update(index, { steered: [...(states.of(index).steered ?? []), steered].slice(-20) });
}
