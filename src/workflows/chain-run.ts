/** Does the work of a chain beside its immediate actions: starts delayed actions, handles signals, retries failed actions. */

import { log, setHandler, workflowInfo } from '@temporalio/workflow';
import { planChain, toRedo } from '../chain/chain.js';
import { isToRedo } from '../chain/outcome.js';
import { lastSummary } from '../chain/web-ui.js';
import { type NumberedMend, readReport, reportSignal } from '../contract/messages.js';
import type { Sequences } from './action/sequences.js';
import { Child } from './child.js';
import type { Alarm } from './engine/engine.js';
import { takeSteering } from './steering.js';

export class ChainRun {
  #children: Child[] = [];
  /** Indexes of actions that the chain itself runs again. The chain ignores later reports of a child about these actions. */
  readonly #redone = new Set<number>();
  readonly #told: Alarm = {};
  #redos = 0;

  constructor(private readonly sequences: Sequences) {
    const { engine, states } = sequences;
    const take = (report: unknown) => engine.arrive(() => this.#takeReport(report));
    setHandler(reportSignal, take, { description: 'A delayed action reports its status.' });
    takeSteering(sequences, {
      passOn: (name, steering, here, isRefused) => {
        const child = this.#childOf(steering.index);
        if (!child || states.hasEnded(steering.index)) return false;
        child.outbox.add(async () => {
          if (isRefused() || (await child.outbox.steer(name, steering))) return;
          await child.untilClosed(); // Now the chain knows how the actions of the child ended.
          here();
        });
        return true;
      },
      redo: (index, mend) => (mend ? engine.start(() => this.#mend(mend)) : this.#redo(index)),
    });
  }

  /** Starts the delayed actions. If the first workflow task already contains a cancellation, starts nothing. */
  arm(): void {
    const { engine, chain, cancelled } = this.sequences;
    if (cancelled) return;
    this.#children = planChain(chain.actions).delayed.map((actions) => new Child(chain, actions, engine));
    for (const child of this.#children) engine.start(() => this.#awaitEnd(child));
  }

  cancel(): void {
    this.sequences.cancelAll();
    for (const child of this.#children) if (!child.closed) child.cancel();
    this.#told.ring?.();
  }

  /** Handles the retries that have arrived. If `retryChain` (temporal/steer.ts) reopened the chain, also waits for a retry. */
  async retries(): Promise<void> {
    const { runId, firstExecutionRunId } = workflowInfo();
    await this.#awaitRetries(1, () => lastSummary(this.sequences.states.actions));
    if (runId !== firstExecutionRunId) await this.#awaitRetries(5000, () => 'reopened: waits for a retry');
  }

  async #awaitRetries(milliseconds: number, summary: () => string): Promise<void> {
    const { engine } = this.sequences;
    while (this.sequences.mayBeRetried) {
      const before = this.#redos;
      await engine.wait(this.#told, milliseconds, summary());
      await engine.allOver();
      if (this.#redos === before) return;
    }
  }

  /** The child that runs an action. Undefined if the child has closed, or if the chain itself runs the action. */
  #childOf(index: number): Child | undefined {
    return this.#redone.has(index)
      ? undefined
      : this.#children.find((child) => !child.closed && child.actions.some((action) => action.index === index));
  }

  #takeReport(argument: unknown) {
    const { states, notices } = this.sequences;
    const report = readReport(argument, (index) => states.has(index));
    if (!report) return log.warn('a signal was ignored: it is not a report');
    for (const status of report.actions) if (this.#childOf(status.index)) states.report(status);
    if (report.ignored !== undefined) states.ignore(report.ignored);
    for (const { kind, index } of report.notices ?? []) notices.tell(kind, index);
  }

  /** Takes the final statuses from the child's result. Ends the actions that a terminated child left open. */
  async #awaitEnd(child: Child): Promise<void> {
    const { states } = this.sequences;
    const { actions, how } = await child.ended();
    const open = ({ index }: { index: number }) => !this.#redone.has(index) && !states.hasEnded(index);
    for (const status of actions.filter(open)) states.replace(status);
    if (this.sequences.cancelled) return;
    const left = child.actions.filter(open);
    for (const { index } of left)
      states.end(index, how === 'cancelled' ? { state: 'cancelled' } : { state: 'failed', reason: `its workflow ${how}` });
    if (left[0] && how !== 'cancelled') this.sequences.notices.tell('failed', left[0].index);
  }

  async #mend(mend: NumberedMend): Promise<void> {
    const { mends, states } = this.sequences;
    if ((await mends.take(mend)) && isToRedo(states.of(mend.index).state)) this.#redo(mend.index, mend);
  }

  #redo(index: number, mend?: NumberedMend): void {
    const { chain, states, mends } = this.sequences;
    const actions = toRedo(chain.actions, states.actions, index);
    for (const { index } of actions) {
      this.#redone.add(index);
      states.update(index, { state: 'pending', endedAt: undefined, reason: undefined, workflowId: undefined });
    }
    this.#redos += 1;
    const dueAt = mend ? mends.dueAfter(mend) : 0;
    if (dueAt > 0) this.sequences.schedule(actions.splice(0, 1), dueAt);
    this.sequences.open(actions);
    this.#told.ring?.();
  }
}
