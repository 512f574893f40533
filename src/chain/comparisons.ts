/** Converts conditions between rows (property, comparison, value) and the API's texts: `actionCondition`, or CEL (`if`, `when`). */

import { parseCondition, pathPattern, pathText, stepsOf } from './condition.js';
import type { Fields } from './fields.js';

export type Subject = 'assignment' | 'event' | 'incomingValue';
export type Value = string | number | boolean;
export interface Row {
  of: Subject;
  /** For example `location.zip`. Empty for `incomingValue`. */
  path: string;
  comparison: Comparison;
  /** Unused for `exists` and `missing`. */
  value: Value;
}

/** `cel` is the comparison in CEL. `P` is the property, and `V` is the value. */
export const comparisons = {
  is: { words: 'is', cel: 'P == V' },
  not: { words: 'is not', cel: 'P != V' },
  more: { words: 'is more than', cel: 'P > V' },
  less: { words: 'is less than', cel: 'P < V' },
  contains: { words: 'contains', cel: 'P.contains(V)' },
  exists: { words: 'exists', cel: 'has(P)' },
  missing: { words: 'does not exist', cel: '!(has(P))' },
} as const;
export type Comparison = keyof typeof comparisons;
const allComparisons = Object.keys(comparisons) as Comparison[];
export const hasValue = (comparison: Comparison) => comparisons[comparison].cel.includes('V');

/** `text` is an expression that rows cannot show. */
export type Condition = { rows: readonly Row[]; join: 'and' | 'or'; text?: string };

export const noCondition: Condition = { rows: [], join: 'and' };

/** Reads the condition of an action from its fields `actionCondition` and `if`. */
export function conditionOf({ actionCondition, if: expression }: Fields): Condition {
  const plain = typeof actionCondition === 'string' && actionCondition !== '' ? [plainRow(actionCondition)] : [];
  if (typeof expression !== 'string' || expression === '') return { ...noCondition, rows: plain };
  const { rows, join, text } = whenOf(expression);
  if (text !== undefined || (plain.length > 0 && join === 'or')) return { rows: plain, join: 'and', text: expression };
  return { rows: [...plain, ...rows], join };
}

/** Reads an expression in CEL. */
export function whenOf(expression: unknown): Condition {
  if (typeof expression !== 'string' || expression === '') return noCondition;
  return readExpression(expression) ?? { ...noCondition, text: expression };
}

/** Writes the condition into fields. A single `is` or `is not` needs CEL only if it compares the event. */
export function fieldsOfCondition({ rows: written, join, text }: Condition): { actionCondition?: string; if?: string } {
  const rows = written.filter(isWhole);
  const [only, second] = rows;
  const isPlain = only && !second && only.of !== 'event' && (only.comparison === 'is' || only.comparison === 'not');
  const plain = isPlain ? { actionCondition: plainText(only) } : {};
  if (text !== undefined) return { ...plain, ...(text.trim() !== '' && { if: text }) };
  if (isPlain || rows.length === 0) return plain;
  return { if: expressionOf(rows, join) };
}

/** Whether a person has chosen the property. */
export const isWhole = ({ of, path }: Row) => of === 'incomingValue' || path.trim() !== '';

function plainRow(text: string): Row {
  const { condition } = parseCondition(text);
  if (!condition) return { of: 'assignment', path: text, comparison: 'is', value: '' };
  const { operator, value } = condition;
  const comparison = operator === '==' ? 'is' : 'not';
  if (condition.path[0] === 'incomingValue') return { of: 'incomingValue', path: '', comparison, value };
  return { of: 'assignment', path: pathText(condition.path), comparison, value };
}

