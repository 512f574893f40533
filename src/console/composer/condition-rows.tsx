/** Edits a condition: rows of property, comparison and value, or an expression in CEL. */

import { useSignal } from '@preact/signals';
import type { Comparison, Condition, Row, Subject } from '../../chain/comparisons.js';
import { comparisons, expressionOf, hasValue, isWhole, readExpression, typedValue } from '../../chain/comparisons.js';
import { propertyOf } from '../../chain/condition.js';
import { valuesAt } from '../../chain/places.js';
import { Button, JsonArea, Select, Suggested } from '../ui/index.js';
import { useKnowledge } from './knowledge.js';
import { offersOf } from './places.js';

interface ConditionRowsProps {
  condition: Condition;
  /** Returns the text that is stored. While a person types, the rows may contain more than this text. */
  textOf(condition: Condition): string;
  subjects: readonly Subject[];
  problem: string;
  onChange(condition: Condition): void;
}

const subjectWords = { assignment: 'assignment', event: 'event', incomingValue: 'value to compare' };
const joins = Object.entries({ and: 'all', or: 'at least one' });
const comparisonOptions = Object.entries(comparisons).map(([name, { words }]) => [name, words] as const);
const usualPath = (of: Subject) => (of === 'assignment' ? 'status' : '');

export function ConditionRows({ condition: stored, textOf, subjects, problem, onChange }: ConditionRowsProps) {
  const typed = useSignal(stored);
  const condition = textOf(typed.value) === textOf(stored) ? typed.value : stored;
  const { rows, join, text } = condition;
  const change = (next: Condition) => {
    typed.value = next;
    onChange(next);
  };
  const [of = 'event'] = subjects;
  const add = () => change({ ...condition, rows: [...rows, { of, path: usualPath(of), comparison: 'is', value: '' }] });
  const asText = () => change({ rows: [], join: 'and', text: expressionOf(rows.filter(isWhole), join) });
  const asRows = text?.trim() ? readExpression(text) : { rows, join };
  return (
    <>
      {rows.map((row, place) => (
        <RowFields
          {...{ row, subjects }}
          key={place}
          onChange={(row) => change({ ...condition, rows: row ? rows.with(place, row) : rows.toSpliced(place, 1) })}
        />
      ))}
      {rows.length > 1 && (
        <Select
          {...{ label: 'How many conditions must be true?', value: join, options: joins }}
          onPick={(picked) => change({ ...condition, join: picked === 'or' ? 'or' : 'and' })}
        />
      )}
      {text !== undefined && (
        <JsonArea
          label="Condition as a formula"
          hint={`Use the language CEL, for example ${of === 'event' ? '' : 'assignment.status == "draft" && '}event.priority > 2.`}
          {...{ rows: 2, value: text, onText: (text) => change({ ...condition, text }) }}
        />
      )}
      {problem && <p class="error small">{problem}.</p>}
      <p class="row">
        {text !== undefined ? (
          asRows && <Button onClick={() => change(asRows)}>Use fields instead</Button>
        ) : (
          <>
            <Button onClick={add}>{rows.length === 0 ? 'Add a condition' : 'Add another condition'}</Button>
            <Button {...{ class: 'quiet', onClick: asText }}>Advanced: write a formula</Button>
          </>
        )}
      </p>
    </>
  );
}

/** @param onChange - called without a row to remove the row. */
function RowFields({ row, subjects, onChange }: Pick<ConditionRowsProps, 'subjects'> & { row: Row; onChange(row?: Row): void }) {
  const { seen } = useKnowledge();
  const { of, path, comparison, value } = row;
  const [last = {}] = seen[of];
  /** @param to - the new comparison. It decides about the type of the value. */
  const compare = (text: string, to: Comparison) =>
    onChange({ ...row, comparison: to, value: typedValue(text, to, of === 'event' ? propertyOf(last, path) : undefined) });
  return (
    <div class="row condition">
      {subjects.length > 1 && (
        <Select
          {...{ label: 'Check a value of', value: of, options: subjects.map((one) => [one, subjectWords[one]] as const) }}
          onPick={(picked) => onChange({ ...row, of: picked as Subject, path: usualPath(picked as Subject) })}
        />
      )}
      {of !== 'incomingValue' && (
        <Suggested
          {...{ label: 'Field', problem: isWhole(row) ? '' : 'Choose a field', offers: offersOf(last), value: path }}
          onText={(text) => onChange({ ...row, path: text.trim() })}
        />
      )}
      <Select
        {...{ label: 'Comparison', value: comparison, options: comparisonOptions }}
        onPick={(picked) => compare(String(value), picked as Comparison)}
      />
      {hasValue(comparison) && (
        <Suggested
          {...{ label: 'Value', value: String(value), offers: valuesAt(seen[of], path).map((one) => [one] as const) }}
          onText={(text) => compare(text, comparison)}
        />
      )}
      <Button onClick={() => onChange()}>
        Remove the condition<span class="unseen"> on “{path || subjectWords[of]}”</span>
      </Button>
    </div>
  );
}
