/** The fields of one action: its delay, its condition, and what it does. */

import { useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { conditionOf, fieldsOfCondition } from '../../chain/comparisons.js';
import { delayText, miles, readDuration, storedDelay, wholeDuration } from '../../chain/durations.js';
import { type Fields, fieldText } from '../../chain/fields.js';
import { mailHtml } from '../../chain/mail-html.js';
import { filledWords, groupsOf } from '../../chain/sentences.js';
import { Area, Button, Fold, Suggested } from '../ui/index.js';
import { fieldHints, fieldLabel } from '../words.js';
import { ConditionRows } from './condition-rows.js';
import { type Remark, saidAt, useKnowledge } from './knowledge.js';

interface StepFieldsProps {
  fields: Fields;
  /** The pointer to the action. */
  at: string;
  problems: readonly Remark[];
  hints: readonly Remark[];
  /** @param name - the field that has changed. */
  onChange(fields: Fields, name: string): void;
}

const seldomFields = ['platformAssignmentId', 'comment', 'cfTargetDateFormat'];
/** Fields that have their own place on the card. */
const shownApart = ['delayInSeconds', 'actionCondition', 'incomingValue', 'groupId', 'bodyHtml'];

const oldHtml = 'The HTML version of the text still has the old text. Most recipients see that text, not the new one.';
const usualDelays = [300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400].map(wholeDuration);

export function StepFields({ fields, at, problems, hints, onChange }: StepFieldsProps) {
  const { composer, draft, names, way } = useKnowledge();
  const problemOf = (...names: string[]) => saidAt(problems, ...names.map((name) => `${at}/${name}`));
  const hintOf = (name: string, subject: string) =>
    saidAt(hints, `${at}/${name}`).replaceAll(/(^|; )(?=(?:is|has|must) )/g, `$1${subject} `);
  const notesOf = (name: string) => hintOf(name, 'this field').replace(/(.+)/, 'Note: $1.');
  const definition = composer.actions.find(({ name }) => name === fieldText(fields.action));
  const shown = (definition?.fields ?? []).filter(({ name }) => !shownApart.includes(name));
  const [seldom, usual] = [true, false].map((isSeldom) => shown.filter(({ name }) => seldomFields.includes(name) === isSeldom));
  const condition = conditionOf(fields);
  const asksIncoming = fields.incomingValue !== undefined || condition.rows.some(({ of }) => of === 'incomingValue');
  const isOld = useSignal(false); // whether the HTML of the e-mail is older than its text
  const change = (name: string, value: unknown) => {
    if (/^body/.test(name)) isOld.value = name === 'body';
    onChange({ ...fields, [name]: value }, name);
  };
  const input = (name: string, hint = fieldHints[name]) => ({
    ...{ name, label: fieldLabel(name) },
    hint: [hint, filledWords(fieldText(fields[name])), notesOf(name)].filter(Boolean).join(' '),
    problem: problemOf(name),
    value: fieldText(fields[name]),
    autocomplete: 'off',
    onText: (text: string) => change(name, text),
  });
  const delay = input('delayInSeconds', 'Time after the event, such as 30 minutes, 1 h or 2 days. Empty: no waiting time.');
  const { error: noDelay } = /^\d*$|\$\{/.test(delay.value) ? {} : readDuration(delay.value);
  if (noDelay) delay.problem = `This field ${noDelay}`;
  const groups = [...new Set([...names.groups, ...draft.cards.flatMap((card) => groupsOf(card.fields))])];
  const offers: Record<string, readonly string[]> = { sendToGroups: groups, cfName: names.fields, sendRadius: ['5', '25', '50'] };
  const editor = ({ name, description, isList }: (typeof shown)[number]) => {
    const field = input(name, fieldHints[name] ?? description);
    if (name === 'body') {
      const { bodyHtml, ...others } = fields;
      const isWritten = bodyHtml !== undefined;
      const html = isWritten ? others : { ...fields, bodyHtml: mailHtml(field.value) };
      return (
        <Fragment key={name}>
          <Area {...field} problem={isWritten ? field.problem : problemOf('body', 'bodyHtml')} rows={3} />
          {isWritten && <Area {...input('bodyHtml')} rows={3} spellcheck={false} />}
          {isWritten && isOld.value && bodyHtml !== mailHtml(field.value) && <p class="note wait small">{oldHtml}</p>}
          <p>
            <Button class="quiet" onClick={() => onChange(html, '')}>
              {isWritten ? 'Copy “Text” into the HTML version' : 'Advanced: write the e-mail in HTML'}
            </Button>
          </p>
        </Fragment>
      );
    }
    if (isList) {
      const onText = (text: string) => change(name, text.split(/[\n,] */));
      return (
        <Area key={name} {...field} hint={`${field.hint} One address per line.`} rows={2} onText={onText} spellcheck={false} />
      );
    }
    if (name !== 'sendToGroups' || fields.groupId === undefined)
      return <Measured key={name} {...field} offers={offers[name]} toStored={name === 'sendRadius' ? miles : undefined} />;
    // The card shows `groupId` and `sendToGroups` as one field.
    const { groupId: _, ...others } = fields;
    const onText = (text: string) => onChange({ ...others, [name]: text }, name);
    const both = { offers: groups, problem: problemOf(name, 'groupId'), value: groupsOf(fields).join(', ') };
    return <Measured key={name} {...{ ...field, ...both, onText }} />;
  };
  return (
    <>
      <fieldset>
        <legend>When</legend>
        <Measured {...{ ...delay, toStored: storedDelay, toShown: delayText, offers: usualDelays }} />
      </fieldset>
      <fieldset>
        <legend>Only if</legend>
        <div class="whole">
          <ConditionRows
            condition={condition}
            textOf={(condition) => JSON.stringify(fieldsOfCondition(condition))}
            subjects={way === 'event' ? ['assignment', 'event'] : ['assignment', 'incomingValue']}
            problem={[problemOf('actionCondition', 'if'), hintOf('actionCondition', 'The condition')].filter(Boolean).join('. ')}
            onChange={(next) => {
              const { actionCondition: _condition, if: _if, ...others } = fields;
              onChange({ ...others, ...fieldsOfCondition(next) }, 'condition');
            }}
          />
        </div>
        {asksIncoming && <Measured {...input('incomingValue')} />}
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
  offers?: readonly string[] | undefined;
  toStored?: ((text: string) => string) | undefined;
  toShown?(stored: string): string;
}

const asIs = (text: string) => text;

/** A field with a unit. While a person types, the field shows the typed text, such as `30 min`, and not the stored `1800`. */
function Measured({ value, offers = [], onText, toStored = asIs, toShown = asIs, ...field }: MeasuredProps) {
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
