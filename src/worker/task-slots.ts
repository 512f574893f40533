/**
 * Limits the concurrent workflow tasks of a worker. If each worker takes only a few tasks, the server distributes tasks fairly.
 * A task that waits for a local activity does not count.
 */

import type { ActivityInterceptorsFactory, CustomSlotSupplier, SlotPermit, WorkflowSlotInfo } from '@temporalio/worker';

const mostBusy = 24; // the maximum number of busy slots; each open poll also takes a slot
const most = 400;

export class WorkflowTaskSlots implements CustomSlotSupplier<WorkflowSlotInfo> {
  readonly type = 'custom';
  #reserved = 0;
  #localActivities = 0;
  /** The waiting requests for a slot. The oldest request gets the next slot. */
  readonly #queue = new Set<(permit: SlotPermit) => void>();

  /** @throws `AbortError` if the slot is no longer needed. */
  reserveSlot(_: unknown, signal: AbortSignal): Promise<SlotPermit> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const abort = () => {
        this.#queue.delete(take);
        reject(signal.reason);
      };
      const take = (permit: SlotPermit) => {
        signal.removeEventListener('abort', abort);
        resolve(permit);
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#queue.add(take);
      this.#admit();
    });
  }

  /** Reserves a slot for an eager task. Returns null if no slot is free. */
  tryReserveSlot(): SlotPermit | null {
    if (!this.#isFree) return null;
    this.#reserved += 1;
    return {};
  }

  markSlotUsed(): void {}

  releaseSlot(): void {
    this.#reserved -= 1;
    this.#admit();
  }

  readonly interceptor: ActivityInterceptorsFactory = ({ info: { isLocal } }) => {
    if (!isLocal) return {};
    return {
      inbound: {
        execute: async (input, next) => {
          this.#localActivities += 1;
          this.#admit();
          try {
            return await next(input);
          } finally {
            this.#localActivities -= 1;
          }
        },
      },
    };
  };

  get #isFree(): boolean {
    return this.#reserved < Math.min(mostBusy + this.#localActivities, most);
  }

  #admit(): void {
    for (const take of this.#queue) {
      if (!this.#isFree) return;
      this.#queue.delete(take);
      this.#reserved += 1;
      take({});
    }
  }
}
