/** Edits a condition: rows of property, comparison and value, or an expression in CEL. */

import { useSignal } from '@preact/signals';
import { propertyOf } from '../../chain/condition.js';
import { Button } from '../ui/buttons.js';
import { Area, Select, Suggested } from '../ui/fields.js';
import {
  type Comparison,
  type Condition,
  comparisonWords,
  expressionOf,
  isWhole,
  type Row,
  readExpression,
  type Subject,
  typedValue,
} from './conditions.js';
import { placesOfSubject, useKnowledge, valuesOfSubject } from './knowledge.js';
import { valueWords } from './places.js';

interface ConditionRowsProps {
  /** The condition as it is stored. */
  condition: Condition;
  /** Whether two conditions are stored in the same way. While a person types, the rows may have more than the stored text. */
  isSame(one: Condition, other: Condition): boolean;
  /** The subjects that a row can have. */
  subjects: readonly Subject[];
  problem: string;
  onChange(condition: Condition): void;
}

const subjectWords: Record<Subject, string> = {
  assignment: 'the assignment',
  event: 'the event',
  incomingValue: 'the incoming value',
};

export function ConditionRows({ condition: stored, isSame, subjects, problem, onChange }: ConditionRowsProps) {
  const typed = useSignal<Condition | undefined>(undefined);
  const condition = typed.value && isSame(typed.value, stored) ? typed.value : stored;
  const { rows, join, text } = condition;
  const change = (next: Condition) => {
    typed.value = next;
    onChange(next);
  };
  const first: Row = {
    of: subjects[0] ?? 'event',
    path: subjects[0] === 'assignment' ? 'status' : '',
    comparison: 'is',
    value: '',
  };
  const add = () => change({ ...condition, rows: [...rows, first] });
  const asText = () => change({ rows: [], join: 'and', text: expressionOf(rows.filter(isWhole), join) });
  const asRows = text === undefined || text.trim() === '' ? { rows: [], join } : readExpression(text);
  return (
    <>
      {rows.map((row, place) => (
        <RowFields
          key={place}
          row={row}
          subjects={subjects}
          onChange={(changed) => change({ ...condition, rows: rows.with(place, changed) })}
          onRemove={() => change({ ...condition, rows: rows.toSpliced(place, 1) })}
        />
      ))}
      {rows.length > 1 && (
        <Select
          label="How many of these must be true?"
          value={join}
          onPick={(picked) => change({ ...condition, join: picked === 'or' ? 'or' : 'and' })}
          options={[
            ['and', 'all'],
            ['or', 'at least one'],
          ]}
        />
      )}
      {text !== undefined && (
        <Area
          label="Expression (CEL)"
          hint={`For example ${subjects[0] === 'event' ? 'event.priority > 2' : 'assignment.status == "draft" && event.priority > 2'}.`}
          class="json"
          rows={2}
          spellcheck={false}
          value={text}
          onText={(typed) => change({ ...condition, text: typed })}
        />
      )}
      {problem && <p class="error small">{problem}.</p>}
      <p class="row">
        {text === undefined && (
          <>
            <Button onClick={add}>{rows.length === 0 ? 'Add a condition' : 'Add another condition'}</Button>
            <Button class="quiet" onClick={asText}>
              Write an expression
            </Button>
          </>
        )}
        {text !== undefined && asRows && <Button onClick={() => change(asRows)}>Use fields instead</Button>}
      </p>
    </>
  );
}

interface RowFieldsProps {
  row: Row;
  subjects: readonly Subject[];
  onChange(row: Row): void;
  onRemove(): void;
}

function RowFields({ row, subjects, onChange, onRemove }: RowFieldsProps) {
  const known = useKnowledge();
  const { of, path, comparison, value } = row;
  const seen = known.events[0] && of === 'event' ? propertyOf(known.events[0], path) : undefined;
  const places = placesOfSubject(known, of);
  const hasValue = comparison !== 'exists' && comparison !== 'missing';
  return (
    <div class="condition">
      {subjects.length > 1 && (
        <Select
          label="Of"
          value={of}
          onPick={(picked) => onChange({ ...row, of: picked as Subject, path: picked === 'assignment' ? 'status' : '' })}
          options={subjects.map((one) => [one, subjectWords[one]])}
        />
      )}
      {of !== 'incomingValue' && (
        <Suggested
          label="Property"
          problem={isWhole(row) ? '' : 'Choose a property'}
          offers={places.map((place) => [place.path, valueWords(place.value)] as const)}
          value={path}
          onText={(text) => onChange({ ...row, path: text.trim() })}
        />
      )}
      <Select
        label="Comparison"
        value={comparison}
        onPick={(picked) =>
          onChange({ ...row, comparison: picked as Comparison, value: typedValue(String(value), picked as Comparison, seen) })
        }
        options={Object.entries(comparisonWords)}
      />
      {hasValue && (
        <Suggested
          label="Value"
          offers={valuesOfSubject(known, of, path).map((one) => [one] as const)}
          value={String(value)}
          onText={(text) => onChange({ ...row, value: typedValue(text, comparison, seen) })}
        />
      )}
      <Button onClick={onRemove}>
        Remove<span class="unseen"> the condition on {path || 'no property'}</span>
      </Button>
    </div>
  );
}
