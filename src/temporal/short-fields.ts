/** Adds the fields of each action to a chain, without long texts, so that a page can say what each action does. */

import type { Client } from '@temporalio/client';
import { type Fields, fixedFields } from '../chain/fields.js';
import { fieldsOf } from '../chain/sent.js';
import { cutShort } from '../chain/text.js';
import type { ChainResource } from '../contract/chain-resource.js';
import { readAccepted } from './mend.js';

/** The action has these fields in another form, or they are too long for a title. */
const leftOut = [...fixedFields, 'platformAssignmentId', 'comment', 'incomingValue', 'delayInSeconds', 'body', 'bodyHtml'];
const mostEntries = 10;
const mostKept = 1_000;

export class ShortFields {
  /** By workflow id, because the input of a chain never changes. The oldest is first. */
  readonly #kept = new Map<string, Promise<ReadonlyMap<number, Fields>>>();

  constructor(private readonly client: Client) {}

  /** An edited field is left out, because the input of the chain has its old value. */
  async addTo(chain: ChainResource): Promise<ChainResource> {
    const fields = await this.#of(chain);
    const actions = chain.actions.map((action) => {
      const edited = (action.steered ?? []).flatMap(({ fields = [] }) => fields);
      const shown = Object.entries(fields.get(action.index) ?? {}).filter(([name]) => !edited.includes(name));
      return shown.length > 0 ? { ...action, fields: Object.fromEntries(shown) } : action;
    });
    return { ...chain, actions };
  }

  #of({ workflowId }: ChainResource): Promise<ReadonlyMap<number, Fields>> {
    const known = this.#kept.get(workflowId);
    if (known) return known;
    const read = readAccepted(this.client, { workflowId }).then(
      (actions) => new Map(actions.map((action) => [action.index, shortened(fieldsOf(action))])),
      (): ReadonlyMap<number, Fields> => {
        this.#kept.delete(workflowId); // The states are more important, so the chain is shown without the fields.
        return new Map();
      },
    );
    this.#kept.set(workflowId, read);
    const [oldest] = this.#kept.size > mostKept ? this.#kept.keys() : [];
    if (oldest !== undefined) this.#kept.delete(oldest);
    return read;
  }
}

function shortened(fields: Fields): Fields {
  const short = (value: unknown) => (typeof value === 'string' ? cutShort(value) : value);
  const shown = Object.entries(fields).filter(([name]) => !leftOut.includes(name));
  return Object.fromEntries(
    shown.map(([name, value]) => [name, Array.isArray(value) ? value.slice(0, mostEntries).map(short) : short(value)]),
  );
}
