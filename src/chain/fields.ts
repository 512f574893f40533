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

/** The issues in one element of a list. @param index - the place of the element */
export const issuesIn = <One extends { pointer: string }>(issues: readonly One[], index: number): One[] =>
  issues.filter(({ pointer }) => `${pointer}/`.startsWith(`/${index}/`));

/** The name that follows the prefix `before` in a JSON pointer. For example, `emails` follows `/fields` in `/fields/emails/0`. */
export function fieldAt({ pointer }: { pointer: string }, before: string): string | undefined {
  if (!pointer.startsWith(`${before}/`)) return undefined;
  const [name = ''] = pointer.slice(before.length + 1).split('/');
  return name.replaceAll('~1', '/').replaceAll('~0', '~') || undefined;
}

/** `null` removes a field, as in a JSON merge patch (RFC 7396). */
export const mergeFields = (fields: Fields, changes: Fields): Fields =>
  Object.fromEntries(Object.entries({ ...fields, ...changes }).filter(([, value]) => value !== null));

/** The changes that replace the assignment id `from` in `platformAssignmentId` and in texts. Recipients stay the same. */
export function movedFields(fields: Fields, { from, to }: { from: string; to: string }): Fields {
  const { emails: _, ...named } = fieldsNaming(from, fields, to);
  return { ...named, ...(fields.platformAssignmentId === from && { platformAssignmentId: to }) };
}

/** Returns the fields whose text contains the assignment id as a whole word. In the returned texts, `to` replaces the id. */
export function fieldsNaming(id: string, fields: Fields, to = ''): Fields {
  const word = new RegExp(`(?<!\\w)${id.replace(/[^\w\s]/g, '\\$&')}(?!\\w)`, 'g');
  const renamed = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(renamed) : typeof value === 'string' ? value.replace(word, () => to) : value;
  const others = Object.entries(fields).filter(([name]) => name !== 'platformAssignmentId' && !fixedFields.includes(name));
  const changed = others.map(([name, value]) => [name, value, renamed(value)] as const);
  const naming = id === '' ? [] : changed.filter(([, before, after]) => fieldText(before) !== fieldText(after));
  return Object.fromEntries(naming.map(([name, , after]) => [name, after]));
}
