import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { formatTimestamp, parsePattern } from '../../../../src/chain/timestamp/pattern.js';

/** Measured on a JDK. `expected: null`: both SimpleDateFormat and DateTimeFormatter reject the pattern. */
const samples: { pattern: string; epochMillis: number; zone: string; expected: string | null }[] = readFileSync(
  new URL('../../../../../test/chain/timestamp/cases.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

/** A Tuesday, 16:07:09.045 in New York. */
const TUESDAY = 1_709_672_829_045;

function format(pattern: string, epochMillis: number, zone: string): string | null {
  const parsed = parsePattern(pattern);
  return parsed.ok ? formatTimestamp(parsed.pattern, epochMillis, zone) : null;
}

describe('the samples measured on a JDK', () => {
  for (const { pattern, epochMillis, zone, expected } of samples)
    it(`${pattern} of ${epochMillis} in ${zone}: ${expected ?? 'rejected'}`, () =>
      assert.equal(format(pattern, epochMillis, zone), expected));
});

describe('the tables of docs/timestamps.md', () => {
  const page = readFileSync(new URL('../../../../../docs/timestamps.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `(.+?)` +\| `(.+?)` +\|/gm)];
  it('hold examples', () => assert(rows.length > 40));
  for (const [, pattern = '', result] of rows)
    it(`${pattern} gives ${result}`, () => assert.equal(format(pattern, TUESDAY, 'America/New_York'), result));
});

describe('a pattern', () => {
  const newYork: [pattern: string, expected: string, why: string][] = [
    ["yyyy-MM-dd'T'HH:mm:ss.SSSXXX", '2024-03-05T16:07:09.045-05:00', 'the commonest one'],
    ['', '', 'empty'],
    ["''''", "''", 'SimpleDateFormat reads two doubled quotes'],
    ["''''Q", "'1", 'DateTimeFormatter reads a quoted doubled quote'],
    ["'a''b'''", "a'b'", 'quotes in quotes'],
    ["'a'é'b'中🎉", 'aéb中🎉', 'adjacent literals'],
    ['[yyyy]{#}', '[2024]{#}', 'text for SimpleDateFormat'],
    ['[yyyy][[Q]', '20241', 'optional sections for DateTimeFormatter, closed or not'],
    ['u', '2', 'the weekday for SimpleDateFormat'],
    ['u Q', '2024 1', 'the year for DateTimeFormatter'],
    ['SSSSSS', '000045', 'milliseconds filled up for SimpleDateFormat'],
    ['SSSSSSQ', '0450001', 'a fraction for DateTimeFormatter'],
    ['EEEEE', 'Tuesday', 'in full from four letters for SimpleDateFormat'],
    ['EEEEEQ', 'T1', 'narrow for DateTimeFormatter'],
    ['QQQQ|qqqqq', '1st quarter|1', 'quarters'],
    ['e|ee|eee|c|cccc', '3|03|Tue|3|Tuesday', 'weekdays from Sunday'],
    ['A|n|N|g', '58029045|45000000|58029045000000|60374', 'counters'],
    ['VV|v|vvvv|O|OOOO', 'America/New_York|ET|Eastern Time|GMT-5|GMT-05:00', 'zones'],
    ['ppppd|pppppQQQ', '   5|   Q1', 'padding'],
  ];
  for (const [pattern, expected, why] of newYork)
    it(`${pattern || '(empty)'} gives ${expected || 'nothing'}: ${why}`, () =>
      assert.equal(format(pattern, TUESDAY, 'America/New_York'), expected));

  const instants: [pattern: string, at: string, zone: string, expected: string][] = [
    ['yyyy-MM-dd', '1582-10-14T12:00:00Z', 'UTC', '1582-10-04'],
    ['yyyy-MM-dd Q', '1582-10-14T12:00:00Z', 'UTC', '1582-10-14 4'],
    ['yyyy-MM-dd', '1582-10-15T12:00:00Z', 'UTC', '1582-10-15'],
    ['yyyy|yy|y', '+012345-06-07T00:00:00Z', 'UTC', '12345|45|12345'],
    ['yyyy|uu|yQ', '+012345-06-07T00:00:00Z', 'UTC', '+12345|45|123452'],
    ['YYYY w', '2024-12-29T00:00:00Z', 'UTC', '2025 1'],
    ['YYYY w', '2022-01-01T00:00:00Z', 'UTC', '2022 1'],
    ['G y|GGGG u Q', '-000043-03-15T00:00:00Z', 'UTC', 'BC 44|Before Christ -43 1'],
    ['HH:mm z', '2024-03-10T06:59:59Z', 'America/New_York', '01:59 EST'],
    ['HH:mm z', '2024-03-10T07:00:00Z', 'America/New_York', '03:00 EDT'],
    ['HH:mm z', '2024-11-03T05:30:00Z', 'America/New_York', '01:30 EDT'],
    ['HH:mm z', '2024-11-03T06:30:00Z', 'America/New_York', '01:30 EST'],
    ['HH:mm Z', '2024-01-01T00:00:00Z', 'Asia/Kathmandu', '05:45 +0545'],
    ['X|XXX|z', '2024-01-01T00:00:00Z', '+00:00', 'Z|Z|UTC'],
    ['x|xxx|z', '2024-01-01T00:00:00Z', '+00:00', '+00|+00:00|Z'],
    ['HH:mm:ss XXX|XXXXX', '1850-01-01T00:00:00Z', 'Europe/Paris', '00:09:21 +00:09|+00:09:21'],
    ['HH:mm:ss XXX', '1850-01-01T00:00:00Z', 'Europe/Paris', '01:00:00 +01:00'],
    ['B', '2024-01-01T12:00:59Z', 'UTC', 'noon'],
    ['BBBBB', '2024-01-01T00:00:00Z', 'UTC', 'mi'],
  ];
  for (const [pattern, at, zone, expected] of instants)
    it(`${pattern} of ${at} in ${zone} gives ${expected}`, () => assert.equal(format(pattern, Date.parse(at), zone), expected));

  const rejected: [pattern: string, error: string][] = [
    ['yyyy-MM-ddTHH:mm', 'has a mistake at character 11: “T” has no meaning in a date format; put plain text in single quotes'],
    ["yyyy 'at", "has a mistake at character 6: “'” opens a quote that is never closed"],
    ["'it''s", "has a mistake at character 1: “'” opens a quote that is never closed"],
    ['yyyy QQQQQQ', 'has a mistake at character 6: “Q” has the length 6; allowed lengths: 1, 2, 3, 4, 5'],
    ['XXXXXX', 'has a mistake at character 1: “X” has the length 6; allowed lengths: 1, 2, 3, 4, 5'],
    [
      'EEEEEE Q',
      'is wrong for both Java classes: for SimpleDateFormat, it has a mistake at character 8: “Q” has no meaning in a date format; put plain text in single quotes; ' +
        'for DateTimeFormatter, it has a mistake at character 1: “E” has the length 6; allowed lengths: 1, 2, 3, 4, 5',
    ],
    [
      'Q {',
      'is wrong for both Java classes: for SimpleDateFormat, it has a mistake at character 1: “Q” has no meaning in a date format; put plain text in single quotes; ' +
        'for DateTimeFormatter, it has a mistake at character 3: “{” is not allowed as text; put it in single quotes',
    ],
    [
      '[Q]]',
      'is wrong for both Java classes: for SimpleDateFormat, it has a mistake at character 2: “Q” has no meaning in a date format; put plain text in single quotes; ' +
        'for DateTimeFormatter, it has a mistake at character 4: “]” has no [ before it',
    ],
    ['pp-', 'has a mistake at character 1: “p” needs a letter after it'],
    [
      'pHH',
      'is wrong for both Java classes: for SimpleDateFormat, it has a mistake at character 1: “p” has no meaning in a date format; put plain text in single quotes; ' +
        'for DateTimeFormatter, it has a mistake at character 2: “H” never fits into the width 1, which p sets',
    ],
  ];
  for (const [pattern, error] of rejected)
    it(`${pattern} is rejected: ${error}`, () => assert.deepEqual(parsePattern(pattern), { ok: false, error }));

  it('fails to print, as Java does, only at an instant whose text is longer than its width', () => {
    assert.equal(format('pH', Date.UTC(2024, 0, 1, 9), 'UTC'), '9');
    assert.throws(
      () => format('pH', Date.UTC(2024, 0, 1, 10), 'UTC'),
      /^RangeError: "10" \(H\) does not fit into the width 1, which p sets$/,
    );
  });

  const warned: [pattern: string, ...warnings: RegExp[]][] = [
    ['yyyy-MM-dd'],
    ['YYYY-MM-dd', /^has Y, which is the year of the week/],
    ['uuuu-MM-dd', /^has u, which is the number of the weekday/],
    ['uYD', /^has u, /, /^has Y, /],
    ["YYYY-'W'ww-u"],
    ["yyyy-MM-dd 'YYYY u'"],
    ['uuuu-MM-dd VV'],
    ['YYYY-MM-dd VV', /^has Y, /],
  ];
  for (const [pattern, ...warnings] of warned)
    it(`${pattern} causes ${warnings.length} warnings`, () => {
      const parsed = parsePattern(pattern);
      assert(parsed.ok);
      assert.equal(parsed.warnings.length, warnings.length);
      parsed.warnings.forEach((warning, i) => {
        assert.match(warning, warnings[i] ?? /^$/);
      });
    });

  it('prints the same on a host in any zone', (t) => {
    const home = process.env.TZ;
    t.after(() => {
      if (home === undefined) delete process.env.TZ;
      else process.env.TZ = home;
    });
    for (const host of ['UTC', 'Asia/Tokyo', 'America/St_Johns']) {
      process.env.TZ = host;
      assert.equal(format('yyyy-MM-dd HH:mm:ss z', TUESDAY, 'America/New_York'), '2024-03-05 16:07:09 EST');
    }
  });
});
