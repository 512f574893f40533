/** Sends reports from a `DelayedAction` to its chain. A report has only the data that the chain needs before the child closes. */

import type { ActionStatus } from '../chain/action-status.js';
import { chainWorkflowId } from '../chain/chain.js';
import { reported } from '../chain/statuses.js';
import { type Report, reportSignal } from '../contract/messages.js';
import type { NoticeKind } from '../contract/notices.js';
import { Outbox } from './engine/engine.js';
import { ChainNotices } from './notices.js';

/** If the chain is gone, or has reached Temporal's limit of signals, the `DelayedAction` itself notifies people. */
export class Reports extends ChainNotices {
  readonly chain = new Outbox(this.engine, chainWorkflowId(this.states.chain));
  readonly #notices: NonNullable<Report['notices']> = [];
  readonly #told = new Map<number, ActionStatus>(this.states.actions.map((action) => [action.index, action]));

  override tell(kind: NoticeKind, index: number): void {
    this.#notices.push({ kind, index });
  }

  /** Reports changes that the chain must know, such as a hold, a pause, a new due time or a cancellation. */
  override publish(): void {
    super.publish();
    const changed = this.states.actions.filter((action) => this.#told.get(action.index) !== action);
    const matters = changed.some((action) => reported(action) !== reported(this.#told.get(action.index)));
    if (!matters && this.#notices.length === 0) return;
    for (const action of changed) this.#told.set(action.index, action);
    this.send({ actions: changed, notices: this.#notices.splice(0) });
  }

  send(report: Report): void {
    this.chain.add(async () => {
      if (await this.chain.reach('a report', (chain) => chain.signal(reportSignal, report))) return;
      for (const { kind, index } of report.notices ?? []) super.tell(kind, index);
    });
  }
}
