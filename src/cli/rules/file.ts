/** Reads rules from YAML files, and finds the places of mistakes. text.ts writes the files. */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit, type YAMLMap } from 'yaml';
import { z } from 'zod';
import { type Issue, issuesOf } from '../../chain/request.js';
import { type Contents, contentsSchema } from '../../contract/rule-contents.js';
import { caseSchema, type RuleCase, ruleFileSchema } from '../../contract/rule-file.js';
import { checkContents } from '../../rules/contents.js';
import { UsageError } from '../terminal.js';

export interface RuleFile {
  path: string;
  document: Document;
  relayId?: string | undefined;
  name?: string | undefined;
  version?: number | undefined;
  contents: Contents | undefined; // undefined if the contents have mistakes
  cases: RuleCase[];
  problems: string[]; // each with its place: `rules/4711.yaml:12:5 /actions/1/delayInSeconds must be …`
  warnings: string[];
}

export const anyObject = z.record(z.string(), z.unknown());
export const contentsFields = Object.keys(contentsSchema.shape);

/** The rules in a folder, or in one file. @throws UsageError */
export function readRuleFiles(path: string): RuleFile[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new UsageError(`${path} does not exist`);
  if (!stats.isDirectory()) return [readRuleFile(path)];
  const names = readdirSync(path).filter((name) => /(?<!\.cases)\.ya?ml$/.test(name));
  const files = names.sort().map((name) => readRuleFile(join(path, name)));
  for (const [place, { relayId, path, problems }] of files.entries()) {
    const other = files.slice(0, place).find((file) => relayId !== undefined && file.relayId === relayId);
    if (other) problems.push(`${path}:1:1 /relayId is also in ${other.path}`);
  }
  return files;
}

export function readRuleFile(path: string): RuleFile {
  const { document, values, issues, problems } = readYaml(path);
  const file: RuleFile = { path, document, contents: undefined, cases: [], problems, warnings: [] };
  if (problems.length > 0) return file;
  const { data: about, error } = ruleFileSchema.safeParse(values);
  const { relayId, name, version, cases, ...contents } = values;
  const checked = checkContents(contents, { relayId: about?.relayId ?? '0' });
  const beside = casesBeside(path);
  problems.push(...issues([...(error ? issuesOf(error) : []), ...(checked.ok ? [] : checked.problems)]), ...beside.problems);
  const read = { ...file, ...about, cases: [...(about?.cases ?? []), ...beside.cases] };
  return checked.ok ? { ...read, contents: checked.contents, warnings: issues(checked.warnings) } : read;
}

/** The cases in `<file>.cases.yaml`. */
function casesBeside(path: string): Pick<RuleFile, 'cases' | 'problems'> {
  const beside = path.replace(/\.ya?ml$/, '.cases.yaml');
  if (!existsSync(beside)) return { cases: [], problems: [] };
  const { values, issues, problems } = readYaml(beside);
  const read = z.strictObject({ cases: z.array(caseSchema) }).safeParse(values);
  return {
    cases: read.data?.cases ?? [],
    problems: problems.length > 0 ? problems : read.error ? issues(issuesOf(read.error)) : [],
  };
}

/** `issues` adds the file's name, line and column to each issue. */
function readYaml(path: string) {
  const lines = new LineCounter();
  const document = parseDocument(readFileSync(path, 'utf8'), { lineCounter: lines, prettyErrors: false });
  keepAsWritten(document);
  const at = (offset: number) => `${path}:${lines.linePos(offset).line}:${lines.linePos(offset).col}`;
  const problems = document.errors.map(({ pos, message }) => `${at(pos[0])} ${message}`);
  const values = problems.length > 0 ? {} : valuesOf(document);
  if (typeof values === 'string') problems.push(`${at(0)} ${values}`);
  const issues = (found: readonly Issue[]) =>
    found.map(({ pointer, detail }) => `${at(offsetOf(document, pointer))} ${pointer || '(all)'} ${detail}`);
  return { document, values: typeof values === 'string' ? {} : values, problems, issues };
}

/** @returns the fields of the document, or a text that describes the mistake in it. */
function valuesOf(document: Document): Record<string, unknown> | string {
  try {
    return anyObject.safeParse(document.toJS()).data ?? 'must have fields, such as name and actions';
  } catch (error) {
    if (error instanceof ReferenceError) return error.message; // a wrong alias, such as `*urgent`
    throw error;
  }
}

/** Reads numbers in the rule and in expected actions as texts, so that `0071` does not become 71. Events keep their numbers. */
function keepAsWritten(document: Document): void {
  const keep = (node: unknown) => {
    if (!isNode(node)) return;
    visit(node, {
      Pair: (_, { key }) => (isScalar(key) && (key.value === 'runs' || key.value === 'needsAttention') ? visit.SKIP : undefined),
      Scalar(key, scalar) {
        if (key !== 'key' && ['number', 'boolean'].includes(typeof scalar.value)) scalar.value = scalar.source ?? scalar.value;
      },
    });
  };
  if (!isMap(document.contents)) return;
  for (const field of ['relayId', 'name', ...contentsFields]) keep(document.get(field, true));
  const cases = document.get('cases', true);
  for (const one of isSeq(cases) ? cases.items : []) if (isMap(one)) keep(one.get('actions', true));
}

/** Returns the place that the pointer names. If the file lacks this place, returns the place of the nearest parent. */
function offsetOf(document: Document, pointer: string): number {
  const steps = pointer.split('/').slice(1);
  let node: unknown = document.contents;
  let offset = 0;
  for (const step of steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))) {
    const pair = isMap(node) ? pairOf(node, step) : undefined;
    const found = isSeq(node) ? node.items[Number(step)] : pair?.key;
    if (!isNode(found)) break;
    offset = found.range?.[0] ?? offset;
    node = pair ? pair.value : found;
  }
  return offset;
}

export const pairOf = (map: YAMLMap, name: string) => map.items.find(({ key }) => isScalar(key) && String(key.value) === name);
