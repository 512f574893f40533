/** Adds the short fields of the actions to a single chain. Adds only the next due action to a chain in a list. */

import type { Client } from '@temporalio/client';
import { type ChainAction, connectorsOf, dueAt, whilePaused } from '../chain/chain.js';
import { type Fields, fixedFields, mergeFields } from '../chain/fields.js';
import { hasEnded } from '../chain/outcome.js';
import { isOn, type Pause, pausesOf } from '../chain/pause.js';
import { fieldsOf } from '../chain/sent.js';
import { cutShort } from '../chain/text.js';
import type { ActionResource, ChainResource, ListedChain } from '../contract/chain-resource.js';
import { answerTimeoutMs, isEdited, readAccepted, readChanges } from './mend.js';

/** The action already has these fields in another form, or the fields are too long for a title. */
const leftOut = [...fixedFields, 'platformAssignmentId', 'comment', 'incomingValue', 'delayInSeconds', 'body', 'bodyHtml'];
const mostEntries = 10;
const mostKept = 1_000;

/** Remembers facts that never change. Forgets the oldest fact first. A failed reading gives undefined, and is not remembered. */
class Kept<Fact> {
  readonly #facts = new Map<string, Promise<Fact | undefined>>();

  of(key: string, read: () => Promise<Fact>): Promise<Fact | undefined> {
    const known = this.#facts.get(key);
    if (known) return known;
    const reading = read().catch(() => {
      this.#facts.delete(key);
      return undefined;
    });
    this.#facts.set(key, reading);
    const [oldest] = this.#facts.size > mostKept ? this.#facts.keys() : [];
    if (oldest !== undefined) this.#facts.delete(oldest);
    return reading;
  }
}

export class ShortFields {
  /** Facts from the input of a chain. The key is the workflow id. */
  readonly #accepted = new Kept<readonly Accepted[]>();
  readonly #changes = new Kept<Fields>();

  constructor(private readonly client: Client) {}

  /**
   * Adds the fields, with all edits. Moves the due times that fall into a current pause.
   * @param pauses - with their texts
   */
  async addTo(chain: ChainResource, pauses: readonly Pause[]): Promise<ChainResource> {
    const accepted = await this.#of(chain);
    const dueTimes = accepted.map(({ at, needs }) => ({ at: at(chain.receivedAt), needs }));
    const actions = chain.actions.map(async (action) => {
      const edited = (action.steered ?? []).flatMap(({ fields = [] }) => fields);
      const place = accepted.findIndex(({ index }) => index === action.index);
      const known = accepted[place];
      const changes = known && shortFields((await this.#changesOf(chain, action)) ?? {});
      // If the chain gives no answer, its input has the old values of edited fields.
      const old = Object.entries(known?.fields ?? {}).filter(([name]) => !edited.includes(name));
      const shown = mergeFields(Object.fromEntries(old), changes ?? {});
      const due = dueTimes[place];
      const whole = Object.keys(shown).length > 0 ? { ...action, fields: shown } : action;
      return { ...whole, ...(due && whilePaused(action, due, dueTimes, pauses)) };
    });
    return { ...chain, actions: await Promise.all(actions) };
  }

  /** Adds the next step of an open chain. Reads the chain only if a person or a pause can have moved a step. */
  async addToListed(
    chain: ListedChain,
    isSteered: boolean,
    pauses: readonly Pause[], // also ended pauses
    read: () => Promise<ChainResource | undefined>,
  ) {
    if (chain.closedAt !== undefined) return chain;
    const { receivedAt } = chain;
    const accepted = await this.#of(chain);
    const isIn = (pause: Pause, time: number) => Date.parse(pause.since) <= time && isOn(pause, time);
    const canMove = accepted.some(({ at, needs }) => pausesOf(pauses, needs).some((pause) => isIn(pause, at(receivedAt))));
    const whole = isSteered || canMove ? await read() : undefined;
    const current = pauses.filter((pause) => isOn(pause, Date.now()));
    const { actions = [] } = whole ? await this.addTo(whole, current) : {};
    const due = accepted.flatMap(({ at, needs, ...action }) => {
      const known = actions.find(({ index }) => index === action.index);
      const { state, pausedSince, fields = action.fields } = known ?? {};
      const runAt = known?.runAt ?? new Date(at(receivedAt)).toISOString();
      if (pausedSince) return { ...action, fields, at: pausesOf(current, needs)[0]?.until };
      return Date.parse(runAt) <= Date.now() || (state && hasEnded(state)) ? [] : { ...action, fields, at: runAt };
    });
    return { ...chain, next: due.sort((one, other) => ((one.at ?? '') < (other.at ?? '') ? -1 : 1))[0] };
  }

  /** The edits of an action. After an edit of several actions, each edit waits for the turn of its action. */
  async #changesOf({ workflowId, actions, partial }: ChainResource, { index, mends, state }: ActionResource) {
    if (partial || !isEdited(actions) || (!mends && hasEnded(state))) return undefined;
    const read = () => this.client.withDeadline(Date.now() + answerTimeoutMs, () => readChanges(this.client, workflowId, index));
    return this.#changes.of(
      JSON.stringify([workflowId, index, ...actions.map(({ mends, steered }) => [mends, steered?.length])]),
      read,
    );
  }

  async #of({ workflowId }: Pick<ChainResource, 'workflowId'>): Promise<readonly Accepted[]> {
    const read = async () => (await readAccepted(this.client, { workflowId })).map(shortened);
    return (await this.#accepted.of(workflowId, read)) ?? [];
  }
}

type Accepted = ReturnType<typeof shortened>;

function shortened(action: ChainAction) {
  const { index, action: name, comment } = action;
  const known = {
    index,
    action: name,
    comment,
    fields: shortFields(fieldsOf(action)),
    needs: connectorsOf(action),
  };
  return { ...known, at: (receivedAt: string) => dueAt({ receivedAt }, action) };
}

function shortFields(fields: Fields): Fields {
  const short = (value: unknown) => (typeof value === 'string' ? cutShort(value) : value);
  const shown = Object.entries(fields).filter(([name]) => !leftOut.includes(name));
  return Object.fromEntries(
    shown.map(([name, value]) => [name, Array.isArray(value) ? value.slice(0, mostEntries).map(short) : short(value)]),
  );
}
