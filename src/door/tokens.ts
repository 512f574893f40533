/** Finds possible tokens (candidates) in an unreadable text. The relay looks up each candidate, and masks it in the stored text. */

import { isNearMiss, maxActions, maxTokenLength } from '../chain/request.js';
import { isMistyped } from '../contract/credential.js';

const mask = '***';
const madeLength = 40; // the length of a token that the relay made
const shortest = 16; // a shorter text cannot be a token, because tokens of an earlier system have at least 16 characters
const mostCandidates = maxActions; // a longer list would make the search slow
const scanMs = 100;

interface Found {
  candidates: Set<string>;
  ranges: [from: number, to: number][]; // places to mask: tokens of the relay, and values of token fields
}

/** Characters that can be around the `:` or `=` after a field's name. The characters can be escaped twice or percent-encoded. */
const filler = String.raw`(?:["'\s\\]|%22|%20|%5C|&quot;)*`;
const named = new RegExp(`([A-Za-z][\\w-]{11,20})${filler}(?:[:=]|%3A|%3D)${filler}`, 'gi');
const made = /rl[teka]_[0-9A-Za-z]{8,}/g;
const quoted = /((?:[^"\\\r\n]|\\.)*)"\s*[,}\]]/y;
const run = /[^"'\\\r\n,}\]&%<]*/y;
const unquoted = /[^"'\\\s,}\]&%<]*/y;

function find(text: string): Found {
  const candidates = new Set<string>();
  const ranges: Found['ranges'] = [];
  const deadline = performance.now() + scanMs;
  const add = (candidate: string) => {
    if (candidate !== '' && candidate.length <= maxTokenLength && candidates.size < mostCandidates) candidates.add(candidate);
  };
  for (const { 0: token, index } of text.matchAll(made)) {
    ranges.push([index, index + token.length]);
    const whole = token.slice(0, madeLength);
    if (!isMistyped(whole)) add(whole);
  }
  for (const { 0: match, 1: name = '', index } of text.matchAll(named)) {
    if (performance.now() > deadline) break;
    if (!isNearMiss(name, 'relayAccessToken')) continue;
    const from = index + match.length;
    const isString = match.endsWith('"') && !match.endsWith('\\"');
    const [, inner] = (isString && sticky(quoted, text, from)) || [];
    const [upToBreak = ''] = sticky(isString ? run : unquoted, text, from) ?? [];
    const [word = ''] = sticky(unquoted, text, from) ?? [];
    ranges.push([from, from + (inner ?? upToBreak).length]);
    add(unescaped(inner ?? upToBreak));
    for (const candidate of [upToBreak.trim(), word]) add(candidate);
  }
  return { candidates, ranges };
}

function sticky(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function unescaped(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

/** `hide` replaces the tokens in another text by `***`. */
export interface TokensIn {
  candidates: string[];
  masked: string; // the text with asterisks in place of the tokens; the masked text has the same offsets as the original
  hide(text: string): string;
}

/** Finds possible tokens in a text. If the text will be stored, use `tokensIn`. */
export const candidatesIn = (text: string): string[] => [...find(text).candidates];

/** Finds possible tokens, and masks each of them everywhere in the text. */
export function tokensIn(text: string): TokensIn {
  const { candidates, ranges } = find(text);
  const spellings = [...candidates]
    .filter((candidate) => candidate.length >= shortest)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeSafely(secret)]);
  const secrets = [...new Set(spellings)];
  for (const secret of secrets)
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length))
      ranges.push([at, at + secret.length]);
  const hide = (other: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, mask), other).replaceAll(made, mask);
  return { candidates: [...candidates], masked: masked(text, ranges), hide };
}

const encodeSafely = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

function masked(text: string, ranges: [from: number, to: number][]): string {
  const units = Buffer.from(text, 'utf16le'); // UTF-16 keeps a half of a surrogate pair unchanged
  for (const [from, to] of ranges) units.fill('*', 2 * from, 2 * to, 'utf16le');
  return units.toString('utf16le');
}
