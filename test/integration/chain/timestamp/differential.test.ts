/**
 * Compares the formatter with the JDK: random patterns, instants and zones from a fixed seed, and every letter at every width.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { formatTimestamp, parsePattern } from '../../../../src/chain/timestamp/pattern.js';
import { extent } from '../../../extent.js';
import { randomFrom } from '../../../random.js';

const ORACLE = fileURLToPath(new URL('../../../../../test/chain/timestamp/Oracle.java', import.meta.url));
const ZONES = Object.keys(
  JSON.parse(readFileSync(new URL('../../../../../src/chain/timestamp/zones.json', import.meta.url), 'utf8')).zones,
)
  .flatMap((ids) => ids.split(' '))
  .filter((id) => !['EST', 'MST', 'HST'].includes(id)); // zone names that java.time.ZoneId does not know

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];
const YEAR = 31_556_952_000;
const count = extent(2_000, 10_000);

interface Case {
  epochMillis: number;
  zone: string;
  pattern: string;
}

/** Zone names and letters differ between JDKs; the samples were measured on JDK 17. */
const version = spawnSync('java', ['-version'], { encoding: 'utf8' }).stderr?.match(/version "(\d+)[^"]*"/);
const skip = !version
  ? 'SKIPPED: there is no java on the PATH, so nothing was compared with the JDK'
  : version[1] !== '17' && `SKIPPED: the java on the PATH is ${version[1]}; the patterns are those of JDK 17`;

describe('timestamps and the JDK', { skip }, () => {
  it(`agree in ${count} random cases for SimpleDateFormat`, (t) => {
    const random = seeded(17);
    const cases = Array.from({ length: count }, () => ({ ...randomMoment(random), pattern: simplePattern(random) }));
    compare(cases, 0.995, (line) => t.diagnostic(line));
  });

  it(`agree in ${count} random cases that only DateTimeFormatter accepts`, (t) => {
    const random = seeded(18);
    const cases = Array.from({ length: count }, () => ({ ...randomMoment(random), pattern: formatterPattern(random) }));
    compare(cases, 0.995, (line) => t.diagnostic(line));
  });

  it('agree on every letter at every width, alone and next to a letter of DateTimeFormatter', (t) => {
    const moments = [
      { epochMillis: 1_709_672_829_045, zone: 'America/New_York' },
      { epochMillis: 1_735_689_599_999, zone: '+05:30' },
      { epochMillis: -3_786_825_600_000, zone: 'Europe/Paris' },
      { epochMillis: 370_000_000_000_000, zone: '+00:00' },
    ];
    const rows = LETTERS.flatMap((letter) => Array.from({ length: 20 }, (_, i) => letter.repeat(i + 1)));
    const cases = rows.flatMap((row) =>
      moments.flatMap((moment) => [row, `Q ${row}`].map((pattern) => ({ ...moment, pattern }))),
    );
    compare(cases, 1, (line) => t.diagnostic(line));
  });
});

