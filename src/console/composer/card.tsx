/** The card of one action: a sentence that unfolds to its fields. */

import { type Signal, useSignal } from '@preact/signals';
import { propertyOf } from '../../chain/condition.js';
import { type Fields, fieldText } from '../../chain/fields.js';
import { sentenceOf } from '../../chain/sentences.js';
import { announce } from '../base.js';
import { Button, Mistakes, Suggested } from '../ui/index.js';
import { counted, fieldWords, labelled, mistakeText, reminderWords } from '../words.js';
import type { Card } from './draft.js';
import { type Remark, useKnowledge } from './knowledge.js';
import { offersOf, valueWords } from './places.js';
import { StepFields } from './step-fields.js';

interface CardProps {
  card: Card;
  place: number;
  /** The key of the card that is unfolded. */
  open: Signal<number | undefined>;
  /** @param about - the field that has changed. */
  onChange(fields: Fields, about: string): void;
  onAdd(fields: Fields): void;
  onMove(by: -1 | 1): void;
  onDuplicate(): void;
  onRemove(): void;
}

export const cardId = ({ key }: Card) => `step-${key}`;

/** Fields that cannot have values of the assignment, because the relay needs them before it reads the assignment. */
const earlyFields = ['platformAssignmentId', 'delayInSeconds', 'incomingValue', 'comment'];

export function ActionCard({ card, place, open, onChange, onAdd, onMove, onDuplicate, onRemove }: CardProps) {
  const { draft, isOutdated, ...known } = useKnowledge();
  const { key, fields } = card;
  const isOpen = open.value === key;
  const toggle = (opens: boolean) => (open.value = opens ? key : open.value === key ? undefined : open.value);
  /** Whether the card shows missing fields as mistakes. A new card shows these mistakes only after the user leaves the card. */
  const isLeft = useSignal(Object.keys(fields).length > 2);
  /** The last text field in which the user typed or clicked. Tab does not count, because Tab also moves through other fields. */
  const lastBox = useSignal<HTMLInputElement | HTMLTextAreaElement | undefined>(undefined);
  const noteBox = ({ target }: Event) => {
    const isText = target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.name in fieldWords);
    if (isText) lastBox.value = target;
  };
  const sentence = sentenceOf(fields);
  const own = (remarks: readonly Remark[]) => remarks.filter(({ pointer }) => `${pointer}/`.startsWith(`/actions/${place}/`));
  const problems = own(known.problems).filter(({ detail }) => isLeft.value || !detail.startsWith('is required'));
  const hints = own(known.hints);
  const fieldOf = ({ pointer }: Remark) => pointer.split('/')[3] ?? '';
  // The API computes the delay of the added action from the other actions, so the checked draft must be the current draft.
  const addRemedy = (fields: Fields) =>
    isOutdated ? announce('Your last change is not checked yet. Try again in a moment') : onAdd(fields);
  const keys = (event: KeyboardEvent) => {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    onMove(event.key === 'ArrowUp' ? -1 : 1);
  };
  const insert = (name: string) => {
    const box = lastBox.value;
    if (!box?.isConnected) return;
    box.focus();
    box.setRangeText(`\${${name.replace(/<.*>/, '')}}`, box.selectionStart ?? 0, box.selectionEnd ?? 0, 'end');
    box.dispatchEvent(new Event('input', { bubbles: true }));
    // The user must still type the id of a custom field, so the cursor goes before the closing bracket.
    if (name.endsWith('>')) box.setSelectionRange((box.selectionEnd ?? 1) - 1, (box.selectionEnd ?? 1) - 1);
  };
  /** On an open card, most fields show their own remarks. The card shows all other remarks. */
  const isShownHere = (remark: Remark) => !isOpen || !(fieldOf(remark) in fieldWords || fieldOf(remark) === 'if');
  const lastName = lastBox.value?.name ?? '';
  const verbs: [words: string, run: () => void, isOff?: boolean][] = [
    ['Move up', () => onMove(-1), place === 0],
    ['Move down', () => onMove(1), place === draft.cards.length - 1],
    ['Duplicate', onDuplicate],
    ['Remove', onRemove],
  ];
  return (
    <article
      {...{ id: cardId(card), tabIndex: -1, class: 'card step', 'aria-label': `Step ${place + 1}: ${sentence}` }}
      {...{ onKeyDown: keys, onInput: noteBox, onClick: noteBox }}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        isLeft.value ||= !(relatedTarget instanceof Node && currentTarget.contains(relatedTarget));
      }}
    >
      <details open={isOpen} onToggle={({ currentTarget }) => toggle(currentTarget.open)}>
        <summary>{sentence}</summary>
        {isOpen && (
          <>
            <Mistakes of={problems.filter(isShownHere)} look="plain error small" words={mistakeText} />
            <StepFields fields={fields} at={`/actions/${place}`} problems={problems} hints={hints} onChange={onChange} />
            <InsertValue into={fieldWords[lastName]} isLate={!earlyFields.includes(lastName)} onInsert={insert} />
            <p class="row">
              {verbs.map(([words, run, isOff]) => (
                <Button key={words} class={words === 'Remove' ? 'danger' : ''} aria-disabled={isOff} onClick={run}>
                  {words}
                  <span class="unseen"> step {place + 1}</span>
                </Button>
              ))}
            </p>
          </>
        )}
      </details>
      {!isOpen && fieldText(fields.comment) && <p class="soft small">{fieldText(fields.comment)}</p>}
      {!isOpen && problems.length > 0 && <p class="error small">{counted(problems.length, 'mistake')}. Open the step.</p>}
      {hints
        .filter((hint) => isShownHere(hint) && (isOpen || hint.add))
        .map(({ pointer, detail, add }) => (
          <p key={pointer + detail} class="note wait small">
            {add ? reminderWords : `This step ${labelled(detail)}.`}{' '}
            {add && <Button {...{ 'aria-disabled': isOutdated, onClick: () => addRemedy(add) }}>Add the reminder e-mail</Button>}
          </p>
        ))}
    </article>
  );
}