function plainText({ of, path, comparison, value }: Row): string {
  const text = String(value);
  const isOdd = text !== text.trim() || text === '' || /&&|\|\||[=!]=|^["']/.test(text);
  return `${of === 'incomingValue' ? of : path}${comparison === 'is' ? '==' : '!='}${isOdd ? `"${text}"` : text}`;
}

/** CEL reserves these words. After a dot, CEL does not accept them as the name of a property. */
const reserved =
  /^(as|break|const|continue|else|false|for|function|if|import|in|let|loop|namespace|null|package|return|true|var|void|while)$/;
const isName = (step: string) => /^[A-Za-z_]\w*$/.test(step) && !reserved.test(step);

/** Writes `location.zip` of the event as `event.location.zip`. */
function celPath({ of, path }: Pick<Row, 'of' | 'path'>): string {
  const written = stepsOf(path).map((step) =>
    typeof step === 'number' ? `[${step}]` : isName(step) ? `.${step}` : `[${JSON.stringify(step)}]`,
  );
  return [of, ...written].join('');
}

/** Writes a test of whether the property exists. `has` allows only a name after a dot, so other paths need another test. */
function has({ of, path }: Row): string {
  const all = stepsOf(path);
  const last = all.at(-1) ?? '';
  const parent = celPath({ of, path: pathText(all.slice(0, -1)) });
  if (typeof last === 'number') return `size(${parent}) > ${last}`;
  return isName(last) ? `has(${celPath({ of, path })})` : `${JSON.stringify(last)} in ${parent}`;
}

/** Writes the rows as CEL, such as `assignment.status == "draft" && event.priority > 3`. */
export function expressionOf(rows: readonly Row[], join: Condition['join']): string {
  const terms = rows.map((row) => {
    const value = JSON.stringify(row.comparison === 'contains' ? String(row.value) : row.value);
    const parts: Record<string, string> = { 'has(P)': has(row), P: celPath(row), V: value };
    return comparisons[row.comparison].cel.replaceAll(/has\(P\)|P|V/g, (part) => parts[part] ?? part);
  });
  return terms.join(join === 'and' ? ' && ' : ' || ');
}

const patterns: Record<string, string> = {
  P: /(?<of>event|assignment|incomingValue)(?<path>(?:\.[A-Za-z_]\w*|\[\d+\]|\["[^"\\]*"\])*)/.source,
  // Allows only the escapes that JSON also has.
  V: /(?<value>"(?:[^"\\\p{Cc}]|\\["\\bfnrt])*"|-?\d+(?:\.\d+)?|true|false)/u.source,
  ' ': '\\s*',
};
const forms = allComparisons.map((comparison) => {
  const source = comparisons[comparison].cel.replaceAll(/[^\w!=<>]|P|V/g, (part) => patterns[part] ?? `\\${part}`);
  return { comparison, form: new RegExp(`^\\s*${source}\\s*(?:(?<join>&&|\\|\\|)(?<rest>.+))?$`, 'su') };
});

/** Reads CEL that consists of simple comparisons, joined only by `&&` or only by `||`. Undefined for other CEL. */
export function readExpression(text: string): Condition | undefined {
  const written = text.replace(/^\s*!(has\([^()]*\))/, '!($1)');
  for (const { form, comparison } of forms) {
    const { of, path, value = '""', join: sign, rest } = form.exec(written)?.groups ?? {};
    if (of === undefined || path === undefined) continue;
    const place = path.replaceAll(/\["([^"\\]*)"\]/g, '.$1').replace(/^\./, '');
    if (of === 'incomingValue' ? place !== '' : !pathPattern.test(place)) return undefined;
    const row: Row = { of: of as Subject, path: place, comparison, value: JSON.parse(value) };
    if (rest === undefined) return { rows: [row], join: 'and' };
    const [join, others] = [sign === '&&' ? 'and' : 'or', readExpression(rest)] as const;
    const isOne = others && (others.rows.length === 1 || others.join === join);
    return isOne ? { rows: [row, ...others.rows], join } : undefined;
  }
  return undefined;
}

/** Gives the text the type of the earlier value `seen`, because in CEL the text "3" is not the number 3. */
export function typedValue(text: string, comparison: Comparison, seen: unknown): Value {
  const isNumber = String(Number(text)) === text.trim() && Number.isFinite(Number(text));
  if (comparison === 'more' || comparison === 'less') return isNumber ? Number(text) : text;
  if (comparison !== 'is' && comparison !== 'not') return text;
  if (typeof seen === 'number' && isNumber) return Number(text);
  if (typeof seen === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
