/** JSON texts and places in them. */

/** Whether more brackets than `levels` are open at once in the text, those inside strings not counted. It need not be JSON. */
export function isNestedDeeper(text: string, levels: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length && depth <= levels; at++) {
    const character = text[at];
    if (inString && character === '\\') at++;
    else if (character === '"') inString = !inString;
    else if (inString) continue;
    else if (character === '[' || character === '{') depth++;
    else if (character === ']' || character === '}') depth--;
  }
  return depth > levels;
}

/** The RFC 6901 pointer to a place in a JSON document. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
