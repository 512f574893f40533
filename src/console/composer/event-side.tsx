/** What the rule takes from an event: for which events it runs, where the assignment's number is, and its variables. */

import { type Signal, useSignal } from '@preact/signals';
import { type Condition, expressionOf, isWhole, whenOf } from '../../chain/comparisons.js';
import { propertyOf } from '../../chain/condition.js';
import type { Fields } from '../../chain/fields.js';
import { whenWords } from '../../chain/sentences.js';
import { objectMistake, readObject } from '../fields.js';
import { Button, Entry, Fold, JsonArea, Select, Suggested } from '../ui/index.js';
import { variableWords } from '../words.js';
import { Picker } from './card.js';
import { ConditionRows } from './condition-rows.js';
import { type Draft, type Variable, variableOf } from './draft.js';
import { saidAt, useKnowledge } from './knowledge.js';
import { offersOf, undefinedVariables, valueWords, variableName } from './places.js';

const missingWords: Record<Variable['missing'], string> = {
  ...({ hold: 'the steps that need this value wait for a decision', refuse: 'refuse the event' } as const),
  default: 'use this text',
};

const whenText = ({ rows, join, text }: Condition) => text ?? expressionOf(rows.filter(isWhole), join);

/** @param example - an event that a person pastes. Absent if an event has arrived. */
export function EventSide({ example }: { example: Signal<Fields | undefined> | undefined }) {
  const { draft, seen, change, problems } = useKnowledge();
  const { when, variables } = draft;
  const problem = saidAt(problems, '/when');
  const missing = undefinedVariables(draft);
  const placeless = missing.length > 0 && (
    <span class="error">. Fill in “Field of the event” for {missing.map(variableWords).join(', ')}.</span>
  );
  const setWhen = (text: string) => {
    const { when: _, ...others } = draft;
    change(text === '' ? others : { ...others, when: text }, 'when');
  };
  const add = (path: string) => {
    const name = variableName(path, Object.keys(variables));
    change({ ...draft, variables: { ...variables, [name]: { path, missing: 'hold' } } });
  };
  return (
    <>
      <Fold look="card step" isNeeded={problem !== ''} summary={`Starts ${whenWords(when).replace('F', 'f')}`}>
        <ConditionRows
          {...{ condition: whenOf(when), textOf: whenText, subjects: ['event'], problem }}
          onChange={(next) => setWhen(whenText(next))}
        />
      </Fold>
      <Fold look="card step" isNeeded={missing.length > 0} summary={[variablesWords(draft), placeless]}>
        {[...Object.keys(variables), ...missing].map((name) => (
          <VariableFields key={name} name={name} problem={saidAt(problems, `/variables/${name}`)} />
        ))}
        {seen.event[0] && (
          <Picker
            {...{ label: 'Add a value from the event', hint: 'Choose a value here. Then the steps can use it.' }}
            {...{ offers: offersOf(seen.event[0]), onPick: add }}
          />
        )}
        {example && <Example of={example} />}
      </Fold>
    </>
  );
}

function Example({ of }: { of: Signal<Fields | undefined> }) {
  const typed = useSignal(of.value ? JSON.stringify(of.value, undefined, 2) : '');
  return (
    <JsonArea
      label="Example of an event (JSON)"
      hint="No event has arrived yet. Paste an example event from your platform. Then you can use its values in the rule, and rehearse the rule."
      problem={typed.value.trim() && objectMistake(typed.value)}
      {...{ rows: 3, value: typed.value, onText: (text) => ([typed.value, of.value] = [text, readObject(text)]) }}
    />
  );
}

function variablesWords({ variables }: Draft): string {
  const said = Object.entries(variables).map(([name, { path }]) => `${variableWords(name)} (field ${path || '…'})`);
  return said.length === 0 ? 'The rule uses no value from the event' : `Values from the event: ${said.join(', ')}`;
}

function VariableFields({ name, problem }: { name: string; problem: string }) {
  const { draft, seen, change } = useKnowledge();
  const { [name]: stored, ...others } = draft.variables;
  const variable: Variable = stored ?? { path: '', missing: 'hold' };
  const set = (next: Variable, about: string) =>
    change({ ...draft, variables: { ...draft.variables, [name]: next } }, `${name} ${about}`);
  const [event] = seen.event;
  const value = event && variable.path !== '' ? propertyOf(event, variable.path) : undefined;
  const inLast = value === undefined ? 'The event has no value in this field.' : `In the event: ${valueWords(value)}`;
  return (
    <fieldset class="value">
      <legend>{variableWords(name)}</legend>
      <Suggested
        {...{ label: 'Field of the event', problem, offers: offersOf(event ?? {}), value: variable.path }}
        hint={event ? variable.path && inLast : 'For example workorder.id. After the first event, you can choose the field.'}
        onText={(text) => set({ ...variable, path: text.trim() }, 'path')}
      />
      <Select
        {...{ label: 'If the value is missing', value: variable.missing, options: Object.entries(missingWords) }}
        onPick={(missing) => set(variableOf({ path: variable.path, missing }), '')}
      />
      {variable.missing === 'default' && (
        <Entry label="Text" value={variable.default} onText={(text) => set({ ...variable, default: text }, 'default')} />
      )}
      {stored && (
        <Button onClick={() => change({ ...draft, variables: others })}>
          Remove<span class="unseen"> the value “{variableWords(name)}”</span>
        </Button>
      )}
    </fieldset>
  );
}
