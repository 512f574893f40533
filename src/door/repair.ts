/** Escapes control characters in strings, and removes commas before a closing bracket. Stops at any other mistake. */

import { maxDepth } from './strict-json.js';

export const breakKinds = [
  'quotation-mark', // a quotation mark inside a text seems to end the text
  'backslash', // a backslash before a character that JSON cannot escape, or before the closing quotation mark
  'single-quotes',
  'comment',
  'cut-off',
  'unquoted', // a value or a name without quotation marks
  'no-value',
  'bracket', // a closing bracket of the wrong kind
  'after-end',
  'depth',
  'character', // a character that is not allowed in JSON
] as const;
export type BreakKind = (typeof breakKinds)[number];

/** The place where a text is no longer JSON. `field`: the affected field. */
export type Break = { kind: BreakKind; offset: number; field?: string | undefined };

/** `repaired`: strict JSON. `controls` and `commas`: the places of escaped control characters and removed commas. */
export type Walk = { ok: true; repaired: string; controls: number[]; commas: number[] } | { ok: false; broken: Break };
type Expected = 'value' | 'element or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'end of text';

const space = /[ \t\n\r]*/y;
const literal = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=[\s,\]}]|$)/y;
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: this pattern looks for control characters
const special = /["\\\u0000-\u001f]/g;

export function walk(text: string): Walk {
  const open: { isArray: boolean; field?: string | undefined }[] = [];
  const edits: { from: number; to: number; by: string }[] = [];
  const controls: number[] = [];
  const commas: number[] = [];
  let expected: Expected = 'value';
  let comma = -1; // if the last token is a comma: the place of the comma; otherwise -1
  let string = { from: 0, to: 0 }; // the last string
  let value = string; // the last string that is a value, not a name
  let isAfterString = false; // the last token was a string value, or a comma after a string value

  const broken = (kind: BreakKind, offset: number): Walk => ({ ok: false, broken: { kind, offset, field: open.at(-1)?.field } });

  /** @returns the place after the string, or the break if the string is not JSON. */
  const readString = (from: number): number | Walk => {
    for (special.lastIndex = from + 1; ; ) {
      const at = special.exec(text)?.index;
      if (at === undefined) return broken('cut-off', text.length);
      const code = text.charCodeAt(at);
      if (code === 0x22) {
        string = { from, to: at + 1 };
        return at + 1;
      }
      if (code === 0x5c) {
        escaped.lastIndex = at;
        if (!escaped.test(text)) return broken(at + 1 < text.length ? 'backslash' : 'cut-off', at);
        special.lastIndex = escaped.lastIndex;
      } else if (code === 0) return broken('character', at);
      else {
        controls.push(at);
        edits.push({ from: at, to: at + 1, by: JSON.stringify(text.charAt(at)).slice(1, -1) });
      }
    }
  };

  const unexpected = (at: number): Walk => {
    const rest = text.slice(at, at + 2);
    if (/^(\/[/*]|#)/.test(rest)) return broken('comment', at);
    const isName = expected === 'name' && /^\w+\s*:/.test(text.slice(at, at + 100));
    if (isAfterString && !isName && (expected === 'comma or end' || expected === 'name' || expected === 'colon')) {
      const hidden = /\\"\s*[,:}\]]/.exec(text.slice(value.from, value.to - 1));
      return hidden ? broken('backslash', value.from + hidden.index) : broken('quotation-mark', value.to - 1);
    }
    if (rest.startsWith('\\')) return broken('backslash', at);
    if (rest.startsWith("'")) return broken('single-quotes', at);
    if (expected === 'value' && /^[,}\]]/.test(rest)) return broken('no-value', at);
    if (/^[}\]]/.test(rest)) return broken('bracket', at);
    return broken(expected === 'end of text' ? 'after-end' : 'unquoted', at);
  };

  for (let at = text.charCodeAt(0) === 0xfeff ? 1 : 0; ; ) {
    space.lastIndex = at;
    space.test(text);
    at = space.lastIndex;
    if (at >= text.length) break;
    const character = text.charAt(at);
    const top = open.at(-1);
    const closes = (top?.isArray ? ']' : '}') === character && top !== undefined;
    const mayClose = expected.endsWith('end') || (comma >= 0 && (expected === 'value' || expected === 'name'));
    if (closes && mayClose) {
      if (comma >= 0) {
        commas.push(comma);
        edits.push({ from: comma, to: comma + 1, by: '' });
      }
      open.pop();
      expected = open.length > 0 ? 'comma or end' : 'end of text';
      comma = -1;
      isAfterString = false;
      at += 1;
      continue;
    }
    if (expected === 'value' || expected === 'element or end') {
      if (character === '{' || character === '[') {
        if (open.length >= maxDepth) return broken('depth', at);
        open.push({ isArray: character === '[' });
        expected = character === '[' ? 'element or end' : 'name or end';
        isAfterString = false;
        at += 1;
      } else {
        const end = character === '"' ? readString(at) : readLiteral(text, at);
        if (typeof end === 'object') return end;
        if (end === undefined) return unexpected(at);
        isAfterString = character === '"';
        value = string;
        at = end;
        expected = open.length > 0 ? 'comma or end' : 'end of text';
      }
    } else if (expected === 'name' || expected === 'name or end') {
      if (character !== '"') return unexpected(at);
      const end = readString(at);
      if (typeof end === 'object') return end;
      at = end;
      expected = 'colon';
    } else if (expected === 'colon' && character === ':') {
      if (top) top.field = nameOf(text.slice(string.from, string.to));
      isAfterString = false;
      expected = 'value';
      at += 1;
    } else if (expected === 'comma or end' && character === ',') {
      comma = at;
      expected = top?.isArray ? 'value' : 'name';
      at += 1;
      continue;
    } else return unexpected(at);
    comma = -1;
  }
  if (expected !== 'end of text') return broken('cut-off', text.length);
  return { ok: true, repaired: edited(text, edits), controls, commas };
}

function readLiteral(text: string, at: number): number | undefined {
  literal.lastIndex = at;
  return literal.test(text) ? literal.lastIndex : undefined;
}

/** Returns the name without quotation marks. Decodes its escapes if possible. */
function nameOf(quoted: string): string {
  try {
    return JSON.parse(quoted);
  } catch {
    return quoted.slice(1, -1);
  }
}

function edited(text: string, edits: readonly { from: number; to: number; by: string }[]): string {
  const pieces: string[] = [];
  let done = 0;
  for (const { from, to, by } of edits) {
    pieces.push(text.slice(done, from), by);
    done = to;
  }
  return pieces.join('') + text.slice(done);
}
