import assert from 'node:assert/strict';
import { it } from 'node:test';
import { csvLine } from '../../../src/api/csv.js';

const cases: [what: string, value: unknown, cell: string][] = [
  ['a text', 'Room 5', 'Room 5'],
  ['nothing', undefined, ''],
  ['a number, also below zero', -5, '-5'],
  ['a comma', 'a,b', '"a,b"'],
  ['quotation marks', 'say "hi"', '"say ""hi"""'],
  ['a line break', 'a\r\nb', '"a\r\nb"'],
  ['a list of texts', ['a', 'b'], 'a; b'],
  ['a list of other values', [1, 2], '1; 2'],
  ['a formula', '=1+1', "'=1+1"],
  ['a formula with quotation marks', '=HYPERLINK("https://evil.example")', '"\'=HYPERLINK(""https://evil.example"")"'],
  ['a plus', '+1', "'+1"],
  ['a minus', '-1+1', "'-1+1"],
  ['an at', '@SUM(A1)', "'@SUM(A1)"],
  ['a tab', '\t=1', "'\t=1"],
  ['a carriage return', '\r=1', '"\'\r=1"'],
  ['a full-width formula', '＝1', "'＝1"],
];
for (const [what, value, cell] of cases) it(`writes ${what}`, () => assert.equal(csvLine([value, 'last']), `${cell},last\r\n`));
