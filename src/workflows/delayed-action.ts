/** Runs the actions of one delay, and knows no others, when they are due: the child workflow of a `RuleChain`. */

import {
  CancellationScope,
  CancelledFailure,
  type ExternalWorkflowHandle,
  getExternalWorkflowHandle,
  log,
} from '@temporalio/workflow';
import type { ActionStatus } from '../chain/action-status.js';
import { type Chain, type ChainAction, chainWorkflowId, dueAt } from '../chain/chain.js';
import { chainStatus, isRetry, isToRedo } from '../chain/outcome.js';
import { type Report, reportSignal, steeringSignals, verbOf } from '../contract/messages.js';
import type { Notify } from './action-run.js';
import { ActionRunner } from './action-runner.js';
import { ActionStates } from './action-states.js';
import { DelayGroups } from './delay-groups.js';
import { actionsFailed } from './failures.js';
import { Lock, Outbox } from './lock.js';
import { ChainNotices } from './notices.js';
import { lastSummary, takeSteering } from './steering.js';

/** @throws ApplicationFailure `ActionsFailed` when one ended `failed` or `not-run`; its details are what else is returned. */
export async function DelayedAction(chain: Chain): Promise<ActionStatus[]> {
  const root = CancellationScope.current();
  return CancellationScope.nonCancellable(async () => {
    const publish = () => {
      states.publish();
      reports.publish();
      groups.wakeEmpty();
    };
    const lock = new Lock(publish, () => states.show());
    const tellIgnored = (signal: string) => reports.send({ actions: [], ignored: signal });
    const states: ActionStates = new ActionStates(chain, lock, tellIgnored);
    const reports: Reports = new Reports(chain, states, lock);
    const tell: Notify = (kind, index) => reports.notices.push({ kind, index });
    const runLater = (actions: ChainAction[], dueAt: number) => groups.open(actions, dueAt);
    const runner: ActionRunner = new ActionRunner(chain, states, lock, tell, runLater);
    const groups: DelayGroups = new DelayGroups(runner);

    const [first] = chain.actions;
    if (first) groups.open([...chain.actions], dueAt(chain, first));
    takeSteering({
      runner,
      // The chain passed it on before it had heard that the action has failed, and does it again itself.
      passOn(name, steering) {
        const late = isRetry(verbOf(name)) && isToRedo(states.of(steering.index).state);
        if (late) reports.signal((chain) => chain.signal(steeringSignals[name], steering));
        return late;
      },
      moveTo: (index, dueAt) => groups.move(index, dueAt),
      hear: (mend) => (mend.number === undefined ? undefined : runner.mends.hear(mend, mend.number)),
    });
    if (root.consideredCancelled) runner.cancelAll();
    else root.cancelRequested.catch(() => lock.arrive(() => runner.cancelAll()));

    await lock.allOver();
    if (runner.mayBeRetried) {
      await lock.wait({}, 1, lastSummary(states.actions)); // A retry is passed back.
      await lock.allOver();
    }
    if (runner.cancelled) {
      states.cancelRest();
      await lock.allOver();
      throw new CancelledFailure('the delayed actions were cancelled');
    }
    const { actions } = states;
    if (chainStatus(actions) === 'failed') throw actionsFailed('ActionsFailed', chain, actions, actions);
    return actions;
  });
}

/** What the chain is told: only what it has to act on or show before this workflow has closed. */
class Reports {
  readonly notices: NonNullable<Report['notices']> = [];
  /** The statuses as the chain knows them. */
  readonly #told: Map<number, ActionStatus>;
  readonly #outbox: Outbox;
  readonly #own: ChainNotices;

  constructor(
    private readonly chain: Chain,
    private readonly states: ActionStates,
    private readonly lock: Lock,
  ) {
    this.#outbox = new Outbox(lock);
    this.#own = new ChainNotices(chain, states, lock);
    this.#told = new Map(states.actions.map((action) => [action.index, action]));
  }

  /** Tells what has changed, if the chain has to know: a hold, a pause, a time that was moved, a cancellation. */
  publish(): void {
    this.#own.look();
    const changed = this.states.actions.filter((action) => this.#told.get(action.index) !== action);
    const matters = changed.some((action) => standing(action) !== standing(this.#told.get(action.index)));
    if (!matters && this.notices.length === 0) return;
    for (const action of changed) this.#told.set(action.index, action);
    this.send({ actions: changed, notices: this.notices.splice(0) });
  }

  /** Where the chain cannot be told (it is gone, or has had all the signals that Temporal allows), people are told from here. */
  send(report: Report): void {
    this.signal(
      (chain) => chain.signal(reportSignal, report),
      () => {
        for (const { kind, index } of report.notices ?? []) this.lock.start(() => this.#own.tell(kind, index));
      },
    );
  }

  signal(signal: (chain: ExternalWorkflowHandle) => Promise<void>, otherwise = () => {}): void {
    this.#outbox.add(async () => {
      try {
        await this.lock.outside(signal(getExternalWorkflowHandle(chainWorkflowId(this.chain))));
      } catch (error) {
        log.warn('the chain could not be told of its delayed actions', { error });
        otherwise();
      }
    });
  }
}

/** What of an action the chain is told of when it changes. Part of the replay contract. */
function standing(action: ActionStatus | undefined): string {
  const { state, pausedSince, runAt, steered } = action ?? {};
  const told = state === 'needs-attention' || state === 'cancelled' ? state : '';
  return [told, pausedSince, runAt, state === 'needs-attention' ? '' : steered?.length].join();
}
