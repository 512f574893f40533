/** The fields of an action by their names in the request. */

export type Fields = Record<string, unknown>;

/** Those that stay what they are, and the token. */
export const fixedFields: readonly string[] = ['action', 'relayId', 'relayAccessToken'];

/** `null` removes a field, as in a JSON merge patch (RFC 7396). */
export function mergeFields(fields: Fields, changes: Fields): Fields {
  return Object.fromEntries(Object.entries({ ...fields, ...changes }).filter(([, value]) => value !== null));
}
