/** Tokens in an unreadable text: candidates are looked up, and all of them are removed from the stored text. */

import { isNearMiss, maxActions, maxTokenLength } from '../chain/request.js';
import { isMistyped } from '../contract/credential.js';

/** A text without its tokens. `at`: for an offset in the original text, the offset in this text. */
export interface Masked {
  text: string;
  at(offset: number): number;
}

const mask = '***';
const madeLength = 40; // the length of a token that the relay made
const shortest = 16; // a token of an earlier system has at least 16 characters: a shorter text is not a secret
const mostCandidates = maxActions; // a longer list would make the search slow
const scanMs = 100;

interface Found {
  candidates: Set<string>;
  ranges: [from: number, to: number][]; // places of the values of token fields
}

/** Also matches `relayAccessToken=`, and doubly escaped or percent-encoded forms. */
const filler = String.raw`(?:["'\s\\]|%22|%20|%5C|&quot;)*`;
const named = new RegExp(`([A-Za-z][\\w-]{11,20})${filler}(?:[:=]|%3A|%3D)${filler}`, 'gi');
const made = /rl[tka]_[0-9A-Za-z]{8,}/g;
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

/** `masked`: the text without candidates; `hide`: removes the candidates from another text. */
export interface TokensIn {
  candidates: string[];
  masked: Masked;
  hide(text: string): string;
}

/** Possible tokens in a text that is not stored. */
export function candidatesIn(text: string): string[] {
  return [...find(text).candidates];
}

/** Possible tokens anywhere in the text. */
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
  return { candidates: [...candidates], masked: withoutRanges(text, ranges), hide };
}

function encodeSafely(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}

function withoutRanges(text: string, ranges: [from: number, to: number][]): Masked {
  const pieces: string[] = [];
  const cuts: { from: number; to: number; shift: number }[] = [];
  let done = 0;
  let shift = 0; // the number of removed characters so far
  for (const [start, to] of ranges.sort(([a, aEnd], [b, bEnd]) => a - b || bEnd - aEnd)) {
    const from = Math.max(start, done);
    if (to <= from) continue;
    if (start < done) {
      // Merge overlapping ranges.
      shift += to - from;
      done = to;
      const last = cuts.at(-1);
      if (last) Object.assign(last, { to, shift });
      continue;
    }
    pieces.push(text.slice(done, from), mask);
    shift += to - from - mask.length;
    done = to;
    cuts.push({ from, to, shift });
  }
  pieces.push(text.slice(done));
  const at = (offset: number): number => {
    const last = cuts.findLast(({ from }) => from < offset);
    if (!last) return offset;
    return Math.max(offset, last.to) - last.shift;
  };
  return { text: pieces.join(''), at };
}
