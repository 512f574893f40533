/** Where people's signals arrive: `retry`, `skip`, `runNow`, `cancelAction`, `reschedule`. What makes no sense now is left without effect, never an error. */

import { setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import type { Steered } from '../chain/action-status.js';
import { chainStatus, isOpenTo } from '../chain/outcome.js';
import type { SteeringVerb } from '../chain/steering-verb.js';
import { cutShort } from '../chain/text.js';
import {
  readSteering,
  resumeSignal,
  type Steering,
  type SteeringName,
  statusQuery,
  steeringHelp,
  steeringSignals,
} from '../contract/messages.js';
import { end, type Floor } from './sequence.js';

/** What a workflow does with actions of its own beyond holding them. */
export interface DeskOptions {
  /** Takes the signal elsewhere; false: it is for here. `here` takes it here after all. */
  passOn?(name: SteeringName, steering: Steering, here: () => void): boolean;
  /** A scheduled action is to run at this time, in Unix milliseconds, apart from the others of its group. */
  moveTo?(index: number, dueAt: number): void;
  /** An action that failed, or an e-mail that missed somebody, is to be done after all. */
  redo?(index: number): void;
}

/** Opens the handlers of all steering signals, and answers the query. */
export function openDesk(floor: Floor, options: DeskOptions): void {
  const { board } = floor;
  const view = () => ({
    status: chainStatus(board.actions),
    actions: board.actions,
    ...(board.ignored.length > 0 && { ignored: board.ignored }),
  });
  setHandler(statusQuery, view, { description: 'How each action stands.' });
  const resume = () => {
    floor.resumes += 1;
  };
  setHandler(resumeSignal, resume, { description: 'From the relay: a pause has ended.' });
  for (const name of Object.keys(steeringSignals) as SteeringName[]) {
    const take = (argument: unknown) => {
      const steering = readSteering(argument);
      const usable = steering && (name === 'reschedule') === (steering.seconds !== undefined);
      if (!usable)
        floor.ignored(
          `${name}${shownInput(argument)}: its input must be ${name === 'reschedule' ? '[index, seconds from now]' : 'an index or [index]'}`,
        );
      else {
        const here = () => steer(floor, options, name, steering);
        if (!options.passOn?.(name, steering, here)) here();
      }
    };
    setHandler(steeringSignals[name], take, { description: steeringHelp[name] });
  }
  // The last, since it takes what has no handler yet.
  const names = Object.keys(steeringSignals).join(', ');
  setDefaultSignalHandler((name) => floor.ignored(`${cutShort(name, 40)}: there is no such signal; there are ${names}`));
}

function shownInput(argument: unknown): string {
  return argument === undefined ? '' : ` ${cutShort(JSON.stringify(argument) ?? '', 60)}`;
}

function steer(floor: Floor, options: DeskOptions, name: SteeringName, { index, seconds, by = 'hand' }: Steering): void {
  const { board } = floor;
  if (!board.has(index)) {
    floor.ignored(`${name} [${index}]: there is no action ${index}`);
    return;
  }
  const { state } = board.of(index);
  const verb: SteeringVerb = name === 'cancelAction' ? 'cancel' : name;
  const act = isOpenTo(verb, state) ? deed() : undefined;
  if (!act) {
    floor.ignored(`${name} [${index}]: action ${index} is ${state}`);
    return;
  }
  act();
  const steered: Steered = { at: new Date().toISOString(), by, verb };
  board.update(index, { steered: [...(board.of(index).steered ?? []), steered].slice(-20) });

  /** What is to be done; undefined: it is not for this workflow. */
  function deed(): (() => void) | undefined {
    const { redo, moveTo } = options;
    switch (verb) {
      case 'retry':
        if (state === 'needs-attention') return () => floor.decisions.set(index, { kind: 'retry' });
        return redo && (() => redo(index));
      case 'skip':
        return () => floor.decisions.set(index, { kind: 'skip', by });
      case 'cancel':
        return () => cancel(floor, index, by);
      case 'runNow':
      case 'reschedule':
        return moveTo && (() => moveTo(index, Date.now() + (seconds ?? 0) * 1000));
    }
  }
}

function cancel(floor: Floor, index: number, by: string): void {
  const cancelRunning = floor.cancels.get(index);
  if (cancelRunning) cancelRunning(by);
  else end(floor, index, { state: 'cancelled', reason: `cancelled by ${by}` });
}
