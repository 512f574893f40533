/** The fields of one action: its delay, its condition, and what it does. */

import { useSignal } from '@preact/signals';
import { Area, Button, Entry, Fold, Suggested } from '../parts.js';
import { fieldHints, fieldWords } from '../words.js';
import { ConditionRows } from './condition-rows.js';
import { type Condition, conditionOf, fieldsOfCondition } from './conditions.js';
import { type Fields, fieldText } from './draft.js';
import { delaySeconds, readDuration, wholeDuration } from './durations.js';
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

const usualDelays = [300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400].map((seconds) => [wholeDuration(seconds)] as const);

export function StepFields({ fields, problemOf, notesOf, onChange }: StepFieldsProps) {
  const { composer, way } = useKnowledge();
  const definition = composer.actions.find(({ name }) => name === fieldText(fields.action));
  const shownApart = ['delayInSeconds', 'actionCondition', 'incomingValue', 'groupId', 'bodyHtml'];
  const rest = (definition?.fields ?? []).filter(({ name }) => !shownApart.includes(name));
  const condition = conditionOf(fields);
  const asksIncoming = fields.incomingValue !== undefined || condition.rows.some(({ of }) => of === 'incomingValue');
  const changeCondition = (next: Condition) => {
    const { actionCondition: _condition, if: _if, ...others } = fields;
    onChange({ ...others, ...fieldsOfCondition(next) }, 'condition');
  };
  const input = (name: string, more: { hint?: string; required?: boolean } = {}) => ({
    label: fieldWords[name] ?? name,
    name,
    hint: [more.hint ?? fieldHints[name], notesOf(name)].filter(Boolean).join(' '),
    problem: problemOf(name),
    value: fieldText(fields[name]),
    autocomplete: 'off',
    spellcheck: false,
    onText: (text: string) => onChange({ ...fields, [name]: text }, name),
  });
  const editor = ({ name, description, required, isList }: (typeof rest)[number]) => {
    if (name === 'sendToGroups')
      return <Groups key={name} fields={fields} problem={problemOf('sendToGroups', 'groupId')} onChange={onChange} />;
    const field = input(name, { hint: fieldHints[name] ?? description, required });
    if (name === 'body') return <MailText key={name} {...{ fields, problemOf, onChange }} text={field} />;
    if (!isList) return <Entry key={name} {...field} />;
    const change = (text: string) => onChange({ ...fields, [name]: text.split(/[\n,] */) }, name);
    return <Area key={name} {...field} hint={`${field.hint} Write one per line.`} rows={2} onText={change} />;
  };
  return (
    <>
      <fieldset>
        <legend>When</legend>
        <Delay
          value={fields.delayInSeconds}
          problem={problemOf('delayInSeconds')}
          notes={notesOf('delayInSeconds')}
          onChange={(delayInSeconds) => onChange({ ...fields, delayInSeconds }, 'delayInSeconds')}
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
            onChange={changeCondition}
          />
        </div>
        {asksIncoming && <Entry {...input('incomingValue')} />}
      </fieldset>
      <fieldset>
        <legend>Do</legend>
        {rest.filter(({ name }) => !seldomFields.includes(name)).map(editor)}
        <Fold summary="More" look="small" isNeeded={seldomFields.some((name) => problemOf(name) !== '')}>
          {rest.filter(({ name }) => seldomFields.includes(name)).map(editor)}
        </Fold>
      </fieldset>
    </>
  );
}

interface DelayProps {
  value: unknown;
  problem: string;
  notes: string;
  onChange(seconds: string): void;
}

function Delay({ value, problem, notes, onChange }: DelayProps) {
  const typed = useSignal<string | undefined>(undefined);
  const stored = fieldText(value);
  const seconds = delaySeconds(value);
  const usual = seconds === undefined ? stored : seconds === 0 ? '' : wholeDuration(seconds);
  const toStored = (text: string) => {
    const { seconds } = readDuration(text);
    return seconds === undefined ? text : seconds === 0 ? '' : String(seconds);
  };
  const shown = typed.value !== undefined && toStored(typed.value) === stored ? typed.value : usual;
  const { error } = seconds === undefined && !stored.includes('${') ? readDuration(stored) : {};
  return (
    <Suggested
      label="Wait"
      name="delayInSeconds"
      hint={['For example 30 minutes, 1 h or 2 days. Empty: immediately.', notes].filter(Boolean).join(' ')}
      problem={error ? `This ${error}` : problem}
      offers={usualDelays}
      value={shown}
      onText={(text) => {
        typed.value = text;
        onChange(toStored(text));
      }}
      onBlur={() => (typed.value = undefined)}
    />
  );
}

/** Both fields of groups are one field here. */
function Groups({ fields, problem, onChange }: Pick<StepFieldsProps, 'fields' | 'onChange'> & { problem: string }) {
  const { draft } = useKnowledge();
  const stored = fields.groupId === undefined ? fieldText(fields.sendToGroups) : groupsOf(fields).join(', ');
  const used = [...new Set(draft.cards.flatMap((card) => groupsOf(card.fields)))];
  return (
    <Suggested
      label={fieldWords.sendToGroups}
      name="sendToGroups"
      hint={fieldHints.sendToGroups}
      problem={problem}
      offers={used.map((group) => [group] as const)}
      value={stored}
      onText={(sendToGroups) => {
        const { groupId: _, ...others } = fields;
        onChange({ ...others, sendToGroups }, 'sendToGroups');
      }}
    />
  );
}

type MailTextProps = Pick<StepFieldsProps, 'fields' | 'problemOf' | 'onChange'> & { text: Parameters<typeof Area>[0] };

/** The text of a mail. Its HTML is made from the text, until somebody writes the HTML. */
function MailText({ fields, problemOf, onChange, text }: MailTextProps) {
  const isWritten = fields.bodyHtml !== undefined;
  const unwritten = () => {
    const { bodyHtml: _, ...others } = fields;
    onChange(others, '');
  };
  return (
    <>
      <Area {...text} problem={isWritten ? text.problem : problemOf('body', 'bodyHtml')} rows={3} spellcheck />
      {isWritten ? (
        <>
          <Area
            label={fieldWords.bodyHtml}
            name="bodyHtml"
            problem={problemOf('bodyHtml')}
            rows={3}
            spellcheck={false}
            value={fieldText(fields.bodyHtml)}
            onText={(bodyHtml) => onChange({ ...fields, bodyHtml }, 'bodyHtml')}
          />
          <p>
            <Button onClick={unwritten}>Make the HTML from the text again</Button>
          </p>
        </>
      ) : (
        <p>
          <Button class="quiet" onClick={() => onChange({ ...fields, bodyHtml: mailHtml(fieldText(fields.body)) }, '')}>
            Write the HTML myself
          </Button>
        </p>
      )}
    </>
  );
}
