/** The steps of the draft as cards, with the buttons that add a step; or the draft as JSON. */

import { useSignal } from '@preact/signals';
import { delaySeconds } from '../../chain/durations.js';
import type { Fields } from '../../chain/fields.js';
import { placesOf } from '../../chain/places.js';
import { capital } from '../../chain/text.js';
import { announce } from '../base.js';
import { Button, JsonArea, Mistakes } from '../ui/index.js';
import { actionWords, jsonMistake } from '../words.js';
import { ActionCard, cardId } from './card.js';
import { type Card, contentsText, type Draft, draftOf, newCard, readContents, withoutTokens } from './draft.js';
import { useKnowledge } from './knowledge.js';
import { assignmentPlace } from './places.js';

export function Steps() {
  const { composer, draft, change, seen, way } = useKnowledge();
  const { cards } = draft;
  const open = useSignal<number | undefined>(undefined);
  /** Waits until the element is rendered. */
  const focusOn = (id: string) => setTimeout(() => document.getElementById(id)?.focus());
  /** Steps need the number of the assignment, so a rule for events gets a variable with this number. */
  const put = (next: readonly Card[], about = '') => {
    const path = assignmentPlace(placesOf(seen.event[0] ?? {})) ?? 'assignment.id';
    const given: Draft['variables'] = way === 'list' ? {} : { assignment_id: { path, missing: 'refuse' } };
    change({ ...draft, variables: { ...given, ...draft.variables }, cards: next }, about);
  };
  const insert = (place: number, fields: Fields, words: string) => {
    const card = newCard(fields);
    open.value = card.key;
    put(cards.toSpliced(place, 0, card));
    announce(words);
    focusOn(cardId(card));
  };
  const add = (fields: Fields) => insert(cards.length, fields, `Step ${cards.length + 1} added`);
  /** The owner's address is a variable of webhooks with a list. In a rule for events, the user types the address. */
  const addEmail = (fields: Fields) => add(way === 'list' || draft.variables.owner_email ? fields : { ...fields, emails: [] });
  const move = (card: Card, place: number, by: -1 | 1) => {
    const to = place + by;
    if (to < 0 || to >= cards.length) return announce(`This is already the ${by < 0 ? 'first' : 'last'} step`);
    const focused = document.activeElement;
    put(cards.toSpliced(place, 1).toSpliced(to, 0, card));
    announce(`Step ${place + 1} is now step ${to + 1}`);
    // A moved element loses the focus.
    setTimeout(() => focused instanceof HTMLElement && focused.focus());
  };
  const remove = (place: number) => {
    const left = cards.toSpliced(place, 1);
    const next = left[place] ?? left.at(-1);
    put(left);
    announce(`Step ${place + 1} removed`);
    focusOn(next ? cardId(next) : 'add');
  };
  return (
    <>
      <h2>Steps</h2>
      {cards.length === 0 && (
        <div class="card">
          <p>Add your first step, or start with an example:</p>
          <ul class="plain cards">
            {composer.examples.map(({ summary, elements }) => (
              <li key={summary}>
                <Button onClick={() => put(draftOf({ actions: elements }).cards)}>{summary}</Button>
              </li>
            ))}
          </ul>
        </div>
      )}
      {cards.map((card, place) => (
        <ActionCard
          {...{ card, place, open, onAdd: addEmail }}
          key={card.key}
          onChange={(fields, about) => put(cards.with(place, { ...card, fields }), about && `${card.key} ${about}`)}
          onMove={(by) => move(card, place, by)}
          onDuplicate={() => insert(place + 1, { ...card.fields }, `Duplicated as step ${place + 2}`)}
          onRemove={() => remove(place)}
        />
      ))}
      <div class="row" id="add" tabIndex={-1}>
        <span>Add a step:</span>
        {composer.actions.map(({ name, description }) => (
          <Button key={name} title={description} onClick={() => add(nextStep(name, cards))}>
            {capital(actionWords[name] ?? name)}
          </Button>
        ))}
      </div>
      {cards.length > 1 && <p class="keys soft small">Click a step, then press Alt+↑ or Alt+↓ to move it.</p>}
    </>
  );
}

const later = 1800; // seconds between two steps, until a person changes the delay

/** The fields of a new step. After a send, the next send or mail is usually for the case that nobody has accepted. */
function nextStep(action: string, cards: readonly Card[]): Fields {
  const fields = { action, platformAssignmentId: '${assignment_id}' };
  const sent = cards.findLast((card) => card.fields.action === 'platform_sendAssignment')?.fields;
  if (!sent || action === 'ticket_updateUDF') return fields;
  const last = Math.max(...cards.map((card) => delaySeconds(card.fields.delayInSeconds) ?? 0));
  const again = { ...fields, delayInSeconds: String(last + later), actionCondition: 'status==draft' };
  if (action !== 'platform_sendAssignment') return again;
  const { groupId, sendToGroups } = sent;
  return { ...again, ...(groupId !== undefined && { groupId }), ...(sendToGroups !== undefined && { sendToGroups }) };
}

/** @param onList - called if the text is a list of a webhook. */
export function JsonView({ onList }: { onList(): void }) {
  const { draft, problems, change } = useKnowledge();
  const stored = contentsText(draft, 2);
  const [typed, hadTokens] = [useSignal(stored), useSignal(false)];
  const { contents, error } = readContents(typed.value);
  // After an undo, the typed text is not the draft any more.
  const isStale = contents && contentsText(draftOf(contents), 2) !== stored;
  const take = (given: string) => {
    typed.value = withoutTokens(given);
    hadTokens.value ||= typed.value !== given;
    const { contents, isList } = readContents(typed.value);
    if (isList) onList();
    if (contents) change(draftOf(contents), 'json');
  };
  return (
    <>
      <JsonArea
        label="Rule as JSON"
        hint="You can paste the list of steps from a webhook here. If you change the JSON, the steps change, too."
        problem={error && `The text ${error}. The relay keeps your last correct text`}
        {...{ rows: 24, value: isStale ? stored : typed.value, onText: take }}
      />
      {hadTokens.value && <p class="note">The page removed the tokens, because a rule does not store tokens.</p>}
      {!error && <Mistakes of={problems} look="note bad" words={jsonMistake} />}
    </>
  );
}