type PickerProps = Pick<Parameters<typeof Suggested>[0], 'label' | 'hint' | 'offers' | 'name'> & { onPick(value: string): void };

/** A text field that takes one of the suggested values, and then is empty again. */
export function Picker({ offers, onPick, ...field }: PickerProps) {
  const typed = useSignal('');
  const take = (text: string) => {
    const matching = offers.filter(([value]) => value.startsWith(text));
    // If a longer value begins with this text, the user may still be typing. Then only a choice from the list is taken.
    const isFromList = Math.abs(text.length - typed.value.length) > 1;
    const isTaken = matching.some(([value]) => value === text) && (matching.length === 1 || isFromList);
    typed.value = isTaken ? '' : text;
    if (isTaken) onPick(text);
  };
  return <Suggested {...field} offers={offers} value={typed.value} onText={take} />;
}

/** @param into - the label of the field that gets the value. @param isLate - whether it takes values of the assignment. */
function InsertValue({ into, isLate, onInsert }: { into: string | undefined; isLate: boolean; onInsert(name: string): void }) {
  const { way, seen, composer, draft } = useKnowledge();
  const [event = {}] = seen.event;
  const [assignment = {}] = seen.assignment;
  const ofList = composer.variables.map(({ name, description, sample }) => [name, `${description}: ${sample}`] as const);
  const wordsOf = ({ path }: { path: string }) => valueWords(propertyOf(event, path) ?? path);
  const variables = Object.entries(draft.variables).map(([name, one]) => [name, wordsOf(one)] as const);
  const places = [...offersOf(event, 'event.'), ...(isLate ? offersOf(assignment, 'assignment.') : [])];
  const isBlind = way === 'event' && seen.event.length === 0;
  if (!into) return <p class="soft small">Click in a box above. Then you can insert a value of the event.</p>;
  return (
    <Picker
      {...{ label: 'Insert a value', name: 'insert', onPick: onInsert }}
      hint={`The value goes into the field “${into}”, at the cursor.${isBlind ? ' To see values of an event, open “Values from the event”, and paste an example event there.' : ''}`}
      offers={way === 'list' ? ofList : [...variables, ...places]}
    />
  );
}
