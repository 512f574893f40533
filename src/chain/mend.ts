/** Edits an action: changes some fields, then reads all fields again, as in a request. */

import { actionDefinitions } from './actions.js';
import { addressOf } from './address.js';
import { type ChainAction, recipientsOf } from './chain.js';
import { type Fields, fixedFields, mergeFields } from './fields.js';
import { fieldNames, type Issue, jsonPointer, mostBytes, readRequest } from './request.js';
import { fieldsOf } from './sent.js';
import { blankness } from './text.js';

/** @param changes - the merged changes of all edits. @returns the edited action, or problems, such as blank required data. */
export function mendAction(
  action: ChainAction,
  changes: Fields,
): { ok: true; action: ChainAction } | { ok: false; problems: Issue[] } {
  const refused = (...problems: Issue[]) => ({ ok: false as const, problems });
  if (!action.sent)
    return refused({ pointer: '', detail: 'was accepted before the relay kept its fields: send the request again' });
  const sent = fieldsOf(action);
  const names = Object.keys(changes);
  if (names.length === 0) return refused({ pointer: '', detail: 'must name a field' });
  const element = mergeFields(sent, changes);
  if (new TextEncoder().encode(JSON.stringify(element)).length > mostBytes)
    return refused({ pointer: '', detail: `would make an action of more than ${mostBytes / 1024} KiB` });

  const problems = names.flatMap((name) => {
    const detail = refusal(name, sent);
    return detail === undefined ? [] : [{ pointer: jsonPointer([name]), detail }];
  });
  const read = readRequest([{ ...element, ...fixed(sent) }]);
  const found = read.ok ? read.mistakes : [...read.problems, ...read.mistakes];
  problems.unshift(...found.map(({ pointer, detail }) => ({ pointer: pointer.replace('/0', ''), detail })));
  // The first problem of a field is the most specific problem.
  const distinct = problems.filter((one, place) => problems.findIndex(({ pointer }) => pointer === one.pointer) === place);
  const [mended] = read.ok ? read.actions : [];
  return mended && distinct.length === 0
    ? { ok: true, action: { ...mended, index: action.index, sent: action.sent } }
    : refused(...distinct);

  function refusal(name: string, sent: Fields): string | undefined {
    if (fixedFields.includes(name)) return 'cannot be changed: send another request';
    const definition = actionDefinitions.find(({ name }) => name === action.action);
    if (!fieldNames(definition).includes(name)) return `is not a field of ${action.action}`;
    const delay = sent.delayInSeconds;
    const isFree = typeof delay === 'string' && blankness(delay) !== undefined;
    return name === 'delayInSeconds' && !isFree ? 'can be changed only if it was blank' : undefined;
  }
}

/** The recipients that the edit adds. */
export function newRecipients(before: ChainAction, after: ChainAction): string[] {
  const known = new Set(recipientsOf(before).map(addressOf));
  return recipientsOf(after).filter((one) => !known.has(addressOf(one)));
}

/** The fields that no edit can change. The token is blank, because the schema requires a token, but an edit has none. */
function fixed({ action, relayId }: Fields): Fields {
  return { action, relayId, relayAccessToken: '' };
}
