/** Publishes the statuses of a workflow's actions for the Web UI and lists. The rules for verbs are in chain/allowed-verbs.ts. */

import { log, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { Chain } from '../../chain/chain.js';
import { chainStatus } from '../../chain/outcome.js';
import { hasRoomForOwn, isFull } from '../../chain/room.js';
import { Statuses } from '../../chain/statuses.js';
import { currentDetails } from '../../chain/web-ui.js';
import type { ChainView } from '../../contract/messages.js';
import { standingOf, withAttentionSince } from '../../contract/search-attributes.js';
import type { Engine } from '../engine/engine.js';

export class ActionStates extends Statuses {
  /** In a delayed action, reports the ignored signal to the chain. */
  tellIgnored = (_signal: string) => {};
  /** The last published version of the statuses, and the last shown version. */
  #published = -1;
  #shown = -1;
  /** The values of the search attributes, each as JSON. */
  #searchable = standingOf(this.actions).map(({ value }) => JSON.stringify(value));

  constructor(
    chain: Chain,
    private readonly engine: Engine,
  ) {
    super(chain, () => engine.time());
  }

  /** Whether the history has no room for retries by people. */
  get isFull(): boolean {
    return isFull(this.engine.history, this.open);
  }

  get hasRoomForOwn(): boolean {
    return hasRoomForOwn(this.engine.history, this.open);
  }

  get view(): ChainView {
    const { actions, ignored, isFull } = this;
    const status = chainStatus(actions);
    return { status, actions, ...(ignored.length > 0 && { ignored }), ...(isFull && { historyFull: true }) };
  }

  override ignore(signal: string): void {
    super.ignore(signal);
    this.tellIgnored(signal);
  }

  publish(): void {
    if (this.#published === this.version) return;
    this.#published = this.version;
    const before = this.#searchable;
    const standing = standingOf(this.actions);
    this.#searchable = standing.map(({ value }) => JSON.stringify(value));
    const changed = standing.filter((_, place) => this.#searchable[place] !== before[place]);
    if (changed.length > 0) upsertSearchAttributes(withAttentionSince(changed, this.engine.now));
  }

  /** Updates the details in the Web UI. Issues no commands. */
  show(): void {
    if (this.#shown === this.version) return;
    this.#shown = this.version;
    const signals = this.ignores;
    this.ignores = 0;
    // Omits the texts of the signals, because they quote the request.
    if (signals > 0) log.warn('signals had no effect: the status of the chain has the reasons', { signals });
    setCurrentDetails(currentDetails(this.chain, this.actions, this.ignored));
  }
}
