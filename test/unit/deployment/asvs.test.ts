/** Each requirement of ASVS 5.0.0, levels 1 and 2, has a row in docs/security.md or asvs-5.0.0.md, with evidence that exists. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const root = new URL('../../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** The ids of the requirements in order, one in each line. */
const asked = read('test/deployment/asvs-5.0.0.txt').trim().split('\n');
/** `10.4.1–10.4.3` means all requirements from the first to the last. */
const idsOf = (cell: string) =>
  cell.split(', ').flatMap((range) => {
    const [first = '', last = first] = range.split('–');
    const [from, to] = [asked.indexOf(first), asked.indexOf(last)];
    assert(from >= 0 && to >= from, `${range} is no range of requirements`);
    return asked.slice(from, to + 1);
  });
const tables = ['Holds', 'Does not apply', 'Does not hold yet'];
const rows = `${read('docs/security.md')}\n${read('test/deployment/asvs-5.0.0.md')}`.split(/^#+ /m).flatMap((section) => {
  const [heading = '', ...lines] = section.split('\n');
  return lines
    .filter((line) => /^\| *\d+\.\d+\.\d+/.test(line))
    .map((line) => {
      const [ids = '', asks = '', evidence = ''] = line.split(' | ').map((cell) => cell.replace(/^\||\|$/g, '').trim());
      return { ids: idsOf(ids), asks, verdict: heading, evidence };
    });
});
const tests = readdirSync(new URL('test/', root), { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.test.ts'),
);
/** A test is named by the end of its path, without `.test.ts`: `api/admin`. */
const testOf = (name: string) => tests.find((file) => `/${file}`.endsWith(`/${name}.test.ts`)) ?? `${name}.test.ts`;
const fileOf = (name: string) => (/^(src|docs|test|deploy)\/|\.[a-z]+$|^Dockerfile$/.test(name) ? name : `test/${testOf(name)}`);
const named = (evidence: string) => [
  ...Array.from(evidence.matchAll(/`([\w./-]+\/[\w./-]+|Dockerfile|[\w.-]+\.(?:yml|json|md))`/g), ([, name = '']) =>
    fileOf(name),
  ),
];

describe('the ASVS tables', () => {
  it('has every requirement of levels 1 and 2 once', () => {
    const ids = rows.flatMap(({ ids }) => ids);
    assert.equal(asked.length, 253);
    assert.deepEqual(ids.toSorted(), asked.toSorted());
  });

  for (const { ids, asks, verdict, evidence } of rows)
    it(`${verdict}: ${ids.join(', ')} (${asks})`, () => {
      assert(tables.includes(verdict), `${verdict} must be one of ${tables.join(', ')}`);
      assert.notEqual(evidence, '');
      const files = named(evidence);
      assert(verdict !== 'Holds' || files.length > 0, `${evidence} names no test and no place`);
      for (const file of files) assert(existsSync(new URL(file, root)), `there is no ${file}`);
    });
});
