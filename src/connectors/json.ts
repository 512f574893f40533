/** JSON from outside, parsed so that it can be handled without surprises. */

/** Deep enough for any real answer, shallow enough for every recursive function (`JSON.stringify` overflows at 200,000). */
const MAX_DEPTH = 100;

/**
 * The value, without `__proto__` keys.
 * @throws SyntaxError if the text is not JSON or is nested deeper than 100 levels
 */
export function parseJson(text: string): unknown {
  if (nesting(text) > MAX_DEPTH) throw new SyntaxError(`nested deeper than ${MAX_DEPTH} levels`);
  // a reviver costs several times the parsing, so only where the key could be there; its letters may be written as \u escapes
  if (!/__proto__|\\u00[5-7]/i.test(text)) return JSON.parse(text);
  return JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value));
}

/** The greatest number of brackets open at once, those inside strings not counted. */
function nesting(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth--;
  }
  return deepest;
}
