/** Makes text for a terminal: removes control characters, cuts and colours lines, aligns tables, formats times. */

import { spans, spanText } from '../chain/text.js';
import { UsageError } from './terminal.js';

export type Tone = 'good' | 'warning' | 'bad' | 'faint';
export type Painted = { text: string; tone?: Tone };
export type Line = string | readonly Painted[];
type Piece = string | Painted | undefined;

export function line(texts: TemplateStringsArray, ...pieces: readonly Piece[]): Line {
  return texts.flatMap((text, place) => [{ text }, painted(pieces[place])]);
}

const painted = (piece: Piece): Painted => (typeof piece === 'object' ? piece : { text: piece ?? '' });
const colours: Record<Tone, string> = { good: '32', warning: '33', bad: '31', faint: '2' };

export function render(line: Line, coloured: boolean): string {
  if (typeof line === 'string') return harmless(line);
  return line
    .map(({ text, tone }) => (coloured && tone && text ? `\u001b[${colours[tone]}m${harmless(text)}\u001b[0m` : harmless(text)))
    .join('')
    .trimEnd();
}

/** Replaces control characters, because they could control the terminal. Removes marks that change the writing direction. */
export function harmless(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '');
}

const wide = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}|[\uff01-\uff60]/u;

export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += /[\p{M}\p{Cf}]/u.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return width;
}

/** If the text is too wide, cuts it and adds `…`. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  for (const character of text) {
    if (widthOf(kept + character) > columns - 1) break;
    kept += character;
  }
  return columns > 0 ? `${kept}…` : '';
}

/** The columns by heading. A column is the name of a field, or a function that makes the cell. */
export type Columns<Item> = Readonly<Record<string, (keyof Item & string) | ((item: Item) => Piece)>>;

/** @param width - the maximum width of a line; if undefined, lines are not cut. */
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

/** A line for each value, with its path: `notify.emails  ada@example.com`. */
export const fields = (value: unknown, indent = ''): Line[] => aligned(flatten(value), indent);

export function aligned(pairs: readonly (readonly [name: string, text: string])[], indent: string): Line[] {
  const width = Math.max(0, ...pairs.map(([name]) => name.length));
  return pairs.map(([name, text]) => [{ text: indent }, { text: name.padEnd(width + 2), tone: 'faint' }, { text }]);
}

export function flatten(value: unknown, path = ''): [path: string, text: string][] {
  if (value === undefined) return [];
  if (isSimple(value)) return [[path, simpleText(value)]];
  if (Array.isArray(value)) return value.flatMap((inner: unknown, index) => flatten(inner, `${path}[${index}]`));
  return Object.entries(value ?? {}).flatMap(([name, inner]) => flatten(inner, path === '' ? name : `${path}.${name}`));
}

/** Whether the value is neither an object nor a list with objects. */
const isSimple = (value: unknown): boolean => [value].flat().every((inner) => typeof inner !== 'object' || inner === null);

function simpleText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(simpleText).join(', ');
  return typeof value === 'string' ? momentText(value) : String(value);
}

/** Converts an ISO 8601 time in UTC to the terminal's time zone: `2026-11-21 15:16:07+01:00`. Other texts stay unchanged. */
export function momentText(text: string): string {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text)) return text;
  const time = new Date(text);
  const zone = String(time).replace(/.* GMT(...)(..).*/, '$1:$2');
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 19)}${zone === '+00:00' ? 'Z' : zone}`;
}

/** For example `2026-11-21 15:16:07Z (in 29 min)`. */
export function momentFromNow(text: string, now = Date.now()): string {
  const seconds = (Date.parse(text) - now) / 1000;
  if (Number.isNaN(seconds)) return text;
  const away = Math.abs(seconds) < 1 ? 'now' : seconds > 0 ? `in ${spanText(seconds)}` : `${spanText(-seconds)} ago`;
  return `${momentText(text)} (${away})`;
}

/** Reads a duration such as `90`, `90s`, `10m`, `1h30m` or `2d`. @returns seconds, or undefined for other texts. */
export function readDuration(text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const [all, ...counts] = /^(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?$/.exec(text) ?? [];
  return all ? spans.reduce((sum, [, length], place) => sum + length * Number(counts[place] ?? 0), 0) : undefined;
}

/** @param text - ISO 8601 with a time zone, or a duration from now. @returns ISO 8601 in UTC. @throws UsageError */
export function readMoment(text: string, direction: 'ago' | 'ahead', now = Date.now()): string {
  const seconds = readDuration(text);
  if (seconds !== undefined) return new Date(now + (direction === 'ago' ? -seconds : seconds) * 1000).toISOString();
  if (/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString();
  throw new UsageError(`${text} is not a time: write 2026-07-01T12:00:00Z, or a duration such as 2h`);
}
