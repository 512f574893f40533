/** Shows contents as sentences, and what differs between two contents, step by step and field by field. */

import { isObject } from '../../chain/fields.js';
import { sentenceOf, valueText, whenWords } from '../../chain/sentences.js';
import { capital } from '../../chain/text.js';
import type { ContentsDiff } from '../types.js';
import { actionWords, fieldLabel, variableWords } from '../words.js';
import type { Draft } from './draft.js';

export function Sentences({ of: { when, cards } }: { of: Draft }) {
  return (
    <>
      <p>{whenWords(when)}:</p>
      <ol>
        {cards.map(({ key, fields }) => (
          <li key={key}>{sentenceOf(fields)}</li>
        ))}
      </ol>
    </>
  );
}

function variableText(_: string, value: unknown): string {
  if (!isObject(value)) return 'nothing';
  const { path, missing, default: text } = value;
  const otherwise =
    missing === 'default' ? `; if there is none: “${text}”` : missing === 'refuse' ? '; if there is none: refuse the event' : '';
  return `${path}${otherwise}`;
}

type ChangesProps = { of: ContentsDiff['fields']; nameOf?(field: string): string; textOf?: typeof valueText };

export function Changes({ of, nameOf = (field) => `“${fieldLabel(field)}”`, textOf = valueText }: ChangesProps) {
  return of.map(({ field, before, after }) => (
    <li key={field}>
      {nameOf(field)}. Before: <del>{textOf(field, before)}</del>. Now: <ins>{textOf(field, after)}</ins>.
    </li>
  ));
}

export function Differences({ of: { same, fields, variables, actions } }: { of: ContentsDiff }) {
  if (same) return <p>There is no difference.</p>;
  return (
    <ul>
      <Changes of={fields} nameOf={(field) => (field === 'when' ? 'The condition of the rule' : field)} />
      <Changes of={variables} nameOf={(name) => `The value “${variableWords(name)}”`} textOf={variableText} />
      {actions.map(({ before, after, action, changes }) => (
        <li key={`${before} ${after}`}>
          {placeWords(before, after)}: {capital(actionWords[action] ?? action)}
          <ul>
            <Changes of={changes.filter(({ field }) => isChanged(before, after) || !obvious.includes(field))} />
          </ul>
        </li>
      ))}
    </ul>
  );
}

/** Fields that are not listed for a new or removed step. */
const obvious = ['action', 'platformAssignmentId'];
const isChanged = (before?: number, after?: number) => before !== undefined && after !== undefined;

function placeWords(before: number | undefined, after: number | undefined): string {
  if (before === undefined) return `New step ${(after ?? 0) + 1}`;
  if (after === undefined) return `Removed step ${before + 1}`;
  return before === after ? `Step ${after + 1}` : `Step ${before + 1}, now step ${after + 1}`;
}
