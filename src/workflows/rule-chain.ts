/** One accepted request: arms its delayed actions, runs the immediate ones in order, stays open until every one has ended. */

import { CancellationScope, CancelledFailure, log, setHandler, upsertMemo, workflowInfo } from '@temporalio/workflow';
import { type Chain, type ChainAction, planChain, receivedOn, toRedo } from '../chain/chain.js';
import { chainStatus, hasEnded } from '../chain/outcome.js';
import { type ChainView, readReport, reportSignal } from '../contract/messages.js';
import type { Notify } from './action-run.js';
import { ActionRunner } from './action-runner.js';
import { ActionStates } from './action-states.js';
import { DelayGroups } from './delay-groups.js';
import { DelayedActions } from './delayed-actions.js';
import { actionsFailed } from './failures.js';
import { type Alarm, Lock } from './lock.js';
import type { NumberedMend } from './mends.js';
import { ChainNotices } from './notices.js';
import { lastSummary, takeSteering } from './steering.js';

/** @throws ApplicationFailure `ChainFailed` when an action ended `failed` or `not-run`; its details are what else is returned. */
export async function RuleChain(input: Chain): Promise<ChainView> {
  const chain = receivedOn(workflowInfo().startTime, input);
  const root = CancellationScope.current();
  return CancellationScope.nonCancellable(async () => {
    const publish = () => {
      states.publish();
      notices.look();
      groups.wakeEmpty();
    };
    const lock = new Lock(publish, () => states.show());
    const states: ActionStates = new ActionStates(chain, lock);
    const notices: ChainNotices = new ChainNotices(chain, states, lock);
    const tell: Notify = (kind, index) => lock.start(() => notices.tell(kind, index));
    const runLater = (actions: ChainAction[], dueAt: number) => groups.open(actions, dueAt);
    const runner: ActionRunner = new ActionRunner(chain, states, lock, tell, runLater);
    const groups: DelayGroups = new DelayGroups(runner);

    const { immediate, delayed } = planChain(chain.actions);
    const children = delayed.map((actions) => new DelayedActions(chain, actions, lock));
    const run = new ChainRun(runner, notices, children, groups);
    if (root.consideredCancelled) run.cancel();
    else root.cancelRequested.catch(() => lock.arrive(() => run.cancel()));

    await runner.run([...immediate]);
    await lock.allOver();
    if (runner.mayBeRetried) await run.retries();
    return close(chain, states, runner.cancelled);
  });
}

/** What goes on beside the immediate actions: the delayed ones, people's signals, and what is done after all. */
class ChainRun {
  /** Actions that are done again from here: what a child says of them is out of date. */
  readonly #redone = new Set<number>();
  readonly #told: Alarm = {};
  #redos = 0;

  constructor(
    private readonly runner: ActionRunner,
    private readonly notices: ChainNotices,
    private readonly children: DelayedActions[],
    groups: DelayGroups,
  ) {
    const { lock, states } = runner;
    for (const child of children) lock.start(() => this.#awaitEnd(child));
    const take = (report: unknown) => lock.arrive(() => this.#takeReport(report));
    setHandler(reportSignal, take, { description: 'From a delayed action: how it stands.' });
    takeSteering({
      runner,
      passOn: (name, steering, here, isRefused) => {
        const child = this.#childOf(steering.index);
        if (!child || hasEnded(states.of(steering.index).state)) return false;
        child.outbox.add(async () => {
          if (isRefused() || (await child.signal(name, steering))) return;
          if (!child.closed) await child.ended(); // What became of its actions is known then.
          here();
        });
        return true;
      },
      moveTo: (index, dueAt) => groups.move(index, dueAt),
      redo: (index, mend) => (mend ? lock.start(() => this.#mend(mend)) : this.#redo(index)),
      hear: (mend) => runner.mends.hear(mend),
    });
  }

  cancel(): void {
    this.runner.cancelAll();
    for (const child of this.children) child.cancel();
    this.#told.ring?.();
  }

  /** Takes retries that have arrived; where `retryChain` (src/temporal/steer.ts) has opened a closed chain, also those to come. */
  async retries(): Promise<void> {
    await this.#awaitRetries(1, lastSummary(this.runner.states.actions));
    const { runId, firstExecutionRunId } = workflowInfo();
    if (runId !== firstExecutionRunId) await this.#awaitRetries(5000, 'opened again: waits to be told what to do');
  }

  async #awaitRetries(milliseconds: number, summary: string): Promise<void> {
    while (this.runner.mayBeRetried) {
      const before = this.#redos;
      await this.runner.lock.wait(this.#told, milliseconds, summary);
      await this.runner.lock.allOver();
      if (this.#redos === before) return;
    }
  }

  /** The child that runs an action, until it has closed or the action is done again from here. */
  #childOf(index: number): DelayedActions | undefined {
    return this.#redone.has(index)
      ? undefined
      : this.children.find((child) => !child.closed && child.actions.some((action) => action.index === index));
  }

  #takeReport(argument: unknown): void {
    const report = readReport(argument, (index) => this.runner.states.has(index));
    if (!report) {
      log.warn('a report was ignored: it is none');
      return;
    }
    for (const status of report.actions) if (this.#childOf(status.index)) this.runner.states.replace(status);
    if (report.ignored !== undefined) this.runner.states.ignore(report.ignored);
    for (const { kind, index } of report.notices ?? []) this.runner.lock.start(() => this.notices.tell(kind, index));
  }

  /** What a child says in the end counts; of what it leaves open, a child that somebody ended tells no more. */
  async #awaitEnd(child: DelayedActions): Promise<void> {
    const { states } = this.runner;
    const { actions, how } = await child.ended();
    const open = ({ index }: { index: number }) => !this.#redone.has(index) && !hasEnded(states.of(index).state);
    for (const status of actions.filter(open)) states.replace(status);
    if (this.runner.cancelled) return;
    const left = child.actions.filter(open);
    for (const { index } of left)
      states.end(index, how === 'cancelled' ? { state: 'cancelled' } : { state: 'failed', reason: `its workflow ${how}` });
    const [first] = left;
    if (first && how !== 'cancelled') this.runner.lock.start(() => this.notices.tell('failed', first.index));
  }

  async #mend(mend: NumberedMend): Promise<void> {
    if (await this.runner.mends.take(mend)) this.#redo(mend.index, mend);
  }

  #redo(index: number, mend?: NumberedMend): void {
    const actions = toRedo(this.runner.chain.actions, this.runner.states.actions, index);
    for (const { index } of actions) {
      this.#redone.add(index);
      this.runner.states.update(index, { state: 'pending', endedAt: undefined, reason: undefined, workflowId: undefined });
    }
    if (mend && this.runner.mends.postpone(mend)) actions.shift();
    this.#redos += 1;
    this.runner.lock.start(() => this.runner.run(actions));
    this.#told.ring?.();
  }
}

function close(chain: Chain, states: ActionStates, wasCancelled: boolean): ChainView {
  states.cancelRest();
  const { actions } = states;
  states.publish();
  states.show();
  const cancelled = wasCancelled && actions.some(({ state }) => state === 'cancelled');
  const full = states.isFull && { historyFull: true as const };
  const ended: ChainView = { status: cancelled ? 'cancelled' : chainStatus(actions), actions, ...full };
  if (ended.status === 'cancelled') {
    // A cancellation carries no details. Where no worker answers, this says how the actions stand; every list carries it.
    upsertMemo({ states: actions.map(({ state }) => state) });
    throw new CancelledFailure('the chain was cancelled');
  }
  if (ended.status === 'failed') throw actionsFailed('ChainFailed', chain, actions, ended);
  return ended;
}
