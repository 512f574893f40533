/** Parses a Java timestamp pattern for SimpleDateFormat. If that class rejects the pattern, uses DateTimeFormatter. */

import type { Parsed } from '../text.js';
import { type Dialect, dateTimeFormatter, type Letter, simpleDateFormat } from './dialects.js';
import type { Moment } from './moment.js';

interface Row {
  letters: string;
  letter: Letter;
  pad: number; // the width after padding with spaces; 0 means no padding
}

export type Pattern = { dialect: Dialect; parts: (string | Row)[] };

type Reading = Parsed<{ pattern: Pattern; warnings: string[] }> & { place?: number };

/** If both Java classes reject the pattern, the error names the wrong character and its place, counted from 1. */
export function parsePattern(text: string): Reading {
  const simple = read(text, simpleDateFormat);
  if (simple.ok) return simple;
  const formatter = read(text, dateTimeFormatter);
  if (formatter.ok) return formatter;
  // If both classes reject the same place, returns the error of DateTimeFormatter, because that class knows more letters.
  if (simple.place === formatter.place) return { ok: false, error: formatter.error };
  return {
    ok: false,
    error: `is wrong for both Java classes: for SimpleDateFormat, it ${simple.error}; for DateTimeFormatter, it ${formatter.error}`,
  };
}

/** @throws RangeError if the padding (`pH`) is too narrow for this instant, as Java does. */
export function formatTimestamp({ dialect, parts }: Pattern, epochMillis: number, zone: string): string {
  const moment = dialect.at(epochMillis, zone);
  return parts.map((part) => (typeof part === 'string' ? part : print(part, moment))).join('');
}

function print({ letters, letter, pad }: Row, moment: Moment): string {
  const printed = letter.print(moment, letters.length);
  if (pad > 0 && printed.length > pad)
    throw new RangeError(`"${printed}" (${letters}) does not fit into the width ${pad}, which p sets`);
  return printed.padStart(pad);
}

function read(text: string, dialect: Dialect): Reading {
  const parts: Pattern['parts'] = [];
  let pad = 0;
  let openSections = 0;
  for (const { 0: token, index } of text.matchAll(dialect.token)) {
    const first = token.charAt(0);
    const place = index + 1;
    const fail = (problem: string): Reading => ({
      ok: false,
      place,
      error: `has a mistake at character ${place}: “${first}” ${problem}`,
    });
    if (/[A-Za-z]/.test(first)) {
      if (first === 'p' && dialect.extended) {
        if (!/[A-Za-z]/.test(text.charAt(index + token.length))) return fail('needs a letter after it');
        pad = token.length;
        continue;
      }
      const letter = Object.hasOwn(dialect.letters, first) ? dialect.letters[first] : undefined;
      if (!letter) return fail('has no meaning in a date format; put plain text in single quotes');
      if (!letter.allows(token.length)) {
        const allowed = Array.from({ length: 19 }, (_, place) => place + 1).filter(letter.allows);
        return fail(`has the length ${token.length}; allowed lengths: ${allowed.join(', ')}`);
      }
      const row = { letters: token, letter, pad };
      if (pad > 0 && !fitsEver(row)) return fail(`never fits into the width ${pad}, which p sets`);
      parts.push(row);
      pad = 0;
    } else if (token === "'") {
      return fail('opens a quote that is never closed');
    } else if (first === "'") {
      parts.push(token === "''" ? "'" : token.slice(1, -1).replaceAll("''", "'"));
    } else if (dialect.extended && '[]'.includes(first)) {
      openSections += first === '[' ? 1 : -1;
      if (openSections < 0) return fail('has no [ before it');
    } else if (dialect.extended && '{}#'.includes(first)) {
      return fail('is not allowed as text; put it in single quotes');
    } else {
      parts.push(token);
    }
  }
  return { ok: true, pattern: { dialect, parts }, warnings: warningsFor({ dialect, parts }) };
}

/** Moments to test whether a padding can ever be wide enough: one on each day of a year, at changing hours, in the zone `Z`. */
const PROBES = Array.from({ length: 366 }, (_, day) => dateTimeFormatter.at(day * 25 * 3_600_000, '+00:00'));

const fitsEver = ({ letter, letters, pad }: Row) => PROBES.some((moment) => letter.print(moment, letters.length).length <= pad);

/** Warns about `u` (weekday number) or `Y` (week year) beside a month or a day: the author usually means `y`. */
function warningsFor({ dialect, parts }: Pattern): string[] {
  const used = new Set(parts.flatMap((part) => (typeof part === 'string' ? [] : part.letters.charAt(0))));
  if (!['M', 'L', 'd', 'D'].some((letter) => used.has(letter))) return [];
  const warnings = [];
  if (used.has('u') && dialect.name === 'SimpleDateFormat')
    warnings.push('has u, which is the number of the weekday (1 is Monday); for the year, write y');
  if (used.has('Y'))
    warnings.push('has Y, which is the year of the week and can be wrong around New Year; for the calendar year, write y');
  return warnings;
}