/** Prints the rate, and each difference with its reason, if known. Asserts the rate. */
function compare(cases: Case[], atLeast: number, say: (line: string) => void): void {
  const input = cases.map(({ epochMillis, zone, pattern }) => `${epochMillis}\t${zone}\t${pattern}\n`).join('');
  const java = spawnSync('java', [ORACLE], { input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  assert.equal(java.status, 0, java.stderr);
  const answers = java.stdout.split('\n');
  const misses = cases.flatMap((one, i) => {
    const [expected = '', ours] = [answers[i], answer(one)];
    // Some patterns can never be printed. The relay rejects such a pattern at once. Java fails only when it prints.
    const same = ours === expected || (ours === 'rejected' && expected === 'unprintable');
    return same ? [] : [{ ...one, expected, ours }];
  });
  const rate = 1 - misses.length / cases.length;
  const printed = answers.filter((line) => line.includes('\t')).length;
  say(
    `${(rate * 100).toFixed(2)} % of ${cases.length} cases as in the JDK (java ${version?.[0]}), which printed ` +
      `${printed} of them`,
  );
  for (const miss of misses) say(`miss: ${reasonFor(miss)}: ${JSON.stringify(miss)}`);
  assert(rate >= atLeast, `${misses.length} of ${cases.length} differ`);
}

/** The relay's result, in the format of Oracle.java. */
function answer({ epochMillis, zone, pattern }: Case): string {
  const parsed = parsePattern(pattern);
  if (!parsed.ok) return 'rejected';
  try {
    return `${parsed.pattern.dialect.name}\t${formatTimestamp(parsed.pattern, epochMillis, zone)}`;
  } catch (error) {
    if (error instanceof RangeError && error.message.includes('which p sets')) return 'unprintable';
    throw error;
  }
}

/** The known differences; each was examined by hand. */
function reasonFor({ epochMillis, zone, pattern }: Case): string {
  const year = new Date(epochMillis).getUTCFullYear();
  if (/Tijuana|Ensenada|Santa_Isabel|BajaNorte/.test(zone) && year > 1947 && year < 1977)
    return "Node's time zone data (2025c) know more than this JDK's (2025a)";
  if (/Windhoek|Gaza|Hebron|Casablanca|El_Aaiun/.test(zone) && year > 2036)
    return 'java.util.TimeZone, unlike java.time, simplifies the rules after 2037';
  if (zone.startsWith('SystemV/') && year < 1903) return 'Node has no daylight saving time for this obsolete zone before 1902';
  if (/u{11}|Y{11}/.test(pattern) && year < 1) return 'of 11 to 18 letters Java can print negative years only';
  if (pattern.includes('Y') && year < 1) return 'the JDK errs in the last week of a year before Christ';
  return 'not known yet';
}

function randomMoment(random: Random): Omit<Case, 'pattern'> {
  const years = random.pick([
    [1970, 2037],
    [1970, 2037],
    [1970, 2037],
    [1900, 2037],
    [1581, 1584],
    [-4000, 9999],
    [-20_000, 20_000],
  ]);
  const [from = 0, to = 0] = years.map((year) => (year - 1970) * YEAR);
  const fixed = random.pick(['+', '-']) + String(random.upTo(14)).padStart(2, '0') + random.pick([':00', ':30', ':45', ':07']);
  return { epochMillis: from + random.upTo(to - from), zone: random.upTo(9) === 0 ? fixed : random.pick(ZONES) };
}

/** One to six letters of SimpleDateFormat, some with text between them. */
function simplePattern(random: Random): string {
  const texts = [
    '',
    ' ',
    '-',
    '/',
    ':',
    '.',
    ', ',
    "''",
    "'T'",
    "'o''clock'",
    "''''",
    "'''x'",
    '|',
    'é',
    '中',
    '\\',
    '[',
    '{',
    '#',
  ];
  return repeated(1 + random.upTo(5), () => {
    const letter = random.pick([...'GyYMLwWDdFEuaHkKhmsSzZX']);
    return letter.repeat(1 + random.upTo(letter === 'X' ? 2 : random.pick([3, 5, 5, 15]))) + random.pick(texts);
  });
}

/**
 * Letters of DateTimeFormatter. SimpleDateFormat lacks at least one of them. A space follows each padded letter,
 * because Java throws a ClassCastException if a number comes directly after a padded number.
 */
function formatterPattern(random: Random): string {
  const texts = ['', '', ' ', '-', ':', "''", "'at'", "''''", '|', 'é', '[', ']'];
  const widths: Record<string, number[]> = { V: [2], v: [1, 4], O: [1, 4], B: [1, 4, 5], c: [1, 3, 4, 5], z: [1, 2, 3, 4] };
  for (const letter of 'WFa') widths[letter] = [1];
  for (const letter of 'dHkKhmsw') widths[letter] = [1, 2];
  const letters = (among: string) => {
    const letter = random.pick([...among]);
    const width = random.upTo(19) === 0 ? 1 + random.upTo(19) : random.pick(widths[letter] ?? [1, 2, 3, 4, 5]);
    return random.upTo(9) === 0
      ? `${'p'.repeat(3 + random.upTo(20))}${letter.repeat(width)} `
      : letter.repeat(width) + random.pick(texts);
  };
  return letters('QqecBAnNgxOVv') + repeated(random.upTo(4), () => letters('GuyDMLdgQqYwWEecFaBhKkHmsSAnNVvzOXxZ'));
}

function repeated(times: number, part: () => string): string {
  return Array.from({ length: times }, part).join('');
}

interface Random {
  /** A whole number from 0 to `most`. */
  upTo(most: number): number;
  pick<T>(from: readonly T[]): T;
}

function seeded(seed: number): Random {
  const random = randomFrom(seed);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const pick = <T>(from: readonly T[]): T => {
    const picked = from[upTo(from.length - 1)];
    assert(picked !== undefined);
    return picked;
  };
  return { upTo, pick };
}
