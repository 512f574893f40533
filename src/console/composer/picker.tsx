/** Inserts a value of the event, of the assignment, or of a variable into a text, at the cursor. */

import { useSignal } from '@preact/signals';
import { propertyOf } from '../../chain/condition.js';
import { Suggested } from '../ui/index.js';
import { useKnowledge } from './knowledge.js';
import { offersOf, valueWords } from './places.js';

interface PickerProps extends Pick<Parameters<typeof Suggested>[0], 'label' | 'hint' | 'offers' | 'name'> {
  onPick(value: string): void;
}

/** A text field that takes one of the suggested values, and then is empty again. */
export function Picker({ offers, onPick, ...field }: PickerProps) {
  const typed = useSignal('');
  const take = (text: string) => {
    const matching = offers.filter(([value]) => value.startsWith(text));
    // A value that begins another value is taken only from the list.
    const isFromList = Math.abs(text.length - typed.value.length) > 1;
    const isTaken = matching.some(([value]) => value === text) && (matching.length === 1 || isFromList);
    typed.value = isTaken ? '' : text;
    if (isTaken) onPick(text);
  };
  return <Suggested {...field} offers={offers} value={typed.value} onText={take} />;
}

interface InsertProps {
  /** The label of the field that gets the value. */
  into: string | undefined;
  /** Whether the field can have values of the assignment. */
  isLate: boolean;
  onInsert(name: string): void;
}

export function InsertValue({ into, isLate, onInsert }: InsertProps) {
  const { way, seen, composer, draft } = useKnowledge();
  const [event = {}] = seen.event;
  const [assignment = {}] = seen.assignment;
  const ofList = composer.variables.map(({ name, description, sample }) => [name, `${description}: ${sample}`] as const);
  const variables = Object.entries(draft.variables).map(
    ([name, { path }]) => [name, valueWords(propertyOf(event, path) ?? path)] as const,
  );
  const places = [...offersOf(event, 'event.'), ...(isLate ? offersOf(assignment, 'assignment.') : [])];
  const isBlind = way === 'event' && seen.event.length === 0;
  if (!into) return <p class="soft small">To insert a value, click the text that needs it.</p>;
  return (
    <Picker
      label="Insert a value"
      hint={`It goes into “${into}”, at the cursor.${isBlind ? ' To see values of an event, paste an example above.' : ''}`}
      name="insert"
      offers={way === 'list' ? ofList : [...variables, ...places]}
      onPick={onInsert}
    />
  );
}
