/** Text for a terminal: made harmless, measured in columns, cut and coloured; lists as tables, and things as names with values. */

import { momentText } from './time.js';

/** What a piece of text means; shown as a colour where colours are wanted. */
export type Tone = 'good' | 'warning' | 'bad' | 'faint';
export interface Painted {
  text: string;
  tone?: Tone;
}
export type Line = string | readonly Painted[];

type Piece = string | Painted | undefined;

/** A line of plain text with painted pieces in it. */
export function line(texts: TemplateStringsArray, ...pieces: readonly Piece[]): Line {
  return texts.flatMap((text, place) => [{ text }, painted(pieces[place])]);
}

function painted(piece: Piece): Painted {
  return typeof piece === 'object' ? piece : { text: piece ?? '' };
}

const colours: Record<Tone, string> = { good: '32', warning: '33', bad: '31', faint: '2' };

/** The line as it is written, without its end. */
export function render(line: Line, coloured: boolean): string {
  if (typeof line === 'string') return harmless(line);
  return line
    .map(({ text, tone }) => (coloured && tone && text ? `\u001b[${colours[tone]}m${harmless(text)}\u001b[0m` : harmless(text)))
    .join('')
    .trimEnd();
}

/** Without control characters, which could steer the terminal, and without marks that turn the direction of writing. */
export function harmless(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '');
}

const wide = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}|[\uff01-\uff60]/u;

/** Columns that the text takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += /[\p{M}\p{Cf}]/u.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return width;
}

/** At most so many columns, with `…` where something is missing. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  for (const character of text) {
    if (widthOf(kept + character) > columns - 1) break;
    kept += character;
  }
  return columns > 0 ? `${kept}…` : '';
}

/** By its heading, the name of the field that a column shows, or what it shows. */
export type Columns<Item> = Readonly<Record<string, (keyof Item & string) | ((item: Item) => Piece)>>;

/** @param width - of the terminal, in characters, at which lines are cut; undefined: they are not. */
export function table<Item>(items: readonly Item[], columns: Columns<Item>, width: number | undefined): Line[] {
  const head = Object.keys(columns).map((heading): Painted => ({ text: heading, tone: 'faint' }));
  const cells = Object.values(columns).map((column) =>
    typeof column === 'function' ? column : (item: Item) => simpleText(item[column]),
  );
  const rows = [head, ...items.map((item) => cells.map((cell) => painted(cell(item))))];
  const widths = head.map((_, place) => Math.max(...rows.map((row) => widthOf(harmless(row[place]?.text ?? '')))));
  return rows.map((row) => {
    let left = width ?? Number.POSITIVE_INFINITY;
    return row.map(({ text, tone }, place) => {
      const space = place === row.length - 1 ? '' : ' '.repeat((widths[place] ?? 0) - widthOf(harmless(text)) + 2);
      const shown = cut(harmless(text) + space, left);
      left -= widthOf(shown);
      return { text: shown, tone };
    });
  });
}

/** Every value inside with the path to it: `notify.emails  ada@example.com`. */
export function fields(value: unknown, indent = ''): Line[] {
  return aligned(flatten(value), indent);
}

/** Names with what is said of each. */
export function aligned(pairs: readonly (readonly [name: string, text: string])[], indent: string): Line[] {
  const width = Math.max(0, ...pairs.map(([name]) => name.length));
  return pairs.map(([name, text]) => [{ text: indent }, { text: name.padEnd(width + 2), tone: 'faint' }, { text }]);
}

/** Every value inside, each with its path. */
export function flatten(value: unknown, path = ''): [path: string, text: string][] {
  if (value === undefined) return [];
  if (isSimple(value)) return [[path, simpleText(value)]];
  if (Array.isArray(value)) return value.flatMap((inner: unknown, index) => flatten(inner, `${path}[${index}]`));
  return Object.entries(value ?? {}).flatMap(([name, inner]) => flatten(inner, path === '' ? name : `${path}.${name}`));
}

/** Whether it is one value, or a list of such. */
function isSimple(value: unknown): boolean {
  return [value].flat().every((inner) => typeof inner !== 'object' || inner === null);
}

function simpleText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(simpleText).join(', ');
  return typeof value === 'string' ? momentText(value) : String(value);
}
