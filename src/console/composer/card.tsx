/** The card of one action: when it runs, under which condition, and what it does. */

import { useSignal } from '@preact/signals';
import type { Composed, Composer } from '../../contract/dry-run.js';
import { announce } from '../frame.js';
import { Area, Button, Entry, FieldList, Said, Select } from '../parts.js';
import { durationText } from '../when.js';
import { actionWords, effectWords, fieldHints, fieldWords, forecastTone, forecastWords, reminderWords } from '../words.js';
import { type Card, delayOf, type Fields, fieldText } from './draft.js';

type Definition = Composer['actions'][number];
type Outcome = NonNullable<Composed['actions']>[number];
/** A problem, warning or hint about a field. `field` is '' if the remark is about the whole action. */
export interface Remark {
  field: string;
  detail: string;
  /** An action that solves the problem, such as a reminder e-mail if the assignment may reach no worker. */
  add?: Fields;
}

export interface CardProps {
  card: Card;
  place: number;
  count: number;
  composer: Composer;
  problems: readonly Remark[];
  remarks: readonly Remark[];
  /** Whether the problems and remarks are from an earlier draft. */
  isOutdated: boolean;
  /** An example of a timestamp in the chosen format, or the mistake in the format. */
  timestamp?: string;
  outcome?: Outcome;
  onChange(fields: Fields): void;
  onAdd(fields: Fields): void;
  onMove(by: -1 | 1): void;
  onDuplicate(): void;
  onRemove(): void;
}

export const cardId = ({ key }: Card) => `action-${key}`;

/** For example `2 sendEmails: tell the manager`, as on the page of a chain. */
export function cardTitle({ fields }: Card, place: number): string {
  const comment = fieldText(fields.comment);
  return `${place} ${fieldText(fields.action)}${comment ? `: ${comment}` : ''}`;
}

const whenFields = ['delayInSeconds'];
const ifFields = ['actionCondition', 'incomingValue'];
const longFields = ['body', 'bodyHtml'];

const usualDelaysId = 'usual-delays';

/** Suggests delays for all delay fields of the page. The values are in seconds, with labels such as `1 hour`. */
export function UsualDelays() {
  return (
    <datalist id={usualDelaysId}>
      {[60, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400].map((seconds) => (
        <option key={seconds} value={seconds} label={durationText(seconds)} />
      ))}
    </datalist>
  );
}

type TextBox = HTMLInputElement | HTMLTextAreaElement;

