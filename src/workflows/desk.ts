/** Where people's signals arrive: `retry`, `skip`, `runNow`, `cancelAction`, `reschedule`. What makes no sense now is left without effect, never an error. */

import { log, setHandler } from '@temporalio/workflow';
import { hasEnded } from '../chain/outcome.js';
import { readSteering, type Steering, type SteeringName, steeringSignals } from './messages.js';
import { end, type Floor } from './sequence.js';

/** What a workflow does with actions of its own beyond holding them. */
export interface DeskOptions {
  /** Takes the signal elsewhere; false: it is for here. */
  passOn?(name: SteeringName, steering: Steering): boolean;
  /** A scheduled action is to run at this time, in Unix milliseconds, apart from the others of its group. */
  moveTo?(index: number, dueAt: number): void;
  /** A partly failed e-mail is to be sent to those whom it missed. */
  resend?(index: number): void;
}

/** Opens the handlers of all steering signals. */
export function openDesk(floor: Floor, options: DeskOptions): void {
  for (const name of Object.keys(steeringSignals) as SteeringName[]) {
    setHandler(steeringSignals[name], (argument) => {
      const steering = readSteering(argument);
      const usable = steering && (name === 'reschedule') === (steering.seconds !== undefined);
      if (!usable) log.warn(`the signal ${name} was ignored: its argument must be ${name === 'reschedule' ? '[index, seconds from now]' : 'an index or [index]'}`, { argument });
      else if (!options.passOn?.(name, steering)) steer(floor, options, name, steering);
    });
  }
}

function steer(floor: Floor, options: DeskOptions, name: SteeringName, { index, seconds, by }: Steering): void {
  if (!floor.board.has(index)) {
    log.warn(`the signal ${name} was ignored: there is no action ${index}`);
    return;
  }
  const { state } = floor.board.of(index);
  const steered = { ...(by !== undefined && { by }) };
  if (name === 'retry' && state === 'needs-attention') floor.decisions.set(index, { kind: 'retry' });
  else if (name === 'retry' && state === 'partly-failed') options.resend?.(index);
  else if (name === 'skip' && state === 'needs-attention') floor.decisions.set(index, { kind: 'skip', ...steered });
  else if (name === 'cancelAction' && !hasEnded(state)) {
    const scope = floor.scopes.get(index);
    if (scope) scope.cancel();
    else end(floor, index, { state: 'cancelled', reason: `cancelled by ${by ?? 'hand'}` });
  } else if (name === 'runNow' && state === 'scheduled') options.moveTo?.(index, Date.now());
  else if (name === 'reschedule' && state === 'scheduled' && seconds !== undefined)
    options.moveTo?.(index, Date.now() + seconds * 1000);
  else log.warn(`the signal ${name} was ignored: action ${index} is ${state}`);
}
