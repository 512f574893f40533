/** The table of docs/security.md: every requirement of ASVS 5.0.0's levels 1 and 2, and evidence that is there. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** Their ids, a line each. */
const asked = read('test/deployment/asvs-5.0.0.txt').trim().split('\n');
const rows = read('docs/security.md')
  .split('\n')
  .filter((line) => /^\| *\d+\.\d+\.\d+/.test(line))
  .map((line) => {
    const [ids = '', , verdict = '', evidence = ''] = line.split(' | ').map((cell) => cell.replace(/^\|| *\|$/g, '').trim());
    return { ids: ids.split(', '), verdict, evidence };
  });
const verdicts = ['holds', 'does not apply', 'does not hold yet'];
/** A test is named without its ending: `api/admin`. */
const fileOf = (name: string) => (/^(src|docs|test|deploy)\/|\.[a-z]+$|^Dockerfile$/.test(name) ? name : `test/${name}.test.ts`);
const named = (evidence: string) => [
  ...Array.from(evidence.matchAll(/`([\w./-]+\/[\w./-]+|Dockerfile|[\w.-]+\.(?:yml|json|md))`/g), ([, name = '']) =>
    fileOf(name),
  ),
  ...Array.from(evidence.matchAll(/\]\(([\w./-]+\.md)/g), ([, path = '']) => `docs/${path}`),
];

describe('the ASVS table of docs/security.md', () => {
  it('has every requirement of levels 1 and 2 once', () => {
    const ids = rows.flatMap(({ ids }) => ids);
    assert.equal(asked.length, 253);
    assert.deepEqual(ids.toSorted(), asked.toSorted());
  });

  for (const { ids, verdict, evidence } of rows)
    it(`${ids.join(', ')}: ${verdict}`, () => {
      assert(verdicts.includes(verdict), `${verdict} is none of ${verdicts.join(', ')}`);
      const files = named(evidence);
      assert(verdict !== 'holds' || files.length > 0 || /\]\(#/.test(evidence), `${evidence} names no test and no place`);
      for (const file of files) assert(existsSync(new URL(file, root)), `there is no ${file}`);
    });
});