export function ActionCard({ card, place, count, composer, ...more }: CardProps) {
  const { problems, remarks, isOutdated, timestamp, outcome, onChange, onAdd, onMove, onDuplicate, onRemove } = more;
  const { fields } = card;
  /** Whether the card shows missing fields as mistakes. An empty card shows these mistakes only after the user leaves the card. */
  const isLeft = useSignal(Object.keys(fields).length > 2);
  /** The last field in which the user typed or clicked. Tab does not count, because Tab also moves through other fields. */
  const lastBox = useSignal<TextBox | undefined>(undefined);
  const noteBox = ({ target }: Event) => {
    if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) lastBox.value = target;
  };
  const action = fieldText(fields.action);
  const definition = composer.actions.find(({ name }) => name === action);
  const title = cardTitle(card, place);
  const shown = isLeft.value ? problems : problems.filter(({ detail }) => !detail.startsWith('is required'));
  const own = definition?.fields.map(({ name }) => name) ?? [];
  const isElsewhere = ({ field }: Remark) => !own.includes(field.split('/')[0] ?? '');
  const named = (names: readonly string[]) => definition?.fields.filter(({ name }) => names.includes(name)) ?? [];
  const rest = own.filter((name) => !whenFields.includes(name) && !ifFields.includes(name));
  const detailsOf = (name: string, among: readonly Remark[]) =>
    among.flatMap(({ field, detail }) => (field === name || field.startsWith(`${name}/`) ? [detail] : []));
  const hintOf = ({ name, description }: Definition['fields'][number]) => {
    const notes = detailsOf(name, remarks).map((detail) => `Note: ${detail}.`);
    const delay = name === 'delayInSeconds' ? delayOf(fields) : 0;
    if (typeof delay === 'number' && delay > 0) notes.unshift(`That is ${durationText(delay)}.`);
    if (name === 'cfTargetDateFormat' && timestamp) notes.unshift(timestamp);
    return [fieldHints[name] ?? description, ...notes].join(' ');
  };
  const editor = ({ name, description, required, isList }: Definition['fields'][number]) => {
    const change = (event: { currentTarget: TextBox }) => {
      const { value } = event.currentTarget;
      onChange({ ...fields, [name]: isList ? value.split('\n') : value });
    };
    const field = {
      label: `${fieldWords[name] ?? 'Field'} (${name}${required ? ', required' : ''})`,
      hint: hintOf({ name, description, required, isList }) + (isList ? ' Write one entry per line.' : ''),
      problem: detailsOf(name, shown).join('; '),
      name,
      value: fieldText(fields[name]),
      onInput: change,
      autocomplete: 'off',
    } as const;
    if (isList || longFields.includes(name)) return <Area key={name} {...field} rows={isList ? 2 : 3} />;
    return <Entry key={name} {...field} spellcheck={false} list={name === 'delayInSeconds' ? usualDelaysId : undefined} />;
  };
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
    box.setRangeText(`\${${name.replace(/<.*>/, '')}}`, box.selectionStart ?? 0, box.selectionEnd ?? 0, 'end');
    box.dispatchEvent(new Event('input', { bubbles: true }));
    box.focus();
    // The user must still type the id of a custom field, so the cursor goes before the closing bracket.
    if (name.endsWith('>')) box.setSelectionRange((box.selectionEnd ?? 1) - 1, (box.selectionEnd ?? 1) - 1);
  };
  return (
    <article
      id={cardId(card)}
      tabIndex={-1}
      class="card"
      aria-label={title}
      onKeyDown={keys}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) isLeft.value = true;
      }}
      onInput={noteBox}
      onClick={noteBox}
    >
      <h3>
        {title} {outcome && <span class={`badge ${forecastTone[outcome.outcome]}`}>{forecastWords(outcome.outcome)}</span>}
      </h3>
      {outcome && <OutcomeText of={outcome} />}
      {shown.filter(isElsewhere).map(({ field, detail }) => (
        <p key={field + detail} class="error small">
          <code>{field}</code> {detail}
        </p>
      ))}
      {remarks.filter(isElsewhere).map(({ field, detail, add }) => (
        <p key={field + detail} class="note wait small">
          {add ? (
            reminderWords
          ) : (
            <>
              {field ? <code>{field}</code> : 'This action'} {detail}.
            </>
          )}{' '}
          {add && (
            <Button aria-disabled={isOutdated} onClick={() => addRemedy(add)}>
              Add the reminder e-mail
            </Button>
          )}
        </p>
      ))}
      <fieldset>
        <legend>When</legend>
        {named(whenFields).map(editor)}
      </fieldset>
      <fieldset>
        <legend>If</legend>
        {named(ifFields).map(editor)}
      </fieldset>
      <fieldset>
        <legend>Do</legend>
        <Select
          label="Action (action)"
          hint={definition?.description}
          value={action}
          onPick={(action) => onChange({ ...fields, action })}
          options={[
            ...(definition ? [] : [[action, action] as const]),
            ...composer.actions.map(({ name }) => [name, `${actionWords[name] ?? 'An action'} (${name})`] as const),
          ]}
        />
        {named(rest).map(editor)}
      </fieldset>
      <details>
        <summary>Insert a variable of the webhook</summary>
        <p class="soft small">
          {lastBox.value
            ? `The variable goes into the field ${fieldWords[lastBox.value.name] ?? lastBox.value.name}, at the cursor.`
            : 'Click the field that needs the variable, then choose the variable here.'}
        </p>
        <p class="row">
          {composer.variables.map(({ name, description }) => (
            <Button key={name} title={description} onClick={() => insert(name)}>
              {`\${${name}}`}
            </Button>
          ))}
        </p>
      </details>
      <p class="row">
        <Button aria-disabled={place === 0} onClick={() => onMove(-1)}>
          Move up<span class="unseen"> {title}</span>
        </Button>
        <Button aria-disabled={place === count - 1} onClick={() => onMove(1)}>
          Move down<span class="unseen"> {title}</span>
        </Button>
        <Button onClick={onDuplicate}>
          Duplicate<span class="unseen"> {title}</span>
        </Button>
        <Button class="danger" onClick={onRemove}>
          Remove<span class="unseen"> {title}</span>
        </Button>
      </p>
    </article>
  );
}

function OutcomeText({ of }: { of: Outcome }) {
  const { reason, effect, paused, outcome, afterSeconds, attempts = 1, toldAfterSeconds } = of;
  const played = [
    afterSeconds !== undefined && `${afterSeconds === 0 ? 'immediately' : `after ${durationText(afterSeconds)}`}`,
    attempts > 1 && `tried ${attempts} times`,
    toldAfterSeconds !== undefined &&
      `people are alerted ${toldAfterSeconds === 0 ? 'immediately' : `after ${durationText(toldAfterSeconds)}`}`,
  ].filter(Boolean);
  const does = outcome === 'runs' && effect ? Object.entries(effect) : [];
  const named = does.map(([name, value]): [string, unknown] => [effectWords[name] ?? name, value]);
  return (
    <>
      {played.length > 0 && <p class="small">{played.join('; ')}</p>}
      {[reason, paused].map((text) => text && <Said key={text} look="reason small" text={text} />)}
      <FieldList fields={named} />
    </>
  );
}
