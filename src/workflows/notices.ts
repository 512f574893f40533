/** Tells people about an action through the compensation activity `notifyFailure`. */

import {
  ActivityCancellationType,
  type ActivityOptions,
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  proxyActivities,
} from '@temporalio/workflow';
import type { Chain } from '../chain/chain.js';
import { hasEnded } from '../chain/outcome.js';
import { summaryOf } from '../chain/summary.js';
import type { Activities, Failure, Joined } from '../contract/activities.js';
import { overSignal } from '../contract/messages.js';
import type { Notice, NoticeKind } from '../notices/chain-notice.js';
import { memberKey } from '../notices/digest.js';
import type { ActionStates } from './action-states.js';

/** How a notice is delivered: retried for a day, dropped when its workflow is cancelled. */
export const delivery: ActivityOptions = {
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '1 day',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '15 minutes' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
};

/** Tells people about the actions of one chain; none of its promises rejects. */
export class Notices {
  /** The digests that want to know when an action is over. */
  readonly #digests = new Map<number, string>();

  constructor(
    private readonly chain: Chain,
    private readonly board: ActionStates,
  ) {}

  /** @returns when it has been told, and a digest that it became part of knows how the action ended. */
  async tell(kind: NoticeKind, index: number): Promise<void> {
    const notice = this.#notice(kind, index);
    if (kind === 'recovered') {
      const digest = this.#digests.get(index);
      return this.#deliver({ ...notice, ...(digest !== undefined && { digest }) });
    }
    const { tell, digest } = await this.#join(kind, notice);
    await Promise.all([
      tell && this.#deliver(notice),
      digest !== undefined && kind === 'needs-attention' && this.#untilOver(index, digest),
    ]);
  }

  /** A digest that was joined is known even where the chain is cancelled meanwhile: it has to hear how the action ended. */
  async #join(kind: Failure['kind'], { index, actions: _, ...notice }: Notice): Promise<Joined> {
    const { deliveries, ...action } = this.board.of(index);
    const { joinDigest } = proxyActivities<Activities>({
      ...delivery,
      startToCloseTimeout: '30 seconds',
      cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
      summary: summaryOf([action], 'have others failed for the same reason?'),
    });
    try {
      return await joinDigest({ ...notice, kind, action });
    } catch (error) {
      if (!isCancellation(error))
        log.error('whether others failed for the same reason could not be found out', { kind, index, error });
      return { tell: true };
    }
  }

  /** As the actions stand now. */
  #notice(kind: NoticeKind, index: number): Notice {
    const { companyId, chainId, receivedAt } = this.chain;
    // The recipients of the others are left out: with those of 100 e-mails a notice could be larger than Temporal takes.
    const actions = this.board.actions.map(({ deliveries, ...action }) =>
      action.index === index && deliveries ? { ...action, deliveries } : action,
    );
    return { kind, companyId, chainId, index, at: new Date().toISOString(), receivedAt, actions };
  }

  async #deliver(notice: Notice): Promise<void> {
    const { kind, index } = notice;
    const about = notice.actions.filter((action) => action.index === index);
    const { notifyFailure } = proxyActivities<Activities>({ ...delivery, summary: summaryOf(about, `tells people: ${kind}`) });
    try {
      await notifyFailure(notice);
    } catch (error) {
      if (!isCancellation(error)) log.error('a notice reached nobody within a day', { kind, index, error });
    }
  }

  /** Tells the digest when the action is not held for its reason any more. */
  async #untilOver(index: number, digest: string): Promise<void> {
    const { board, chain } = this;
    if (this.#digests.get(index) === digest) return; // It is being waited for.
    this.#digests.set(index, digest);
    const over = () => hasEnded(board.of(index).state) || this.#digests.get(index) !== digest;
    const cancelled = await condition(over).catch(isCancellation);
    if (this.#digests.get(index) === digest) this.#digests.delete(index);
    const ended = cancelled ? 'cancelled' : board.of(index).state;
    await CancellationScope.nonCancellable(() =>
      getExternalWorkflowHandle(digest).signal(overSignal, memberKey({ chainId: chain.chainId, index }), ended),
    ).catch(() => {}); // It has closed: it was about this action alone.
  }
}
