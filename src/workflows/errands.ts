/** What goes on beside the sequence and must be over before a workflow closes: notices, what is done again, signals passed on. */

import { CancellationScope, condition, isCancellation, log } from '@temporalio/workflow';

export class Errands {
  #open = 0;

  start(errand: () => Promise<unknown>): void {
    this.#open += 1;
    errand()
      .catch((error: unknown) => {
        if (!isCancellation(error)) log.error('an errand failed', { error });
      })
      .finally(() => {
        this.#open -= 1;
      });
  }

  get open(): boolean {
    return this.#open > 0;
  }

  /** Waits until all are over, cancelled or not. */
  async finished(): Promise<void> {
    await CancellationScope.nonCancellable(() => condition(() => !this.open));
  }
}
