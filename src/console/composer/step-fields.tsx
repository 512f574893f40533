/** The fields of one action: its delay, its condition, and what it does. */

import { useSignal } from '@preact/signals';
import { Button } from '../ui/buttons.js';
import { Area, Entry, Suggested } from '../ui/fields.js';
import { Fold } from '../ui/known.js';
import { fieldHints, fieldWords } from '../words.js';
import { ConditionRows } from './condition-rows.js';
import { type Condition, conditionOf, fieldsOfCondition } from './conditions.js';
import { type Fields, fieldText } from './draft.js';
import { delayText, miles, readDuration, storedDelay, wholeDuration } from './durations.js';
import { useKnowledge } from './knowledge.js';
import { mailHtml } from './mail-html.js';
import { groupsOf } from './sentences.js';

export interface StepFieldsProps {
  fields: Fields;
  /** The mistakes of a field and of the fields that the page shows with it. */
  problemOf(...names: string[]): string;
  /** The remarks about a field. */
  notesOf(name: string): string;
  /** @param name - the field that has changed. */
  onChange(fields: Fields, name: string): void;
}

/** Fields that most steps leave as they are. */
const seldomFields = ['platformAssignmentId', 'comment', 'cfTargetDateFormat'];
/** Fields that have their own place on the card. */
const shownApart = ['delayInSeconds', 'actionCondition', 'incomingValue', 'groupId', 'bodyHtml'];

const usualDelays = [300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400].map(wholeDuration);

export function StepFields({ fields, problemOf, notesOf, onChange }: StepFieldsProps) {
  const { composer, draft, names, way } = useKnowledge();
  const definition = composer.actions.find(({ name }) => name === fieldText(fields.action));
  const [seldom, usual] = [true, false].map((isSeldom) =>
    (definition?.fields ?? []).filter(({ name }) => !shownApart.includes(name) && seldomFields.includes(name) === isSeldom),
  );
  const condition = conditionOf(fields);
  const asksIncoming = fields.incomingValue !== undefined || condition.rows.some(({ of }) => of === 'incomingValue');
  /** Changes a field, and removes others. */
  const change = (name: string, value: unknown, ...removed: string[]) =>
    onChange(Object.fromEntries(Object.entries({ ...fields, [name]: value }).filter(([one]) => !removed.includes(one))), name);
  const input = (name: string, hint = fieldHints[name]) => ({
    label: fieldWords[name] ?? name,
    name,
    hint: [hint, notesOf(name)].filter(Boolean).join(' '),
    problem: problemOf(name),
    value: fieldText(fields[name]),
    autocomplete: 'off',
    spellcheck: false,
    onText: (text: string) => change(name, text),
  });
  const delay = input('delayInSeconds', 'For example 30 minutes, 1 h or 2 days. Empty: immediately.');
  const { error: noDelay } = /^\d*$|\$\{/.test(delay.value) ? {} : readDuration(delay.value);
  const editor = ({ name, description, isList }: (typeof composer.actions)[number]['fields'][number]) => {
    const field = input(name, fieldHints[name] ?? description);
    if (name === 'sendToGroups') {
      // Both fields of groups are one field here.
      const value = fields.groupId === undefined ? field.value : groupsOf(fields).join(', ');
      const groups = new Set([...names.groups, ...draft.cards.flatMap((card) => groupsOf(card.fields))]);
      const onText = (text: string) => change(name, text, 'groupId');
      return (
        <Suggested
          key={name}
          {...field}
          {...{ value, onText }}
          problem={problemOf(name, 'groupId')}
          offers={[...groups].map((group) => [group] as const)}
        />
      );
    }
    if (name === 'cfName') return <Suggested key={name} {...field} offers={names.fields.map((one) => [one] as const)} />;
    if (name === 'sendRadius') return <Measured key={name} {...field} toStored={miles} offers={['5', '25', '50']} />;
    if (name === 'body')
      return <MailText key={name} {...{ fields, problemOf, onChange }} text={field} html={input('bodyHtml')} />;
    if (!isList) return <Entry key={name} {...field} />;
    const onText = (text: string) => change(name, text.split(/[\n,] */));
    return <Area key={name} {...field} hint={`${field.hint} Write one per line.`} rows={2} onText={onText} />;
  };
  return (
    <>
      <fieldset>
        <legend>When</legend>
        <Measured
          {...delay}
          problem={noDelay ? `This ${noDelay}` : delay.problem}
          toStored={storedDelay}
          toShown={delayText}
          offers={usualDelays}
        />
      </fieldset>
      <fieldset>
        <legend>Only if</legend>
        <div class="whole">
          <ConditionRows
            condition={condition}
            isSame={(one, other) => JSON.stringify(fieldsOfCondition(one)) === JSON.stringify(fieldsOfCondition(other))}
            subjects={way === 'event' ? ['assignment', 'event'] : ['assignment', 'incomingValue']}
            problem={[problemOf('actionCondition', 'if'), notesOf('actionCondition')]
              .filter(Boolean)
              .join('. ')
              .replace(/\.$/, '')}
            onChange={(next: Condition) => {
              const { actionCondition: _condition, if: _if, ...others } = fields;
              onChange({ ...others, ...fieldsOfCondition(next) }, 'condition');
            }}
          />
        </div>
        {asksIncoming && <Entry {...input('incomingValue')} />}
      </fieldset>
      <fieldset>
        <legend>Do</legend>
        {usual?.map(editor)}
        <Fold summary="More" look="small" isNeeded={seldomFields.some((name) => problemOf(name) !== '')}>
          {seldom?.map(editor)}
        </Fold>
      </fieldset>
    </>
  );
}

interface MeasuredProps extends Omit<Parameters<typeof Suggested>[0], 'onBlur' | 'offers'> {
  offers: readonly string[];
  toStored(text: string): string;
  toShown?(stored: string): string;
}

/** A field with a unit. While a person types, the field shows the typed text, such as `30 min`, and not the stored `1800`. */
function Measured({ value, offers, onText, toStored, toShown = (stored) => stored, ...field }: MeasuredProps) {
  const typed = useSignal<string | undefined>(undefined);
  const isTyped = typed.value !== undefined && toStored(typed.value) === value;
  return (
    <Suggested
      {...field}
      offers={offers.map((one) => [one] as const)}
      value={isTyped ? (typed.value ?? '') : toShown(value)}
      onText={(text) => {
        typed.value = text;
        onText(toStored(text));
      }}
      onBlur={() => (typed.value = undefined)}
    />
  );
}

interface MailTextProps extends Pick<StepFieldsProps, 'fields' | 'problemOf' | 'onChange'> {
  text: Parameters<typeof Area>[0];
  html: Parameters<typeof Area>[0];
}

/** The text of a mail. Its HTML is made from the text, until somebody writes the HTML. */
function MailText({ fields, problemOf, onChange, text, html }: MailTextProps) {
  const { bodyHtml, ...others } = fields;
  const isWritten = bodyHtml !== undefined;
  return (
    <>
      <Area {...text} problem={isWritten ? text.problem : problemOf('body', 'bodyHtml')} rows={3} spellcheck />
      {isWritten && <Area {...html} rows={3} />}
      <p>
        {isWritten ? (
          <Button onClick={() => onChange(others, '')}>Make the HTML from the text again</Button>
        ) : (
          <Button class="quiet" onClick={() => onChange({ ...fields, bodyHtml: mailHtml(fieldText(fields.body)) }, '')}>
            Write the HTML myself
          </Button>
        )}
      </p>
    </>
  );
}
