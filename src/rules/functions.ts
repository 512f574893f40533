/** Functions for CEL. Functions that nothing can interrupt have limits. Functions for times do not depend on the zone of the machine. */

import { type CelFunc, CelScalar, type CelValue, celFunc, celMethod, celType, objectType } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import { TimestampSchema, timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { offsetSeconds } from '../chain/timestamp/zone.js';

const { INT, DOUBLE, STRING, BOOL } = CelScalar;
const TIME = objectType(TimestampSchema);

const mostJoined = 4_000_000; // the maximum number of characters that all `+` of one evaluation make
const mostCompared = 2 ** 25; // the maximum number of comparisons of letters in one `contains`
let joined = 0;

export function beginEvaluation(): void {
  joined = 0;
}

/** Counts characters as CEL does: a surrogate pair counts as one character. */
function sizeOf(text: string): bigint {
  let size = text.length;
  for (let at = 1; at < text.length; at++)
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) size--;
  return BigInt(size);
}

function numberIn(text: string, pattern: RegExp, kind: string): string {
  if (!pattern.test(text)) throw new Error(`"${text.slice(0, 40)}" is not a ${kind}`);
  return text;
}

/** The operators for an `int` and a `double`, in either order. CEL itself has these operators only for two equal types. */
const mixed = Object.entries({
  '_+_': (one: number, other: number) => one + other,
  '_-_': (one: number, other: number) => one - other,
  '_*_': (one: number, other: number) => one * other,
  '_/_': (one: number, other: number) => one / other,
}).flatMap(([name, of]) => [
  celFunc(name, [INT, DOUBLE], DOUBLE, (one, other) => of(Number(one), other)),
  celFunc(name, [DOUBLE, INT], DOUBLE, (one, other) => of(one, Number(other))),
]);

const dayMs = 86_400_000;
const times = Object.entries({
  getFullYear: (date: Date) => date.getUTCFullYear(),
  getMonth: (date: Date) => date.getUTCMonth(),
  getDate: (date: Date) => date.getUTCDate(),
  getDayOfMonth: (date: Date) => date.getUTCDate() - 1,
  getDayOfWeek: (date: Date) => date.getUTCDay(),
  getDayOfYear: (date: Date) => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / dayMs),
  getHours: (date: Date) => date.getUTCHours(),
  getMinutes: (date: Date) => date.getUTCMinutes(),
  getSeconds: (date: Date) => date.getUTCSeconds(),
  getMilliseconds: (date: Date) => date.getUTCMilliseconds(),
}).flatMap(([name, of]) => [
  celMethod(name, TIME, [], INT, function () {
    return BigInt(of(timestampDate(this.message)));
  }),
  celMethod(name, TIME, [STRING], INT, function (zone) {
    const at = timestampDate(this.message).getTime();
    return BigInt(of(new Date(at + offsetSeconds(zone, at) * 1000)));
  }),
]);

export const functions: CelFunc[] = [
  ...mixed,
  ...times,
  ...strings.filter(({ name }) => ['lowerAscii', 'upperAscii', 'trim'].includes(name)),
  celFunc('_+_', [STRING, STRING], STRING, (one, other) => {
    joined += one.length + other.length;
    if (joined > mostJoined) throw new Error('makes texts that are too long');
    return one + other;
  }),
  celFunc('size', [STRING], INT, sizeOf),
  celMethod('size', STRING, [], INT, function () {
    return sizeOf(this);
  }),
  celMethod('contains', STRING, [STRING], BOOL, function (part) {
    if (this.length * part.length > mostCompared) throw new Error('compares texts that are too long');
    return this.includes(part);
  }),
  celFunc('int', [STRING], INT, (text) => BigInt(numberIn(text, /^-?\d{1,18}$/, 'whole number'))),
  celFunc('double', [STRING], DOUBLE, (text) => Number(numberIn(text, /^-?\d{1,300}(\.\d{1,300})?(e[+-]?\d{1,3})?$/i, 'number'))),
  celFunc('timestamp', [INT], TIME, (seconds) => timestampFromMs(Number(seconds) * 1000)),
];

const typeWords: Record<string, string> = {
  int: 'a whole number',
  uint: 'a whole number',
  double: 'a number',
  string: 'a text',
  bool: 'true or false',
  list: 'a list',
  map: 'an object',
  dyn: 'a value',
  null_type: 'null',
  'google.protobuf.Timestamp': 'a time',
  'google.protobuf.Duration': 'a duration',
};

/** @param type - the name of a type of CEL. */
export const typeWord = (type: string) => typeWords[type] ?? type;
export const wordOf = (value: CelValue) => typeWord(celType(value).name);
