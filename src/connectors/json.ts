/** JSON from outside, parsed so that it can be handled without surprises. */

import { isNestedDeeper } from '../contract/json.js';

/** Deep enough for any real answer, shallow enough for every recursive function (`JSON.stringify` overflows at 200,000). */
const MAX_DEPTH = 100;

/**
 * The value, without `__proto__` keys.
 * @throws SyntaxError if the text is not JSON or is nested deeper than 100 levels
 */
export function parseJson(text: string): unknown {
  if (isNestedDeeper(text, MAX_DEPTH)) throw new SyntaxError(`nested deeper than ${MAX_DEPTH} levels`);
  // A reviver costs several times the parsing, so only where the key could be there; its letters may be written as \u escapes.
  if (!/__proto__|\\u00[5-7]/i.test(text)) return JSON.parse(text);
  return JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value));
}
