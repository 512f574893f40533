/** What people have mended of the actions of a workflow. The input keeps what was sent; a mended action is read anew from both. */

import { proxyLocalActivities } from '@temporalio/workflow';
import { type Chain, type ChainAction, dueAt } from '../chain/chain.js';
import type { Fields } from '../chain/fields.js';
import { isUnknown } from '../chain/outcome.js';
import type { Issue } from '../chain/request.js';
import { cutShort } from '../chain/text.js';
import { summaryOf } from '../chain/web-ui.js';
import type { Activities } from '../contract/activities.js';
import type { Mend } from '../contract/messages.js';
import type { ActionStates } from './action-states.js';
import { readFailure } from './failures.js';
import type { Lock } from './lock.js';

export type NumberedMend = Mend & { number: number };

export class Mends {
  /** All that were heard of, by index: those that hold are in the action's status. */
  readonly #heard = new Map<number, NumberedMend[]>();
  /** As they were read with what holds of them. */
  readonly #actions = new Map<number, ChainAction>();
  #numbers = 0;

  constructor(
    private readonly chain: Chain,
    private readonly states: ActionStates,
    private readonly lock: Lock,
    /** Runs actions apart from the others, when they are due. */
    private readonly runLater: (actions: ChainAction[], dueAt: number) => void,
  ) {}

  /** Keeps what a person asks for. A chain numbers it, and then passes it on with its number to a delayed action. */
  hear(mend: Mend, number = ++this.#numbers): NumberedMend {
    const numbered = { ...mend, number };
    this.#heard.set(mend.index, [...(this.#heard.get(mend.index) ?? []), numbered]);
    return numbered;
  }

  /** The changes that hold, all together. @param last - one more. */
  changesTo(index: number, last?: Mend): Fields {
    const { mends = [] } = this.states.of(index);
    const holds = (this.#heard.get(index) ?? []).filter(({ number }) => mends.includes(number));
    return Object.assign({}, ...holds.map(({ fields }) => fields), last?.fields);
  }

  /** Why what is asked for cannot be done; where nobody knows whether the effect took place, another could be a second one. */
  refusal({ index, number, confirmUnknown }: Mend): string | undefined {
    const status = this.states.of(index);
    if (number !== undefined && status.mends?.includes(number)) return 'it has been mended so';
    return isUnknown(status) && !confirmUnknown
      ? 'whether the last try took effect is not known: look, then confirm it with {"confirmUnknown": true}'
      : undefined;
  }

  /** Takes what is asked for, which is to be tried then, or says why not. Keeps the lock. */
  async take(mend: NumberedMend): Promise<boolean> {
    const { index, fields, number, by = 'hand' } = mend;
    const refusal = this.refusal(mend) ?? (await this.#read(index, this.changesTo(index, mend)));
    if (refusal !== undefined) {
      this.states.ignore(cutShort(`mend [${index}]: ${refusal}`, 500));
      return false;
    }
    const { mends = [], steered = [], deliveries } = this.states.of(index);
    const { comment, assignmentId } = this.of(index) ?? {};
    this.states.update(index, {
      comment,
      assignmentId,
      mends: [...mends, number],
      // Whoever has a copy gets no other, also where the address is gone.
      deliveries: deliveries?.filter(({ sent }) => sent),
      steered: [...steered, { at: this.lock.time(), by, verb: 'mend' as const, fields: Object.keys(fields) }].slice(-20),
    });
    return true;
  }

  /** Whether it gave the action a delay that is not over, so that it runs when it is due, and what stands behind it now. */
  postpone({ index, fields }: Mend): boolean {
    const action = this.of(index);
    const due = action?.delaySeconds && 'delayInSeconds' in fields ? dueAt(this.chain, action) : 0;
    if (!action || due <= this.lock.now) return false;
    const over = { heldUntil: undefined, nextAttemptAt: undefined, reason: undefined };
    this.states.update(index, { ...over, state: 'scheduled', runAt: new Date(due).toISOString() });
    this.runLater([action], due);
    return true;
  }

  /** The action as it stands: also where it was mended in a workflow of its own, which has closed. Keeps the lock. */
  async current(action: ChainAction): Promise<ChainAction> {
    const { index } = action;
    if (!this.states.of(index).mends) return action;
    const refusal = this.of(index) ? undefined : await this.#read(index, this.changesTo(index));
    const mended = this.of(index) ?? action;
    return refusal === undefined ? mended : { ...mended, invalidData: `what was mended of it cannot be read: ${refusal}` };
  }

  of(index: number): ChainAction | undefined {
    return this.#actions.get(index);
  }

  /** @returns what is wrong. */
  async #read(index: number, changes: Fields): Promise<string | undefined> {
    const action = this.chain.actions.find((action) => action.index === index);
    if (!action) return 'there is no such action';
    const { mendAction } = proxyLocalActivities<Activities>({
      startToCloseTimeout: 2000,
      retry: { maximumAttempts: 2 },
      summary: summaryOf([action], 'reads what was mended'),
    });
    try {
      const read = await mendAction({ action, changes });
      this.lock.passed(read.tookMs);
      if ('problems' in read) return wordsOf(read.problems);
      const same = Object.entries(action).filter(([name]) => read.same.includes(name));
      this.#actions.set(index, { ...Object.fromEntries(same), ...read.mended } as ChainAction);
      return undefined;
    } catch (error) {
      return readFailure(error).failure.message;
    }
  }
}

function wordsOf(problems: readonly Issue[]): string {
  return problems.map(({ pointer, detail }) => `${pointer} ${detail}`.trim()).join('; ');
}
