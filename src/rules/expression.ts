/** CEL expressions. Their time and memory are limited, because a company writes them, and a stranger writes the event. */

import { createContext, Script } from 'node:vm';
import { type CelInput, type CelResult, celEnv, celList, celMap, isCelError, parse, plan, unparse } from '@bufbuild/cel';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { ownProperty, pathText } from '../chain/condition.js';
import { isObject } from '../chain/fields.js';
import { cutShort, type Parsed } from '../chain/text.js';
import { maxExpression } from '../contract/rule-contents.js';
import { beginEvaluation, functions, typeWord, wordOf } from './functions.js';

export const allNames = ['event', 'assignment', 'incomingValue', 'now'] as const;
export type Name = (typeof allNames)[number];
type Path = (string | number)[];
type NamedPath = { name: Name; path: Path };

export interface Expression {
  text: string;
  names: ReadonlySet<Name>;
  /** The parts of the event that the expression reads. An empty path is the whole event. */
  eventPaths: Path[];
}

type ParsedExpression = Parsed<{ expression: Expression }> & { at?: number };
type Values = { event?: unknown; assignment?: unknown; incomingValue?: string | undefined; now?: Date };

type Tree = ReturnType<typeof parse>;
type Node = NonNullable<Tree['expr']>;
type Call = Extract<Node['exprKind'], { case: 'callExpr' }>['value'];

/** An expression that is ready to be evaluated. */
interface Compiled extends Expression {
  tree: Tree;
  run: (values: Record<string, CelInput>) => CelResult;
  paths: NamedPath[];
  isCheap: boolean; // whether `run` takes less time than the setup of a time limit
}

class Mistake extends Error {
  readonly place: { at?: number };

  constructor(message: string, at?: number) {
    super(message);
    this.place = at === undefined ? {} : { at };
  }
}

const environment = celEnv({ funcs: functions });
const limitMs = 50; // for one evaluation
const maxBrackets = 30; // brackets that are open at the same time
const maxNested = 2; // macros within macros

/** @param allowed - the names that the expression may use. @returns `at`: the offset of the error in the text */
export function parseExpression(text: string, allowed: readonly Name[] = allNames): ParsedExpression {
  const compiled = compile(text);
  if (compiled instanceof Mistake) return { ok: false, error: compiled.message, ...compiled.place };
  const other = [...compiled.names].find((name) => !allowed.includes(name));
  if (other === undefined) return { ok: true, expression: compiled };
  const error = `"${other}" cannot be used here, only ${allowed.join(', ')}`;
  return { ok: false, error, at: Math.max(0, text.search(new RegExp(`\\b${other}\\b`))) };
}

/** Never throws. A hostile expression ends after 50 ms. @returns `reason`: the values that decided: `event.status was "sent"` */
export function evaluateExpression(text: string, values: Values): Parsed<{ holds: boolean; reason: string }> {
  const compiled = compile(text);
  if (compiled instanceof Mistake) return { ok: false, error: compiled.message };
  const { names, paths } = compiled;
  try {
    const named = (name: 'event' | 'assignment') => celOf(partsOf(values[name], pathsFrom(name, paths)));
    const run = () =>
      compiled.run({
        ...(names.has('event') && { event: named('event') }),
        ...(names.has('assignment') && { assignment: named('assignment') }),
        ...(names.has('incomingValue') && { incomingValue: values.incomingValue ?? null }),
        ...(names.has('now') && { now: timestampFromDate(values.now ?? new Date()) }),
      });
    const result = compiled.isCheap ? run() : limited(run);
    if (isCelError(result)) return { ok: false, error: explained(compiled, result) };
    if (typeof result !== 'boolean') return { ok: false, error: `must be true or false, but is ${wordOf(result)}` };
    return { ok: true, holds: result, reason: reasonOf(compiled, values, result) };
  } catch (error) {
    return { ok: false, error: error instanceof RangeError ? 'the values are nested too deeply' : errorText(error) };
  }
}

const pathsFrom = (name: Name, paths: Compiled['paths']) => paths.flatMap((one) => (one.name === name ? [one.path] : []));

/** Returns the event with only the parts that the expression reads. */
export const eventParts = ({ eventPaths }: Expression, event: unknown): unknown => partsOf(event, eventPaths);

