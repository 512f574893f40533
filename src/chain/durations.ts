/** Converts between durations that people write, such as `30 minutes` or `1 h 30 min`, and the seconds that the API expects. */

import { counted, spans, spanText } from './text.js';

const units: Record<string, { word: string; names: RegExp }> = {
  d: { word: 'day', names: /^d(ays?)?$/ },
  h: { word: 'hour', names: /^h(ours?|rs?)?$/ },
  min: { word: 'minute', names: /^m(in(ute)?s?)?$/ },
  s: { word: 'second', names: /^s(ec(ond)?s?)?$/ },
};

/** For example `2 hours`. @param unit - `d`, `h`, `min` or `s` */
export const countedUnit = (count: number, unit: string) => counted(count, units[unit]?.word ?? unit);

type ReadDuration = { seconds: number; error?: undefined } | { seconds?: undefined; error: string };

const at = /^(at once|immediately|now|0)?$/;

/** A number alone means minutes. @returns `error` completes a sentence that begins with the label of the field. */
export function readDuration(text: string): ReadDuration {
  const typed = text.trim().toLowerCase();
  if (at.test(typed)) return { seconds: 0 };
  const written = /^\d+([.,]\d+)?$/.test(typed) ? `${typed} minutes` : typed;
  const parts = [...written.matchAll(/(\d+(?:[.,]\d+)?)\s*([a-z]+)\.?/g)];
  const rest = written.replaceAll(/(\d+(?:[.,]\d+)?)\s*([a-z]+)\.?|,|\band\b|\s/g, '');
  const sizes = parts.map(([, , name = '']) => spans.find(([unit]) => units[unit]?.names.test(name))?.[1]);
  if (parts.length === 0 || rest !== '' || sizes.includes(undefined))
    return { error: 'must be a time, such as 30 minutes or 1 h' };
  const seconds = parts.reduce((sum, [, count = ''], place) => sum + Number(count.replace(',', '.')) * (sizes[place] ?? 0), 0);
  return { seconds: Math.round(seconds) };
}

/** For example `1 hour 30 minutes`. Shows all units, so that `readDuration` reads the same seconds. */
export const wholeDuration = (seconds: number) => spanText(seconds, countedUnit, spans.length) || 'immediately';

/** Converts a written delay into seconds, as text. A delay of 0 becomes ''. A text that is no duration stays unchanged. */
export function storedDelay(text: string): string {
  const { seconds } = readDuration(text);
  return seconds === undefined ? text : seconds === 0 ? '' : String(seconds);
}

/** The opposite of `storedDelay`. */
export function delayText(stored: string): string {
  const seconds = delaySeconds(stored);
  return seconds === undefined ? stored : seconds === 0 ? '' : wholeDuration(seconds);
}

/** Reads `5 miles` as the `5` that the API expects. */
export const miles = (text: string) => text.replace(/^\s*(\d+(?:\.\d+)?)\s*(?:mi|miles?)\.?\s*$/i, '$1');

/** Reads a `delayInSeconds`. Undefined if the delay is not a number of seconds, for example if it is a reference. */
export function delaySeconds(delay: unknown): number | undefined {
  const text = delay === undefined ? '' : String(delay).trim();
  return /^\d*$/.test(text) ? Number(text) : undefined;
}
