/** Edits a condition: rows of property, comparison and value, or an expression in CEL. */

import { useSignal } from '@preact/signals';
import {
  type Comparison,
  type Condition,
  comparisons,
  expressionOf,
  hasValue,
  isWhole,
  noCondition,
  type Row,
  readExpression,
  type Subject,
  typedValue,
} from '../../chain/comparisons.js';
import { propertyOf } from '../../chain/condition.js';
import { Area, Button, Select, Suggested } from '../ui/index.js';
import { useKnowledge } from './knowledge.js';
import { offersOf, valuesAt } from './places.js';

interface ConditionRowsProps {
  condition: Condition;
  /** How the condition is stored. While a person types, the rows may have more than the stored text. */
  textOf(condition: Condition): string;
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
  const asText = () => change({ ...noCondition, text: expressionOf(rows.filter(isWhole), join) });
  const asRows = text?.trim() ? readExpression(text) : { rows, join };
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
          options={Object.entries({ and: 'all', or: 'at least one' })}
        />
      )}
      {text !== undefined && (
        <Area
          label="Expression (CEL)"
          hint={`For example ${of === 'event' ? '' : 'assignment.status == "draft" && '}event.priority > 2.`}
          class="json"
          rows={2}
          spellcheck={false}
          value={text}
          onText={(typed) => change({ ...condition, text: typed })}
        />
      )}
      {problem && <p class="error small">{problem}.</p>}
      <p class="row">
        {text !== undefined ? (
          asRows && <Button onClick={() => change(asRows)}>Use fields instead</Button>
        ) : (
          <>
            <Button onClick={add}>{rows.length === 0 ? 'Add a condition' : 'Add another condition'}</Button>
            <Button class="quiet" onClick={asText}>
              Write an expression
            </Button>
          </>
        )}
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
  const { seen } = useKnowledge();
  const { of, path, comparison, value } = row;
  const [last = {}] = seen[of];
  /** @param of - the comparison of the value, because the comparison decides about the type of the value. */
  const compare = (text: string, to: Comparison) =>
    onChange({ ...row, comparison: to, value: typedValue(text, to, of === 'event' ? propertyOf(last, path) : undefined) });
  return (
    <div class="row condition">
      {subjects.length > 1 && (
        <Select
          label="Of"
          value={of}
          onPick={(picked) => onChange({ ...row, of: picked as Subject, path: usualPath(picked as Subject) })}
          options={subjects.map((one) => [one, subjectWords[one]])}
        />
      )}
      {of !== 'incomingValue' && (
        <Suggested
          label="Property"
          problem={isWhole(row) ? '' : 'Choose a property'}
          offers={offersOf(last)}
          value={path}
          onText={(text) => onChange({ ...row, path: text.trim() })}
        />
      )}
      <Select
        label="Comparison"
        value={comparison}
        onPick={(picked) => compare(String(value), picked as Comparison)}
        options={Object.entries(comparisons).map(([name, { words }]) => [name, words])}
      />
      {hasValue(comparison) && (
        <Suggested
          label="Value"
          offers={valuesAt(seen[of], path).map((one) => [one] as const)}
          value={String(value)}
          onText={(text) => compare(text, comparison)}
        />
      )}
      <Button onClick={onRemove}>
        Remove<span class="unseen"> the condition on {path || 'no property'}</span>
      </Button>
    </div>
  );
}
