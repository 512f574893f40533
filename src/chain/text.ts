/** Cuts texts to fit, begins them with a capital letter, and finds blank values and variables that the webhook did not replace. */

export type Parsed<Said> =
  | ({ ok: true; error?: undefined } & Said)
  | ({ ok: false; error: string } & { [Name in keyof Said]?: undefined });

/** Cuts the text to `length` UTF-16 units or fewer, never inside a surrogate pair; `…` marks a cut. */
export function cutShort(text: string, length = 200): string {
  if (text.length <= length) return text;
  const end = /[\ud800-\udbff]/.test(text.charAt(length - 2)) ? length - 2 : length - 1;
  return `${text.slice(0, end)}…`;
}

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The size of the value in bytes, as JSON in UTF-8. Temporal counts payloads in this way. */
export const jsonBytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;

/** Cuts the text to `bytes` (see `jsonBytes`), between characters; `…` marks a cut. */
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

/** Faster than `TextEncoder`. The speed matters, because each workflow task shortens a hundred texts. */
function characterBytes(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return '\b\t\n\f\r'.includes(character) ? 2 : 6;
  if (code < 0x80) return character === '"' || character === '\\' ? 2 : 1;
  if (code < 0x800) return 2;
  if (code > 0xffff) return 4;
  return code >= 0xd800 && code <= 0xdfff ? 6 : 3; // in JSON, half a surrogate pair is escaped: \udXXX, 6 bytes
}

/** Removes control characters and marks that change the direction of writing; white space becomes single spaces. */
export function oneLine(text: string): string {
  return text
    .replaceAll(/\p{Bidi_Control}/gu, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}

export const variablePattern = /\$\{([^{}]*)\}/g;

export function unsubstituted(text = ''): string | undefined {
  const [variable] = text.match(variablePattern) ?? [];
  return variable && cutShort(variable, 80);
}

/** Describes a variable that is still in a text: `has ${owner}, which the webhook did not fill in`. */
export function leftover(text: string | undefined): string | undefined {
  const variable = unsubstituted(text);
  return variable && `has ${variable}, which the webhook did not fill in`;
}

/** Describes a field without a value: `is blank`, or `has no value: the webhook did not fill in "${owner}"`. */
export function blankness(text: string | undefined): string | undefined {
  if (text?.trim() === '') return 'is blank';
  return text && unsubstituted(text) && `has no value: the webhook did not fill in "${cutShort(text.trim(), 80)}"`;
}

/** Whether more than `levels` brackets are open at the same time, outside strings. The text may be invalid JSON. */
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

/** The place of the closing quotation mark, or the end of the text. */
function stringEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let unescaped = at;
    while (text.charCodeAt(unescaped - 1) === 0x5c) unescaped--;
    if ((at - unescaped) % 2 === 0) return at;
  }
  return text.length;
}

/** For example `1 chain` or `3 chains`. */
export const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** For example `501 and Night shift`. */
export function listed(entries: readonly string[], and = 'and'): string {
  const last = entries.at(-1) ?? '';
  return entries.length < 2 ? last : `${entries.slice(0, -1).join(', ')} ${and} ${last}`;
}

/** For example `2 sendEmails: tell the manager`. */
export const titleOf = ({ index, action, comment }: { index: number; action: string; comment?: string | undefined }) =>
  `${index} ${action}${comment ? `: ${comment}` : ''}`;

/** For example `action 1` or `actions 1 and 2`. */
export const actionsText = (indexes: readonly number[]) =>
  `action${indexes.length === 1 ? '' : 's'} ${listed(indexes.map(String))}`;

/** For example `steps 2 and 3` for the actions 1 and 2. In the console, steps count from 1. */
export const stepsText = (indexes: readonly number[]) => actionsText(indexes.map((index) => index + 1)).replace('action', 'step');

/** The length of each unit in seconds. */
export const spans = Object.entries({ d: 86_400, h: 3_600, min: 60, s: 1 });

/**
 * Writes a duration: `45 s`, `29 min 5 s`, `3 d 4 h`.
 * @param written - writes one unit
 * @param most - the maximum number of units; the largest units come first
 */
export function spanText(seconds: number, written = (count: number, unit: string) => `${count} ${unit}`, most = 2): string {
  let left = Math.round(seconds);
  const parts = spans.flatMap(([name, length]) => {
    const count = Math.floor(left / length);
    left -= count * length;
    return count > 0 ? written(count, name) : [];
  });
  return parts.slice(0, most).join(' ');
}

/** Splits the text at the character at `offset` (in UTF-16 units). A visible sign replaces an invisible character. */
export function partsAt(text: string, offset = text.length): { before: string; marked: string; after: string } {
  const character = [...text.slice(offset, offset + 2)][0] ?? '';
  const isSeen = /[^\s\p{Cc}]/u.test(character);
  return {
    ...{ before: text.slice(0, offset), marked: isSeen ? character : character === '\n' ? '↵' : '␣' },
    after: text.slice(isSeen || character === ' ' ? offset + character.length : offset),
  };
}
