/** The card of one action: a sentence that unfolds to its fields. */

import { useSignal } from '@preact/signals';
import { announce } from '../frame.js';
import { Button } from '../ui/buttons.js';
import { counted, fieldWords, reminderWords } from '../words.js';
import { type Card, type Fields, fieldText } from './draft.js';
import { type Remark, useKnowledge } from './knowledge.js';
import { Picker } from './picker.js';
import { sentenceOf } from './sentences.js';
import { StepFields } from './step-fields.js';

interface CardProps {
  card: Card;
  place: number;
  isOpen: boolean;
  onToggle(): void;
  /** @param about - the field that has changed. */
  onChange(fields: Fields, about: string): void;
  onAdd(fields: Fields): void;
  onMove(by: -1 | 1): void;
  onDuplicate(): void;
  onRemove(): void;
}

export const cardId = ({ key }: Card) => `step-${key}`;

type TextBox = HTMLInputElement | HTMLTextAreaElement;

/** Fields that the relay needs before the action runs, so that they cannot have values of the assignment. */
const earlyFields = ['platformAssignmentId', 'delayInSeconds', 'incomingValue', 'comment'];

export function ActionCard({ card, place, isOpen, onToggle, onChange, onAdd, onMove, onDuplicate, onRemove }: CardProps) {
  const { draft, isOutdated, ...known } = useKnowledge();
  const { fields } = card;
  /** Whether the card shows missing fields as mistakes. A new card shows these mistakes only after the user leaves the card. */
  const isLeft = useSignal(Object.keys(fields).length > 2);
  /** The last field in which the user typed or clicked. Tab does not count, because Tab also moves through other fields. */
  const lastBox = useSignal<TextBox | undefined>(undefined);
  const noteBox = ({ target }: Event) => {
    const isText = target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.name !== '');
    if (isText) lastBox.value = target;
  };
  const sentence = sentenceOf(fields);
  const shown = saidOf(known.problems, place).filter(({ detail }) => isLeft.value || !detail.startsWith('is required'));
  const remarks = saidOf(known.hints, place);
  const detailsOf = (names: readonly string[], among: typeof shown) => [
    ...new Set(among.flatMap(({ field, detail }) => (names.includes(field) ? [detail] : []))),
  ];
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
  const isElsewhere = ({ field }: { field: string }) => !isOpen || !(field in fieldWords || field === 'if');
  const lastName = lastBox.value?.name ?? '';
  return (
    <article
      id={cardId(card)}
      tabIndex={-1}
      class="card step"
      aria-label={`Step ${place + 1}: ${sentence}`}
      onKeyDown={keys}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) isLeft.value = true;
      }}
      onInput={noteBox}
      onClick={noteBox}
    >
      <h3>
        <button type="button" class="sentence" aria-expanded={isOpen} onClick={onToggle}>
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> <span>{sentence}</span>
        </button>
      </h3>
      {fieldText(fields.comment) && !isOpen && <p class="soft small">{fieldText(fields.comment)}</p>}
      {!isOpen && shown.length > 0 && <p class="error small">{counted(shown.length, 'mistake')}: open the step to correct it.</p>}
      {isOpen &&
        shown.filter(isElsewhere).map(({ field, detail }) => (
          <p key={field + detail} class="error small">
            {field} {detail}.
          </p>
        ))}
      {remarks
        .filter((remark) => isElsewhere(remark) && (isOpen || remark.add))
        .map(({ field, detail, add }) => (
          <p key={field + detail} class="note wait small">
            {add ? reminderWords : `This step ${detail}.`}{' '}
            {add && (
              <Button aria-disabled={isOutdated} onClick={() => addRemedy(add)}>
                Add the reminder e-mail
              </Button>
            )}
          </p>
        ))}
      {isOpen && (
        <>
          <StepFields
            fields={fields}
            problemOf={(...names) => detailsOf(names, shown).join('; ')}
            notesOf={(name) =>
              detailsOf([name], remarks)
                .map((detail) => `Note: ${detail}.`)
                .join(' ')
            }
            onChange={onChange}
          />
          <p class="row">
            <Picker into={fieldWords[lastName]} isLate={!earlyFields.includes(lastName)} onInsert={insert} />
            <Button aria-disabled={place === 0} onClick={() => onMove(-1)}>
              Move up<span class="unseen"> step {place + 1}</span>
            </Button>
            <Button aria-disabled={place === draft.cards.length - 1} onClick={() => onMove(1)}>
              Move down<span class="unseen"> step {place + 1}</span>
            </Button>
            <Button onClick={onDuplicate}>
              Duplicate<span class="unseen"> step {place + 1}</span>
            </Button>
            <Button class="danger" onClick={onRemove}>
              Remove<span class="unseen"> step {place + 1}</span>
            </Button>
          </p>
        </>
      )}
    </article>
  );
}

/** The remarks about a step, with its field. `field` is '' if the remark is about the whole step. */
function saidOf(remarks: readonly Remark[], place: number) {
  return remarks.flatMap(({ pointer, ...said }) => {
    const [, part, index, field = ''] = pointer.split('/');
    return part === 'actions' && index === String(place) ? [{ field, ...said }] : [];
  });
}
