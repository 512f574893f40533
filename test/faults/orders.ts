/** Chains of random shapes, each with its required outcome. */

import type { ActionState, ChainStatus } from '../../src/chain/outcome.js';
import { type Action, email, send, udf } from '../end-to-end/stack.js';

/** A request and its required outcome. */
export interface Order {
  /** The idempotency key of the chain. The names of its targets contain this name. */
  name: string;
  actions: Action[];
  /** The rule's setting for failed actions. */
  onFailure: 'hold' | 'continue';
  /** The request has an invalid token, so no action may run. */
  isRefused: boolean;
  /** The decision of a person, once an action is in this state. */
  steered?: { verb: 'skip' | 'runNow' | 'cancel'; index?: number; once: { index: number; state: ActionState } };
  /** The final status. */
  status: ChainStatus;
  states: ActionState[];
}

/** The targets in the ledger that an action's effects can have. */
export function targetsOf(name: string, index: number) {
  const target = `${name}-${index}`;
  return [target, `${target}-b`, `${target}-flaky`] as const;
}

/** The addresses of recipients end with this text. The addresses of contacts do not. */
export const people = '@people.example';

type Effect = (target: string, more: Action) => Action;

const never = 3_000_000; // in seconds: longer than a run. Only a person can end this delay.

/** @param random - numbers from 0 to 1. */
export function orderOf(name: string, random: () => number): Order {
  const one = <Value>(...values: Value[]) => values[Math.floor(random() * values.length)] as Value;
  const isRare = (share: number) => random() < share;
  const onFailure = one('hold', 'continue');
  const order: Order = { name, actions: [], onFailure, isRefused: isRare(0.05), status: 'completed', states: [] };
  const add = (state: ActionState, more: Action, kind = one<Effect>(send, udf, emailTo)) => {
    const [target, other] = targetsOf(name, order.actions.length);
    order.actions.push(kind === emailTo ? emailTo(isRare(0.3) ? [target, other] : [target], more) : kind(target, more));
    order.states.push(state);
  };
  for (let left = one(1, 1, 2, 3, 3, 4, 6); left > 0; left -= 1) {
    const delay = { delayInSeconds: one('0', '0', '0', '0', '2', '5', '12') };
    const plain = () => add('done', delay);
    one(
      ...[plain, plain, plain, plain, plain, plain],
      () => add('done', { ...delay, actionCondition: 'incomingValue==yes', incomingValue: 'yes' }),
      () => add('skipped', { ...delay, actionCondition: 'incomingValue==yes', incomingValue: 'no' }),
      () => add('done', { ...delay, actionCondition: 'status==draft' }, send),
      () => add('skipped', { ...delay, actionCondition: 'status==sent' }, send),
      () => add('done', delay, (target, more) => send(`${target}-flaky`, more)),
    )();
  }
  const last = order.actions.length;
  const extra = one('gone', 'run now', 'cancel', ...Array.from({ length: 20 }, () => 'none'));
  if (extra === 'gone') {
    order.actions.push(send(`${name}-${last}-gone`));
    if (onFailure === 'continue') {
      order.states.push('failed');
      order.status = 'failed';
    } else {
      order.states.push('skipped');
      order.steered = { verb: 'skip', index: last, once: { index: last, state: 'needs-attention' } };
    }
    add('done', {});
  } else if (extra === 'run now') {
    add('done', { delayInSeconds: `${never}` });
    order.steered = { verb: 'runNow', index: last, once: { index: last, state: 'scheduled' } };
  } else if (extra === 'cancel') {
    add('cancelled', { delayInSeconds: `${never}` });
    order.steered = { verb: 'cancel', index: last, once: { index: last, state: 'scheduled' } };
  }
  return order;
}

function emailTo(names: string[] | string, more: Action): Action {
  return email(
    [names].flat().map((name) => name + people),
    more,
  );
}

/** The delay of an action in seconds: 0 for an immediate action. */
export const delayOf = ({ delayInSeconds = '0' }: Action) => Number(delayInSeconds);
