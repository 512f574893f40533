/** Starts a `DelayedAction` for a chain and awaits its end. After a reset of the chain, finds that `DelayedAction` again. */

import { ParentClosePolicy, proxyActivities, startChild, WorkflowIdReusePolicy } from '@temporalio/workflow';
import type { ActionStatus } from '../chain/action-status.js';
import { type Chain, type ChainAction, delayedWorkflowId, dueTimes } from '../chain/chain.js';
import { chainDetails, delayedSummary } from '../chain/web-ui.js';
import type { Activities } from '../contract/activities.js';
import { type ChildEnd, readEnd, runsAlready } from '../contract/failures.js';
import { searchAttributesOf } from '../contract/search-attributes.js';
import type { DelayedAction } from './delayed-action.js';
import { type Alarm, type Engine, Outbox } from './engine/engine.js';

export class Child {
  readonly outbox: Outbox;
  closed = false;
  #end: ChildEnd | undefined;
  readonly #ending: Alarm = {};
  readonly #closing: Alarm = {};

  constructor(
    chain: Chain,
    readonly actions: ChainAction[],
    private readonly engine: Engine,
  ) {
    const workflowId = delayedWorkflowId(chain, actions[0]?.index ?? 0);
    this.outbox = new Outbox(engine, workflowId, false);
    const started = startChild<typeof DelayedAction>('DelayedAction', {
      workflowId,
      args: [{ ...chain, actions, dueTimes: dueTimes(chain) }],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      typedSearchAttributes: searchAttributesOf(chain, actions),
      staticSummary: delayedSummary(actions),
      staticDetails: chainDetails(chain, actions),
    });
    const open = () => engine.arrive(() => this.outbox.open());
    started.then(open, open);
    const end = (end: ChildEnd) => {
      this.#end = end;
      this.#ending.ring?.();
    };
    const result = started.then((child) => child.result()).then(toEnd, readEnd);
    void result.then((how) => engine.arrive(() => end(how)));
  }

  /** Awaits the end of the child. Call this method only once. */
  async ended(): Promise<ChildEnd> {
    while (!this.#end) await this.engine.wait(this.#ending);
    const end = this.#end.how === runsAlready ? await this.engine.outside(this.#foundEnd()) : this.#end;
    this.closed = true;
    this.#closing.ring?.();
    return end;
  }

  async untilClosed(): Promise<void> {
    while (!this.closed) await this.engine.wait(this.#closing);
  }

  /** Cancels by the workflow id, because after a reset the running workflow may not be a child of this run. */
  cancel(): void {
    this.outbox.add(() => this.outbox.reach('the cancellation', (child) => child.cancel()));
  }

  /** Awaits a `DelayedAction` that was started before the reset, and so is not a child of this run. */
  #foundEnd(): Promise<ChildEnd> {
    const { workflowId } = this.outbox;
    const summary = `waits for the end of ${workflowId}, which was started before the reset`;
    const { awaitDelayed } = proxyActivities<Activities>({ startToCloseTimeout: '20 seconds', summary });
    return awaitDelayed({ workflowId }).then(toEnd, readEnd);
  }
}

const toEnd = (actions: ActionStatus[]): ChildEnd => ({ actions });
