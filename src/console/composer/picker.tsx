/** Inserts a value of the event, of the assignment, or of a variable into a text, at the cursor. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../ui/buttons.js';
import { Dialog } from '../ui/dialog.js';
import { Entry } from '../ui/fields.js';
import { useKnowledge } from './knowledge.js';
import { placesOf, valueWords, variableName } from './places.js';

interface PickerProps {
  /** The label of the field that gets the value. */
  into: string | undefined;
  /** Whether the field can have values of the assignment. */
  isLate: boolean;
  onInsert(name: string): void;
}

interface Offer {
  name: string;
  words: string;
  value: string;
  /** Makes the name, if it does not exist yet. */
  make?(): string;
}

export function Picker({ into, isLate, onInsert }: PickerProps) {
  const isOpen = useSignal(false);
  const picked = useRef<string | undefined>(undefined);
  // The closed dialog gives the focus back before this effect runs. Then the text takes the focus.
  useEffect(() => {
    if (isOpen.value || picked.current === undefined) return;
    onInsert(picked.current);
    picked.current = undefined;
  }, [isOpen.value]);
  return (
    <>
      <Button onClick={() => (isOpen.value = true)}>Insert a value…</Button>
      {isOpen.value && (
        <Dialog title={into ? `Insert a value into “${into}”` : 'Insert a value'} onClose={() => (isOpen.value = false)}>
          {into ? (
            <Offers
              isLate={isLate}
              onPick={(name) => {
                picked.current = name;
                isOpen.value = false;
              }}
            />
          ) : (
            <p>Click the text that needs the value, then choose the value here.</p>
          )}
          <p class="row">
            <Button onClick={() => (isOpen.value = false)}>Back</Button>
          </p>
        </Dialog>
      )}
    </>
  );
}

const mostShown = 60;

function Offers({ isLate, onPick }: { isLate: boolean; onPick(name: string): void }) {
  const { way, events, assignment, composer, draft, change } = useKnowledge();
  const [sought, asVariable] = [useSignal(''), useSignal(false)];
  const [event] = events;
  const places = event && way === 'event' ? placesOf(event) : [];
  const define = (path: string) => {
    const known = Object.entries(draft.variables).find(([, variable]) => variable.path === path)?.[0];
    if (known) return known;
    const name = variableName(path, Object.keys(draft.variables));
    change({ ...draft, variables: { ...draft.variables, [name]: { path, missing: 'hold' } } });
    return name;
  };
  const offers: Offer[] =
    way === 'list'
      ? composer.variables.map(({ name, description, sample }) => ({ name, words: description, value: sample }))
      : [
          ...Object.entries(draft.variables).map(([name, { path }]) => ({
            name,
            words: name.replaceAll('_', ' '),
            value: valueWords(places.find((place) => place.path === path)?.value ?? path),
          })),
          ...places.map(({ path, value }) => ({
            name: `event.${path}`,
            words: `the event: ${path}`,
            value: valueWords(value),
            make: () => (asVariable.value ? define(path) : `event.${path}`),
          })),
          ...(isLate ? placesOf(assignment ?? { status: 'draft' }) : []).map(({ path, value }) => ({
            name: `assignment.${path}`,
            words: `the assignment, when the step runs: ${path}`,
            value: valueWords(value),
          })),
        ];
  const words = sought.value.toLowerCase();
  const shown = offers.filter(({ words: said, value }) => `${said} ${value}`.toLowerCase().includes(words));
  return (
    <>
      <Entry label="Search" of={sought} autocomplete="off" />
      {way === 'event' && (
        <p>
          <label class="row">
            <input
              type="checkbox"
              checked={asVariable.value}
              onChange={({ currentTarget }) => (asVariable.value = currentTarget.checked)}
            />
            Insert as a variable, so that you can say what happens if the value is missing
          </label>
        </p>
      )}
      {way === 'event' && !event && (
        <p class="note">No event has arrived yet. To see its values here, paste an example above the steps.</p>
      )}
      <ul class="plain offers">
        {shown.slice(0, mostShown).map(({ name, words, value, make }) => (
          <li key={name}>
            <button type="button" onClick={() => onPick(make?.() ?? name)}>
              <span>{words}</span> <span class="soft small">{value}</span>
            </button>
          </li>
        ))}
      </ul>
      {shown.length > mostShown && <p class="soft small">{shown.length - mostShown} more. Search to find them.</p>}
    </>
  );
}
