/** The delayed actions of a chain: armed first, awaited to the end, and found again after a reset. */

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  type ChildWorkflowHandle,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  ParentClosePolicy,
  proxyActivities,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import type { ActionStatus } from '../chain/action-status.js';
import { type Chain, type ChainAction, delayedWorkflowId } from '../chain/chain.js';
import { chainDetails, delayedSummary } from '../chain/web-ui.js';
import type { Activities } from '../contract/activities.js';
import { type Steering, type SteeringName, steeringSignals } from '../contract/messages.js';
import { searchAttributesOf } from '../contract/search-attributes.js';
import type { DelayedAction } from './delayed-action.js';
import { type Lock, Outbox } from './lock.js';

/** `how` it closed, where it did not say of all actions what became of them. */
interface ChildEnd {
  actions: ActionStatus[];
  how?: string;
}

const runsAlready = 'runs already';

export class DelayedActions {
  closed = false;
  readonly outbox: Outbox;
  readonly #workflowId: string;
  readonly #scope = new CancellationScope();
  readonly #started: Promise<ChildWorkflowHandle<typeof DelayedAction>>;
  /** Resolves when it has closed; never rejects. */
  readonly #ended: Promise<ChildEnd>;
  /** After a reset: the end of one that this run did not start. */
  #foundEnd: Promise<ChildEnd> | undefined;

  constructor(
    chain: Chain,
    readonly actions: ChainAction[],
    private readonly lock: Lock,
  ) {
    this.outbox = new Outbox(lock);
    this.#workflowId = delayedWorkflowId(chain, actions[0]?.index ?? 0);
    this.#started = this.#scope.run(() =>
      startChild<typeof DelayedAction>('DelayedAction', {
        workflowId: this.#workflowId,
        args: [{ ...chain, actions }],
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
        typedSearchAttributes: searchAttributesOf(chain, actions),
        staticSummary: delayedSummary(actions),
        staticDetails: chainDetails(chain, actions),
      }),
    );
    this.#ended = this.#started.then((child) => child.result()).then((actions) => ({ actions }), readEnd);
  }

  async ended(): Promise<ChildEnd> {
    let end = await this.lock.outside(this.#ended);
    if (end.how === runsAlready) end = await this.lock.outside(this.#awaitFound());
    this.closed = true;
    return end;
  }

  /** Passes a person's signal on, once it is armed. @returns false where it is gone. */
  async signal(name: SteeringName, steering: Steering): Promise<boolean> {
    await this.lock.outside(this.#started.then(() => {}).catch(() => {}));
    try {
      await this.lock.outside(getExternalWorkflowHandle(this.#workflowId).signal(steeringSignals[name], steering));
      return true;
    } catch (error) {
      log.warn(`the signal ${name} could not be passed on to ${this.#workflowId}`, { error });
      return false;
    }
  }

  cancel(): void {
    this.lock.cancel(this.#scope);
    if (this.#foundEnd) this.#cancelFound();
  }

  /** After a reset: the child runs already, or has closed, without being a child of this run. */
  #awaitFound(): Promise<ChildEnd> {
    if (this.#foundEnd) return this.#foundEnd;
    if (this.#scope.consideredCancelled) this.#cancelFound();
    const { awaitDelayed } = proxyActivities<Activities>({
      startToCloseTimeout: '20 seconds',
      summary: `waits for the end of ${this.#workflowId}, which was started before the reset`,
    });
    this.#foundEnd = awaitDelayed({ workflowId: this.#workflowId }).then((actions) => ({ actions }), readEnd);
    return this.#foundEnd;
  }

  #cancelFound(): void {
    this.lock.start(() =>
      this.lock
        .outside(getExternalWorkflowHandle(this.#workflowId).cancel())
        .catch((error: unknown) => log.warn(`${this.#workflowId} could not be cancelled`, { error })),
    );
  }
}

/** A child that did not complete says in its failure what became of its actions, or has said so by signal. */
function readEnd(error: unknown): ChildEnd {
  if (error instanceof WorkflowExecutionAlreadyStartedError) return { actions: [], how: runsAlready };
  const cause = error instanceof ChildWorkflowFailure || error instanceof ActivityFailure ? error.cause : error;
  const failure = cause instanceof ApplicationFailure ? cause : undefined;
  if (failure?.type === 'ActionsFailed') return { actions: (failure.details ?? []).flat() as ActionStatus[] };
  const cancelled = isCancellation(error) || failure?.type === 'DelayedActionCancelled';
  const why = cause instanceof Error ? cause.message : String(cause);
  return { actions: [], how: cancelled ? 'cancelled' : `ended early, and what it had done by then is not known: ${why}` };
}
