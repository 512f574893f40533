/** `relay rules test`: checks rules in YAML files and runs their cases, without a relay. */

import { counted } from '../../chain/text.js';
import type { Session } from '../session.js';
import { exitCodes, UsageError } from '../terminal.js';
import { type Line, line } from '../text.js';
import { type Difference, runCase } from './cases.js';
import { type RuleFile, readRuleFiles } from './file.js';

export function test(session: Session, path: string): void {
  const files = readRuleFiles(path);
  if (files.length === 0) throw new UsageError(`${path} has no YAML file`);
  const wrong = reportProblems(session, files);
  const passed = files.flatMap((file) => runCases(session, file));
  const failed = passed.filter((passes) => !passes).length;
  const rules = `${counted(files.length, 'rule')}${wrong > 0 ? ` (${wrong} with mistakes)` : ''}`;
  session.print([`${rules}, ${counted(passed.length, 'case')}, ${failed} failed`]);
  if (failed > 0) session.exitCode = exitCodes.refused;
}

/** @returns how many files have mistakes. */
export function reportProblems(session: Session, files: readonly RuleFile[]): number {
  for (const { problems, warnings } of files)
    for (const text of [...problems, ...warnings.map((warning) => `Warning: ${warning}`)]) session.note(text);
  const wrong = files.filter(({ problems }) => problems.length > 0).length;
  if (wrong > 0) session.exitCode = exitCodes.refused;
  return wrong;
}

/** @returns whether each case passes. */
function runCases(session: Session, { contents, ...file }: RuleFile): boolean[] {
  if (!contents || file.problems.length > 0) return [];
  session.print([file.path]);
  return file.cases.map((one, place) => {
    const differences = runCase({ ...file, contents }, one);
    const passes = differences.length === 0;
    const mark = passes ? { text: 'ok    ', tone: 'good' as const } : { text: 'FAIL  ', tone: 'bad' as const };
    session.print([line`  ${mark}${one.name ?? `case ${place}`}`, ...differences.flatMap(differenceLines)]);
    return passes;
  });
}

const differenceLines = ({ what, expected, got }: Difference): Line[] => [
  `        ${what}`,
  ...valueLines('expected', expected),
  ...valueLines('got', got),
];

function valueLines(label: string, value: unknown): Line[] {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '(nothing)');
  return text.split('\n').map((part, place) => `          ${(place === 0 ? label : '').padEnd(10)}${part}`);
}
