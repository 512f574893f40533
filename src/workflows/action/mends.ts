/** Applies people's edits (mends) of actions. After an edit, reads the action again from its original fields and all edits. */

import { type ChainAction, dueAt } from '../../chain/chain.js';
import { afterEdit, changesOf, editedAction, editRefusal, problemsText } from '../../chain/edits.js';
import type { Fields } from '../../chain/fields.js';
import { hasEnded } from '../../chain/outcome.js';
import { cutShort } from '../../chain/text.js';
import { summaryOf } from '../../chain/web-ui.js';
import { readFailure } from '../../contract/failures.js';
import type { Mend, NumberedMend } from '../../contract/messages.js';
import type { Engine } from '../engine/engine.js';
import type { ActionStates } from './states.js';

export class Mends {
  /** All mends. The key is the action's index. The status of an action has the numbers of its applied mends. */
  readonly #heard = new Map<number, NumberedMend[]>();
  readonly actions = new Map<number, ChainAction>();
  #numbers = 0;

  constructor(
    private readonly states: ActionStates,
    private readonly engine: Engine,
  ) {}

  /** Stores a mend, to apply it later. The chain gives each mend a number. A delayed action receives the mend with this number. */
  hear(mend: Mend, number = ++this.#numbers): NumberedMend {
    const numbered = { at: this.engine.time(), ...mend, number };
    this.#heard.set(mend.index, [...(this.#heard.get(mend.index) ?? []), numbered]);
    // A mend of the whole chain changes each action only at the action's turn. But lists show the new assignment immediately.
    const { platformAssignmentId: assignmentId } = mend.fields;
    if (mend.allActions && mend.waits && typeof assignmentId === 'string') this.states.update(mend.index, { assignmentId });
    return numbered;
  }

  /** Merges the changes of all mends that are applied, or wait for the turn of their action. */
  asked(index: number): Fields | null {
    const heard = this.#heard.get(index) ?? [];
    const { state, mends = [] } = this.states.of(index);
    const waiting = heard.filter(({ waits, number }) => waits && !mends.includes(number) && !hasEnded(state));
    return waiting.length + mends.length > 0
      ? Object.assign(this.changesTo(index), ...waiting.map(({ fields }) => fields))
      : null;
  }

  /** Merges the changes of all applied mends. @param last - a further mend, which is not applied yet. */
  changesTo(index: number, last?: NumberedMend): Fields {
    return changesOf(this.#heard.get(index) ?? [], this.states.of(index), last);
  }

  /** Applies the mend. If the mend is refused, writes the reason into the status. @returns whether the mend was applied. */
  async take(mend: NumberedMend): Promise<boolean> {
    const { states } = this;
    const { index, fields, by = 'hand', at } = mend;
    const before = states.of(index);
    const read = editRefusal(mend, before) ?? (await this.#read(index, this.changesTo(index, mend)));
    if (states.of(index).mends !== before.mends) return this.take(mend); // Another mend was applied during the read.
    if (typeof read === 'string') {
      states.ignore(cutShort(`mend [${index}]: ${read}`, 500));
      this.#heard.set(index, this.#heard.get(index)?.filter(({ number }) => number !== mend.number) ?? []);
      return false;
    }
    this.actions.set(index, read);
    states.update(index, afterEdit(states.of(index), mend, read));
    const isShown = states.of(index).steered?.some((one) => one.verb === 'mend' && one.at === at);
    if (!isShown) states.steer(index, by, 'mend', Object.keys(fields), at);
    return true;
  }

  /** @returns the due time in Unix milliseconds if the mend set a delay that is not over, otherwise 0. */
  dueAfter({ index, fields }: Mend): number {
    const action = this.actions.get(index);
    const due = action?.delaySeconds && 'delayInSeconds' in fields ? dueAt(this.states.chain, action) : 0;
    return due > this.engine.now ? due : 0;
  }

  /** @returns the action with all its mends, including the mends that a closed `DelayedAction` applied. */
  async current(action: ChainAction): Promise<ChainAction> {
    const { index } = action;
    const read = this.actions.get(index) ?? (await this.#read(index, this.changesTo(index)));
    if (typeof read === 'string') return { ...action, invalidData: `the edited action cannot be read: ${read}` };
    this.actions.set(index, read);
    return read;
  }

  /** @returns the action with these changes, or a text with the problems. */
  async #read(index: number, changes: Fields): Promise<ChainAction | string> {
    const action = this.states.chain.actions.find((action) => action.index === index);
    if (!action) return 'there is no such action';
    const summary = summaryOf([action], 'reads the edited action');
    try {
      const read = await this.engine.local(summary, ({ mendAction }) => mendAction({ action, changes }), 2);
      return 'problems' in read ? problemsText(read.problems) : editedAction(action, read.mended, read.same);
    } catch (error) {
      return readFailure(error).failure.message;
    }
  }
}
