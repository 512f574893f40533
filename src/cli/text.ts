/** Text for a terminal: what others wrote made harmless, measured in columns, cut and coloured. */

/** What a piece of text means; shown as a colour where colours are wanted. */
export type Tone = 'good' | 'warning' | 'bad' | 'faint';
export interface Painted {
  text: string;
  tone?: Tone | undefined;
}
export type Line = string | readonly Painted[];

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
