/** The fields of an action by their names in the request. */

export type Fields = Record<string, unknown>;

export const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The field as text. A list has one element per line. */
export function fieldText(value: unknown): string {
  if (Array.isArray(value)) return value.map(fieldText).join('\n');
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

/** An edit cannot change these fields. */
export const fixedFields: readonly string[] = ['action', 'relayId', 'relayAccessToken'];

/** `null` removes a field, as in a JSON merge patch (RFC 7396). */
export const mergeFields = (fields: Fields, changes: Fields): Fields =>
  Object.fromEntries(Object.entries({ ...fields, ...changes }).filter(([, value]) => value !== null));

/** The names of the fields whose text contains the assignment id as a whole word. An edit of the id does not change these texts. */
export function fieldsNaming(id: string, fields: Fields): string[] {
  const isNamed = (text: string) =>
    text.split(id).some((part, place, parts) => place > 0 && !/\w$/.test(parts[place - 1] ?? '') && !/^\w/.test(part));
  const others = Object.entries(fields).filter(([name]) => name !== 'platformAssignmentId' && !fixedFields.includes(name));
  return id === '' ? [] : others.filter(([, value]) => isNamed(fieldText(value))).map(([name]) => name);
}
