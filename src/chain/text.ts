/** Texts: cut to fit where they are shown, and what the webhook's substitution leaves blank or not filled in. */

/** What a text says, or what is wrong with it. */
export type Parsed<Said> =
  | ({ ok: true; error?: undefined } & Said)
  | ({ ok: false; error: string } & { [Name in keyof Said]?: undefined });

/** At most `length` UTF-16 units, never half a surrogate pair, with `…` where something is missing. */
export function cutShort(text: string, length = 200): string {
  if (text.length <= length) return text;
  const end = /[\ud800-\udbff]/.test(text.charAt(length - 2)) ? length - 2 : length - 1;
  return `${text.slice(0, end)}…`;
}

/** Bytes of the text as a JSON string in UTF-8, quotes included: what Temporal counts of a payload. */
export function jsonBytes(text: string): number {
  return new TextEncoder().encode(JSON.stringify(text)).length;
}

/** At most `bytes` by `jsonBytes`, whole characters only, with `…` where something is missing. */
export function fitBytes(text: string, bytes: number): string {
  if (jsonBytes(text) <= bytes) return text;
  let room = bytes - jsonBytes('…');
  let kept = '';
  for (const character of text) {
    room -= characterBytes(character);
    if (room < 0) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Bytes of a character within a JSON string in UTF-8. Encoding would be slow: workflows fit a hundred texts in every task. */
function characterBytes(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return '\b\t\n\f\r'.includes(character) ? 2 : 6;
  if (code < 0x80) return character === '"' || character === '\\' ? 2 : 1;
  if (code < 0x800) return 2;
  if (code > 0xffff) return 4;
  return code >= 0xd800 && code <= 0xdfff ? 6 : 3; // Half a surrogate pair is escaped.
}

/** Without line breaks, other control characters and marks that turn the direction of writing; white space as single spaces. */
export function oneLine(text: string): string {
  return text
    .replaceAll(/\p{Bidi_Control}/gu, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}

/** `${name}`. */
export const variablePattern = /\$\{([^{}]*)\}/g;

/** The first `${variable}` that the webhook left unsubstituted, cut short. */
export function unsubstituted(text = ''): string | undefined {
  const [variable] = text.match(variablePattern) ?? [];
  return variable && cutShort(variable, 80);
}

/** What is wrong with a text in which a variable is left: `contains ${owner}, which was not substituted`. */
export function leftover(text: string | undefined): string | undefined {
  const variable = unsubstituted(text);
  return variable && `contains ${variable}, which was not substituted`;
}

/** What is wrong with a field that must say something: `is blank`, or `is "${owner}", not substituted`. */
export function blankness(text: string | undefined): string | undefined {
  if (text?.trim() === '') return 'is blank';
  return text && unsubstituted(text) && `is "${cutShort(text.trim(), 80)}", not substituted`;
}

/** Whether more brackets than `levels` are open at once in the text, those inside strings not counted. It need not be JSON. */
export function isNestedDeeper(text: string, levels: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length && depth <= levels; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = stringEnd(text, at);
    else if (code === 0x5b || code === 0x7b) depth++;
    else if (code === 0x5d || code === 0x7d) depth--;
  }
  return depth > levels;
}

/** The place of the quotation mark that ends the string which begins at `from`; that of the end of the text where there is none. */
function stringEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let unescaped = at;
    while (text.charCodeAt(unescaped - 1) === 0x5c) unescaped--;
    if ((at - unescaped) % 2 === 0) return at;
  }
  return text.length;
}
