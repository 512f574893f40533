/** Shows what differs between two contents, step by step and field by field. */

import { capital } from '../../chain/text.js';
import type { ContentsDiff } from '../../contract/rule-contents.js';
import { actionWords } from '../words.js';
import { conditionOf } from './conditions.js';
import { fieldText } from './draft.js';
import { delayText } from './durations.js';
import { fieldName } from './plain-words.js';
import { conditionWords, spoken, whenWords } from './sentences.js';

/** The value of a field as the cards show it. */
export function valueText(field: string, value: unknown): string {
  if (value === undefined || value === '') return 'nothing';
  if (field === 'delayInSeconds') return spoken(delayText(fieldText(value))) || 'immediately';
  if (field === 'actionCondition' || field === 'if') return conditionWords(conditionOf({ [field]: value }));
  if (field === 'action') return actionWords[fieldText(value)] ?? fieldText(value);
  return spoken(fieldText(value));
}

interface ChangeProps {
  name: string;
  before: string;
  after: string;
}

export function Change({ name, before, after }: ChangeProps) {
  return (
    <li>
      {name}: <del>{before}</del> <span class="soft">→</span> <ins>{after}</ins>
    </li>
  );
}

export function Differences({ of: { same, when, variables, actions } }: { of: ContentsDiff }) {
  const changed = actions.filter(({ before, after, changes }) => before !== after || changes.length > 0);
  if (same) return <p>There is no difference.</p>;
  return (
    <ul class="changes">
      {when && <Change name="Runs" before={whenWords(textOrNone(when.before))} after={whenWords(textOrNone(when.after))} />}
      {variables.map(({ field, before, after }) => (
        <Change
          key={field}
          name={`Value ${field.replaceAll('_', ' ')}`}
          before={variableText(before)}
          after={variableText(after)}
        />
      ))}
      {changed.map(({ before, after, action, changes }) => (
        <li key={`${before} ${after}`}>
          {placeWords(before, after)}: {capital(actionWords[action] ?? action)}
          <ul>
            {changes
              .filter(
                ({ field }) =>
                  (field !== 'action' && field !== 'platformAssignmentId') || (before !== undefined && after !== undefined),
              )
              .map(({ field, before, after }) => (
                <Change key={field} name={fieldName(field)} before={valueText(field, before)} after={valueText(field, after)} />
              ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

const textOrNone = (value: unknown) => (typeof value === 'string' ? value : undefined);

function placeWords(before: number | undefined, after: number | undefined): string {
  if (before === undefined) return `New step ${(after ?? 0) + 1}`;
  if (after === undefined) return `Removed step ${before + 1}`;
  return before === after ? `Step ${after + 1}` : `Step ${before + 1}, now step ${after + 1}`;
}

const missingText: Record<string, string> = { refuse: ', or the event is refused', hold: '' };

function variableText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return 'nothing';
  const { path, missing, default: text }: { path?: unknown; missing?: unknown; default?: unknown } = value;
  const otherwise = missing === 'default' ? `, or “${String(text)}”` : (missingText[String(missing)] ?? '');
  return `${String(path)}${otherwise}`;
}
