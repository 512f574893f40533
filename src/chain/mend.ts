/** Changes an action by an edit, or fills in its late texts. Then reads all fields again, as if they came in a request. */

import type { LateValues } from './action-status.js';
import { actionDefinitions } from './actions.js';
import { addressOf } from './address.js';
import { type ChainAction, type LateText, recipientsOf } from './chain.js';
import { type Fields, fixedFields, mergeFields } from './fields.js';
import { filledText, opaqueCondition, pathsOf, textsOf } from './late.js';
import { errorsOf, fieldNames, type Issue, jsonPointer, mostBytes, readRequest } from './request.js';
import { fieldsOf, isSame } from './sent.js';
import { blankness, jsonBytes, type Parsed } from './text.js';

/** @param changes - the merged changes of all edits. @returns the edited action, or problems, such as blank required data. */
export function mendAction(
  action: ChainAction,
  changes: Fields,
): { ok: true; action: ChainAction } | { ok: false; problems: Issue[] } {
  const refused = (...problems: Issue[]) => ({ ok: false as const, problems });
  if (!action.sent)
    return refused({
      pointer: '',
      detail:
        'cannot be edited, because an older version of the relay did not store the fields of this step: send the request again',
    });
  const sent = fieldsOf(action);
  const names = Object.keys(changes);
  if (names.length === 0) return refused({ pointer: '', detail: 'has no changes: give a new value to at least one field' });
  const element = mergeFields(sent, changes);
  if (jsonBytes(element) > mostBytes)
    return refused({ pointer: '', detail: `must be shorter: all fields together can have at most ${mostBytes / 1024} KiB` });

  const late = lateAfter(action, sent, element);
  const problems = names.flatMap((name) => {
    const detail = refusal(name, sent) ?? reference(action, name, isSame(sent[name], changes[name]) ? undefined : changes[name]);
    return detail === undefined ? [] : [{ pointer: jsonPointer([name]), detail }];
  });
  const { unfilled } = action;
  const unread = Object.values(late ?? {}).flatMap((texts) => pathsOf(textsOf(texts)).map((path) => `assignment.${path}`));
  const read = readRequest([{ ...element, ...fixed(sent) }], unfilled && { unfilled, unread });
  problems.unshift(...errorsOf(read).map(({ pointer, detail }) => ({ pointer: pointer.replace('/0', ''), detail })));
  // The first problem of a field is the most specific problem.
  const distinct = problems.filter((one, place) => problems.findIndex(({ pointer }) => pointer === one.pointer) === place);
  const [mended] = read.ok ? read.actions : [];
  if (!mended || distinct.length > 0) return refused(...distinct);
  const { index } = action;
  if (!unfilled) return { ok: true, action: { ...mended, index, sent: action.sent } };
  const condition = opaqueCondition({ ...action.condition?.opaque, condition: mended.condition, late: late && true });
  return { ok: true, action: { ...mended, index, sent: action.sent, unfilled, late, condition } };

  function refusal(name: string, sent: Fields): string | undefined {
    if (fixedFields.includes(name)) return 'cannot be changed here: send a new request';
    const definition = actionDefinitions.find(({ name }) => name === action.action);
    if (!fieldNames(definition).includes(name)) return `is not a field of ${action.action}`;
    const delay = sent.delayInSeconds;
    const isFree = typeof delay === 'string' && blankness(delay) !== undefined;
    return name === 'delayInSeconds' && !isFree
      ? 'cannot be changed, because the request already gave a time to wait: reschedule the step'
      : undefined;
  }
}

/** The late texts that the edit does not change. Undefined if there are none. */
function lateAfter({ late = {} }: ChainAction, sent: Fields, element: Fields): ChainAction['late'] {
  const left = Object.entries(late).filter(([field]) => isSame(sent[field], element[field]));
  return left.length > 0 ? Object.fromEntries(left) : undefined;
}

/** Says why an edit of a late text is refused: it still contains a reference, and the relay fills in no references in edits. */
function reference({ late = {} }: ChainAction, name: string, text: unknown): string | undefined {
  const kept = pathsOf(textsOf(late[name] ?? [])).find((path) => [text].flat().join().includes(`\${assignment.${path}}`));
  return (
    kept &&
    `must not contain \${assignment.${kept}}: in an edited step, the relay does not replace it with the real value. Write the real value`
  );
}

/** Fills in the late texts of an action. @param action - must have `sent`. @returns the action without late texts, or the first mistake in its fields. */
export function withLate(action: ChainAction, values: LateValues['values']): Parsed<{ action: ChainAction }> {
  const { late = {}, unfilled = [], index, sent } = action;
  const filled = Object.entries(late).map(([field, text]) => [field, filledIn(field, text, values)]);
  const fields = { ...fieldsOf(action), ...Object.fromEntries(filled), relayAccessToken: '' };
  const read = readRequest([fields], { unfilled });
  const [mistake] = errorsOf(read);
  const [whole] = read.ok ? read.actions : [];
  if (!whole || mistake) return { ok: false, error: `${mistake?.pointer.replace('/0/', '')} ${mistake?.detail}` };
  return { ok: true, action: { ...whole, index, sent } };
}

function filledIn(field: string, text: LateText | LateText[], values: LateValues['values']): string | string[] {
  const texts = textsOf(text).map((one) => filledText(field, one, values));
  return field === 'emails' ? texts : texts.join('');
}

export function newRecipients(before: ChainAction, after: ChainAction): string[] {
  const known = new Set(recipientsOf(before).map(addressOf));
  return recipientsOf(after).filter((one) => !known.has(addressOf(one)));
}

/** The fields that no edit can change. The token is blank, because the schema requires a token, but an edit has none. */
const fixed = ({ action, relayId }: Fields): Fields => ({ action, relayId, relayAccessToken: '' });
