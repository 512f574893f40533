/**
 * How many workflow tasks a worker takes from the server. What waits there is handed out fairly among companies, what has been taken
 * is not: so no more is taken than is soon dealt with. A task that awaits a local activity waits for an outside system and does not
 * count, up to the number of all.
 */

import type { ActivityInterceptorsFactory, CustomSlotSupplier, SlotPermit, WorkflowSlotInfo } from '@temporalio/worker';

/** Taken at once, those included that a poll may bring. */
const mostBusy = 24;
const most = 400;

export class WorkflowTaskSlots implements CustomSlotSupplier<WorkflowSlotInfo> {
  readonly type = 'custom';
  #reserved = 0;
  #localActivities = 0;
  /** Those that wait for a slot, first come, first served. */
  readonly #queue = new Set<(permit: SlotPermit) => void>();

  /** @throws `AbortError` where the slot is needed no more. */
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

  /** For what a start or the end of a task brings with it. */
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

  /** Tells which activities the tasks wait for. */
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
