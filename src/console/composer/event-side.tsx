/** What the rule takes from an event: for which events it runs, where the assignment's number is, and its variables. */

import { type Signal, useSignal } from '@preact/signals';
import { propertyOf } from '../../chain/condition.js';
import { readObject } from '../fields.js';
import { Button } from '../ui/buttons.js';
import { Area, Entry, Select, Suggested } from '../ui/fields.js';
import { Fold } from '../ui/known.js';
import { ConditionRows } from './condition-rows.js';
import { expressionOf, isWhole, noCondition, readExpression } from './conditions.js';
import type { Draft, Fields, Variable } from './draft.js';
import { placesOfSubject, useKnowledge } from './knowledge.js';
import { undefinedVariables, valueWords } from './places.js';
import { whenWords } from './sentences.js';

const missingWords: Record<Variable['missing'], string> = {
  hold: 'wait for a decision before the steps that use it',
  refuse: 'refuse the event',
  default: 'use this text',
};

const whenOf = (condition: typeof noCondition) => condition.text ?? expressionOf(condition.rows.filter(isWhole), condition.join);

/** @param example - an event that a person pastes. Absent if an event has arrived. */
export function EventSide({ example }: { example: Signal<Fields | undefined> | undefined }) {
  const { draft, change, problems } = useKnowledge();
  const problemAt = (place: string) =>
    problems.flatMap(({ pointer, detail }) => (pointer === place || pointer.startsWith(`${place}/`) ? [detail] : [])).join('; ');
  const { when } = draft;
  const condition = !when ? noCondition : (readExpression(when) ?? { ...noCondition, text: when });
  const changeWhen = (text: string) => {
    const { when: _, ...others } = draft;
    change(text === '' ? others : { ...others, when: text }, 'when');
  };
  const undefinedNames = undefinedVariables(draft);
  const problem = problemAt('/when');
  return (
    <>
      <Fold look="card step" isNeeded={problem !== ''} summary={whenWords(when)}>
        <ConditionRows
          condition={condition}
          isSame={(one, other) => whenOf(one) === whenOf(other)}
          subjects={['event']}
          problem={problem}
          onChange={(next) => changeWhen(whenOf(next))}
        />
      </Fold>
      <Fold
        look="card step"
        isNeeded={undefinedNames.length > 0}
        summary={
          <>
            {variablesWords(draft)}
            {undefinedNames.length > 0 && <span class="error"> A value has no place: {undefinedNames.join(', ')}.</span>}
          </>
        }
      >
        {[...Object.keys(draft.variables), ...undefinedNames].map((name) => (
          <VariableFields key={name} name={name} problem={problemAt(`/variables/${name}`)} />
        ))}
        <p class="soft small">A step refers to a value by its name. To add one, choose “Insert a value” in a step.</p>
        {example && <Example of={example} />}
      </Fold>
    </>
  );
}

function Example({ of }: { of: Signal<Fields | undefined> }) {
  const typed = useSignal(of.value ? JSON.stringify(of.value, undefined, 2) : '');
  const isWrong = typed.value.trim() !== '' && !readObject(typed.value);
  return (
    <Area
      label="Example of an event (JSON)"
      hint="No event has arrived yet. Paste an event of your platform, to choose places from it and to rehearse with it."
      problem={isWrong ? 'This is not a JSON object, such as {"workorder": {"id": 1001}}' : ''}
      class="json"
      rows={3}
      spellcheck={false}
      value={typed.value}
      onText={(text) => {
        typed.value = text;
        of.value = readObject(text);
      }}
    />
  );
}

function variablesWords({ variables }: Draft): string {
  const said = Object.entries(variables).map(([name, { path }]) => `${name.replaceAll('_', ' ')} from ${path || '…'}`);
  return said.length === 0 ? 'Takes no values from the event' : `Takes from the event: ${said.join(', ')}`;
}

function VariableFields({ name, problem }: { name: string; problem: string }) {
  const known = useKnowledge();
  const { draft, events, change } = known;
  const variable: Variable = draft.variables[name] ?? { path: '', missing: 'hold' };
  const set = (next: Variable, about: string) =>
    change({ ...draft, variables: { ...draft.variables, [name]: next } }, `${name} ${about}`);
  const remove = () => {
    const { [name]: _, ...others } = draft.variables;
    change({ ...draft, variables: others });
  };
  const [event] = events;
  const value = event && variable.path !== '' ? propertyOf(event, variable.path) : undefined;
  const last = !event
    ? undefined
    : value === undefined
      ? 'The last event has no such place.'
      : `In the last event: ${valueWords(value)}`;
  const words = name.replaceAll('_', ' ');
  return (
    <fieldset class="value">
      <legend>{words}</legend>
      <Suggested
        label="Place in the event"
        hint={last ?? 'For example workorder.id. When the first event is here, you can choose the place from it.'}
        problem={problem}
        offers={placesOfSubject(known, 'event').map((place) => [place.path, valueWords(place.value)] as const)}
        value={variable.path}
        onText={(text) => set({ ...variable, path: text.trim() }, 'path')}
      />
      <Select
        label="If it is missing"
        value={variable.missing}
        onPick={(picked) => {
          const { default: text = '', ...others } = variable;
          const missing = picked as Variable['missing'];
          set({ ...others, missing, ...(missing === 'default' && { default: text }) }, '');
        }}
        options={Object.entries(missingWords)}
      />
      {variable.missing === 'default' && (
        <Entry label="Text" value={variable.default} onText={(text) => set({ ...variable, default: text }, 'default')} />
      )}
      {name in draft.variables && (
        <Button onClick={remove}>
          Remove<span class="unseen"> the value {words}</span>
        </Button>
      )}
    </fieldset>
  );
}