function partsOf(value: unknown, paths: readonly Path[]): unknown {
  if (paths.some((path) => path.length === 0) || typeof value !== 'object' || value === null) return value;
  const below = new Map<string | number, Path[]>();
  for (const [step = '', ...rest] of paths) below.set(step, [...(below.get(step) ?? []), rest]);
  const parts = [...below].flatMap(([step, rest]) => {
    const part = ownProperty(value, step);
    return part === undefined ? [] : [[step, partsOf(part, rest)] as const];
  });
  if (!Array.isArray(value)) return Object.fromEntries(parts);
  const end = Math.max(-1, ...parts.map(([step]) => Number(step)));
  return Object.assign(new Array<unknown>(end + 1).fill(null), Object.fromEntries(parts));
}

/** Whole numbers become CEL's `int`, other numbers `double`. So `event.n == 1` and `event.n + 1 == 2` mean what people expect. */
function celOf(value: unknown): CelInput {
  if (Array.isArray(value)) return celList(value.map(celOf));
  if (isObject(value)) return celMap(new Map(Object.entries(value).map(([key, inner]) => [key, celOf(inner)])));
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

let job: () => CelResult = () => null;
const script = new Script('run()');
let context: ReturnType<typeof createContext> | undefined;

/** Stops after `limitMs`. If the process got little CPU time in these milliseconds, tries again, up to five times in total. */
function limited(run: () => CelResult): CelResult {
  context ??= createContext({ run: () => job() });
  job = run;
  for (let tries = 1; ; tries++) {
    const before = process.cpuUsage();
    beginEvaluation();
    try {
      return script.runInContext(context, { timeout: limitMs });
    } catch (error) {
      // The error comes from another realm, so `instanceof Error` would be false.
      if (!isObject(error) || error.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      const { user, system } = process.cpuUsage(before);
      if (user + system > (limitMs * 1000) / 2 || tries === 5) throw new Error(`takes longer than ${limitMs} ms`);
    }
  }
}

const errorText = (error: unknown) => (error instanceof Error ? error.message : String(error));

const known = new Map<string, Compiled>(); // a cache, because each event evaluates the same few expressions

function compile(text: string): Compiled | Mistake {
  const found = known.get(text);
  if (found) return found;
  try {
    const compiled = check(text);
    if (known.size >= 1000) known.clear();
    known.set(text, compiled);
    return compiled;
  } catch (error) {
    if (error instanceof Mistake) return error;
    return new Mistake(error instanceof RangeError ? 'is nested too deeply' : errorText(error));
  }
}

function check(text: string): Compiled {
  if (text.trim() === '') throw new Mistake('is blank');
  if (text.length > maxExpression) throw new Mistake(`must have at most ${maxExpression} characters`);
  const reference = text.indexOf('${');
  if (reference >= 0) throw new Mistake('must not contain ${…}. Write event.<path>', reference);
  let open = 0;
  for (let at = 0; at < text.length; at++) {
    open += '([{'.includes(text.charAt(at)) ? 1 : ')]}'.includes(text.charAt(at)) ? -1 : 0;
    if (open > maxBrackets) throw new Mistake(`has more than ${maxBrackets} open brackets`, at);
  }
  const tree = treeOf(text);
  if (!tree.expr) throw new Mistake('is blank');
  const checked = new Checked(tree);
  const type = checked.typeOf(tree.expr, new Map(), 0);
  if (type !== 'dyn' && type !== 'bool') throw new Mistake(`must be true or false, but is ${typeWord(type)}`, 0);
  const { paths, isCheap } = checked;
  const eventPaths = pathsFrom('event', paths);
  const names = new Set(paths.map(({ name }) => name));
  return { text, names, eventPaths, tree, paths, isCheap, run: plan(environment, tree) };
}

function treeOf(text: string): Tree {
  try {
    return parse(text);
  } catch (error) {
    const [, line = '', column = '', message = ''] = /^<input>:(\d+):(\d+): (.*)$/s.exec(String((error as Error).message)) ?? [];
    if (!line) throw error;
    const lines = text.split('\n').slice(0, Number(line) - 1);
    const at = lines.reduce((sum, { length }) => sum + length + 1, 0) + Number(column) - 1;
    throw new Mistake(mistakeAt(text, at, message), at);
  }
}

function mistakeAt(text: string, at: number, message: string): string {
  const rest = text.slice(at);
  const operator = /^(?:[=!<>]=|&&|\|\||[<>+*/%?-])/.exec(rest)?.[0];
  if (rest.trim() === '') return 'ends too early';
  if (operator) return `has no complete value after ${operator}`;
  if (/^[=&|]/.test(rest)) return `has ${rest[0]} where ${rest[0] === '=' ? '==' : rest[0]?.repeat(2)} is needed`;
  if (/^['"]/.test(rest)) return 'has a text without a closing quotation mark, or a text in a wrong place';
  if (/^[([{]/.test(rest)) return `has a mistake in the part that begins with ${rest[0]}`;
  if (/^\p{L}/u.test(rest) && rest.charCodeAt(0) > 127)
    return 'has a letter that is allowed only in quotes, for example event["größe"]';
  if (message.includes('reserved')) return 'has a reserved word as a name: put the name in quotes, for example event["in"]';
  return `has ${cutShort(rest.split(/\s/)[0] ?? '', 20)} in a wrong place`;
}

const macros = ['exists', 'all', 'exists_one', 'existsOne', 'filter', 'map'];
const cheapCalls = ['_&&_', '_||_', '!_', '_<_', '_<=_', '_>_', '_>=_', '_[_]', '_?_:_', 'startsWith', 'endsWith'];
const numbers = ['int', 'uint', 'double'];
const isOneOf = (allowed: readonly string[], type: string) => type === 'dyn' || allowed.includes(type);

/** Finds the types and names in an expression. A type is a name of CEL, or `dyn` if only an evaluation can find the type. */
class Checked {
  readonly paths: NamedPath[] = [];
  isCheap = true;

  constructor(private readonly tree: Tree) {}

  private mistake(node: Node, detail: string): Mistake {
    return new Mistake(detail, this.tree.sourceInfo?.positions[String(node.id)]);
  }

  /** @param scope - the types of the names that macros define. */
  typeOf(node: Node, scope: ReadonlyMap<string, string>, nested: number): string {
    const typeOf = (inner: Node | undefined) => (inner ? this.typeOf(inner, scope, nested) : 'dyn');
    const path = this.pathOf(node, scope);
    if (path) {
      this.paths.push(path);
      if (path.name === 'event' || path.name === 'assignment') return testsPresence(node) ? 'bool' : 'dyn';
      if (path.path.length > 0) throw this.mistake(node, `"${path.name}" has no properties`);
      return path.name === 'now' ? 'google.protobuf.Timestamp' : 'string';
    }
    const { case: kind, value } = node.exprKind;
    switch (kind) {
      case 'constExpr':
        return this.typeOfConstant(node, value.constantKind.case);
      case 'identExpr': {
        const type = scope.get(value.name);
        if (type !== undefined) return type;
        throw this.mistake(node, this.unknownName(node, value.name));
      }
      case 'selectExpr': {
        const type = typeOf(value.operand);
        if (!isOneOf(['map'], type)) throw this.mistake(node, `${typeWord(type)} has no property ${value.field}`);
        return value.testOnly ? 'bool' : 'dyn';
      }
      case 'listExpr':
        value.elements.forEach(typeOf);
        return 'list';
      case 'structExpr':
        if (value.messageName) throw this.mistake(node, `${value.messageName} is no function`);
        for (const entry of value.entries) {
          if (entry.keyKind.case === 'mapKey') typeOf(entry.keyKind.value);
          typeOf(entry.value);
        }
        return 'map';
      case 'callExpr':
        return this.typeOfCall(node, value, typeOf);
      case 'comprehensionExpr': {
        this.isCheap = false;
        if (nested === maxNested) throw this.mistake(node, `has more than ${maxNested} nested macros`);
        const range = typeOf(value.iterRange);
        if (!isOneOf(['list', 'map'], range)) throw this.mistake(node, `needs a list or an object, not ${typeWord(range)}`);
        const within = new Map([...scope, [value.iterVar, 'dyn'], [value.accuVar, typeOf(value.accuInit)]]);
        for (const part of [value.loopCondition, value.loopStep]) if (part) this.typeOf(part, within, nested + 1);
        return value.result ? this.typeOf(value.result, within, nested) : 'dyn';
      }
      default:
        throw this.mistake(node, 'is not supported');
    }
  }

  private typeOfConstant(node: Node, kind = ''): string {
    if (kind === 'bytesValue') throw this.mistake(node, 'bytes are not supported');
    return kind === 'int64Value' ? 'int' : kind === 'nullValue' ? 'null_type' : kind.replace(/(64)?Value$/, '');
  }

  private typeOfCall(node: Node, { function: name, target, args: given }: Call, typeOf: (node: Node) => string): string {
    const args = target ? [target, ...given] : given;
    const types = args.map(typeOf);
    const shown = name.replaceAll(/[_@]/g, '');
    const [one = 'dyn', other = 'dyn', last = 'dyn'] = types;
    const isList = args[1]?.exprKind.case === 'listExpr' && args[1].exprKind.value.elements.every(constantOf);
    this.isCheap &&= name === '@in' ? isList : cheapCalls.includes(name) || (/^_[!=]=_$/.test(name) && args.some(constantOf));
    if (name === '_[_]') return 'dyn';
    if (name === '@not_strictly_false') return 'bool';
    const logical = ['_&&_', '_||_'].includes(name) ? types : name === '_?_:_' ? [one] : [];
    const wrong = logical.find((type) => !isOneOf(['bool'], type));
    if (wrong !== undefined)
      throw this.mistake(node, `${shown === '?:' ? '?' : shown} needs true or false, not ${typeWord(wrong)}`);
    if (logical.length > 1) return 'bool';
    if (name === '_?_:_') return other === last ? other : 'dyn';
    const isNumeric = types.every((type) => numbers.includes(type));
    const areKnown = !types.some((type) => ['dyn', 'null_type'].includes(type));
    if (['_==_', '_!=_'].includes(name) && areKnown && one !== other && !isNumeric)
      throw this.mistake(node, `${shown} compares ${typeWord(one)} with ${typeWord(other)}, which are never equal`);
    const overloads = [...(environment.funcs.find(name) ?? [])].filter((one) => !one.target === !target);
    if (overloads.length === 0 || name.includes('bytes')) {
      const example = name === 'has' ? 'has(event.priority)' : 'event.items.exists(item, item.id == 1)';
      const isMacro = name === 'has' || macros.includes(name);
      throw this.mistake(node, isMacro ? `"${name}" must be written like ${example}` : `${shown} is not a known function`);
    }
    const fits = (param: { name: string }, place: number) => param.name === 'dyn' || isOneOf([param.name], types[place] ?? '');
    const fitting = overloads.filter(({ target, arguments: params }) => {
      const all = [...(target ? [target] : []), ...params];
      return all.length === types.length && all.every(fits);
    });
    if (fitting.length === 0)
      throw this.mistake(node, `${shown} does not work on ${types.map(typeWord).join(' and ') || 'empty brackets'}`);
    this.checkPattern(node, name, args[1]);
    const [result = 'dyn', another] = new Set(fitting.map(({ result }) => result.name));
    return another === undefined ? result : 'dyn';
  }

  /** Tries a fixed pattern of `matches`, so that nobody can save an expression with a wrong pattern. */
  private checkPattern(node: Node, name: string, pattern: Node | undefined): void {
    const constant = constantOf(pattern);
    if (name !== 'matches' || constant?.case !== 'stringValue') return;
    const tried = environment.funcs.find('matches');
    const result = tried ? limited(() => tried.call(0, '', [constant.value]) ?? null) : null;
    if (isCelError(result)) throw this.mistake(node, `the pattern of "matches" is wrong: ${result.message}`);
  }

  private unknownName(node: Node, name: string): string {
    const at = this.tree.sourceInfo?.positions[String(node.id)] ?? 0;
    const rule = `${name} is not a known name: write ${allNames.join(' or ')}`;
    return at > 0
      ? `${rule}. A text needs quotes: "${name}". A key with a hyphen needs brackets and quotes: event["zip-code"]`
      : rule;
  }

  /** The path that a node reads from `event`, `assignment`, `incomingValue` or `now`. Undefined if it reads no path. */
  private pathOf(node: Node, scope: ReadonlyMap<string, string>): NamedPath | undefined {
    const { case: kind, value } = node.exprKind;
    if (kind === 'identExpr') {
      const name = scope.has(value.name) ? undefined : allNames.find((name) => name === value.name);
      return name && { name, path: [] };
    }
    if (kind === 'selectExpr' && value.operand) {
      const before = this.pathOf(value.operand, scope);
      return before && { ...before, path: [...before.path, value.field] };
    }
    if (kind !== 'callExpr' || value.function !== '_[_]') return undefined;
    const [operand, index] = value.args;
    const constant = constantOf(index);
    const before = operand && constant && this.pathOf(operand, scope);
    if (!before || (constant.case !== 'stringValue' && constant.case !== 'int64Value')) return undefined;
    return { ...before, path: [...before.path, constant.case === 'int64Value' ? Number(constant.value) : constant.value] };
  }
}

const testsPresence = ({ exprKind }: Node) => exprKind.case === 'selectExpr' && exprKind.value.testOnly;
const constantOf = (node?: Node) => (node?.exprKind.case === 'constExpr' ? node.exprKind.value.constantKind : undefined);

/** Says in plain words why an evaluation failed. */
function explained({ tree, paths }: Compiled, { message, exprId }: { message: string; exprId: bigint | undefined }): string {
  const node = exprId === undefined ? undefined : nodeOf(tree.expr, exprId);
  const written = node && cutShort(unparse({ ...tree, expr: node }), 80);
  const [, field] = /^field not found: (.*)$/s.exec(message) ?? [];
  const [, index] = /^index (-?\d+) out of bounds/.exec(message) ?? [];
  const step = field ?? (index === undefined ? undefined : Number(index));
  if (step !== undefined) {
    const isSelect = node?.exprKind.case === 'selectExpr' && node.exprKind.value.field === step;
    const { name, path = [] } = paths.find(({ path }) => path.includes(step)) ?? {};
    const place = isSelect ? written : name ? pathText([name, ...path.slice(0, path.indexOf(step) + 1)]) : pathText([step]);
    return `${place}: no such ${typeof step === 'number' ? 'element' : 'property'}`;
  }
  const [, name, types = ''] = /^found no matching overload for '?(\S+?)'? applied to '(.*)'$/s.exec(message) ?? [];
  const words = types.match(/[\w.]*\w/g)?.map(typeWord) ?? [];
  const at = written ? `${written}: ` : '';
  if (name) return `${at}${name.replaceAll(/[_@]/g, '')} does not work on ${words.join(' and ')}`;
  const [, wanted = '', got] = /^type mismatch: (?:expected )?(\w+)(?:, got| vs) (\S+)/.exec(message) ?? [];
  if (got) return `${at}${wanted === 'bool' ? 'needs true or false' : 'needs a list or an object'}, not ${typeWord(got)}`;
  return `${at}${message.startsWith('Failed to parse timestamp') ? 'needs a time such as 2026-07-01T12:00:00Z' : cutShort(message)}`;
}

function nodeOf(from: unknown, id: bigint): Node | undefined {
  if (typeof from !== 'object' || from === null) return undefined;
  if ('exprKind' in from && 'id' in from && from.id === id) return from as Node;
  return Object.values(from).reduce<Node | undefined>((found, inner) => found ?? nodeOf(inner, id), undefined);
}

const mostShown = 4; // the maximum number of values in a reason

function reasonOf({ paths }: Compiled, values: Values, holds: boolean): string {
  const shown = new Map(paths.map(({ name, path }) => [pathText([name, ...path]), path.reduce(ownProperty, values[name])]));
  const facts = [...shown].slice(0, mostShown).map(([place, value]) => {
    if (value === undefined) return `${place}: no such property`;
    if (value instanceof Date) return `${place} was ${value.toISOString()}`;
    if (typeof value === 'object' && value !== null) return `${place} was ${Array.isArray(value) ? 'a list' : 'an object'}`;
    return `${place} was ${JSON.stringify(typeof value === 'string' ? cutShort(value, 120) : value)}`;
  });
  return facts.length === 0 ? `is always ${holds}` : facts.join(', ') + (shown.size > mostShown ? ', …' : '');
}
