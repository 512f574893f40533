/** Runs the cases of a rule without a server: makes the actions of each event, and compares them with the expected actions. */

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type ChainAction, delayOf } from '../../chain/chain.js';
import { type Facts, forecastOf } from '../../chain/forecast.js';
import { lateQuestion, readValues } from '../../chain/late.js';
import { withLate } from '../../chain/mend.js';
import { fieldsOf } from '../../chain/sent.js';
import { counted } from '../../chain/text.js';
import type { Contents } from '../../contract/rule-contents.js';
import type { RuleCase } from '../../contract/rule-file.js';
import { asksAssignment, forecastCondition, partsOf } from '../../rules/opaque.js';
import { type Rendered, renderEvent } from '../../rules/render.js';
import { parseJson } from '../api.js';
import { anyObject, type RuleFile } from './file.js';

/** `what`: for example `action 1 sendEmails, subject`. */
export type Difference = { what: string; expected: unknown; got: unknown };

/** @returns the differences; an empty list if the case passes. */
export function runCase({ path, relayId = '0', contents }: RuleFile & { contents: Contents }, one: RuleCase): Difference[] {
  const event = readEvent(path, one.event);
  if (!event) return [{ what: 'event', expected: 'a file with a JSON object', got: one.event }];
  const rendered = renderEvent(contents, relayId, event);
  const { applies, refused, actions: expected = [] } = one;
  const got = outcomeText(rendered);
  if (applies === false) return rendered.kind === 'not-applicable' ? [] : [{ what: 'outcome', expected: 'does not apply', got }];
  if (refused !== undefined) {
    const fits = rendered.kind === 'refused' && (refused === true || got.includes(refused));
    return fits ? [] : [{ what: 'outcome', expected: refused === true ? 'refused' : `refused: … ${refused} …`, got }];
  }
  if (rendered.kind !== 'chain' || rendered.actions.length !== expected.length)
    return [{ what: 'outcome', expected: counted(expected.length, 'action'), got }];
  return rendered.actions.flatMap((action, place) => compare(action, expected[place] ?? {}, one));
}

function readEvent(path: string, event: RuleCase['event']): Record<string, unknown> | undefined {
  if (typeof event !== 'string') return event;
  try {
    return anyObject.safeParse(parseJson(readFileSync(join(dirname(path), event)))).data;
  } catch {
    return undefined;
  }
}

function outcomeText(rendered: Rendered): string {
  if (rendered.kind === 'not-applicable') return `does not apply: ${rendered.reason}`;
  if (rendered.kind === 'chain') return counted(rendered.actions.length, 'action');
  return `refused: ${rendered.problems.map(({ pointer, detail }) => `${pointer} ${detail}`.trim()).join('; ')}`;
}

function compare(action: ChainAction, expected: Record<string, unknown>, one: RuleCase): Difference[] {
  const { runs, needsAttention = false, ...fields } = expected;
  const { outcome, reason = '', filled } = play(action, one);
  const name = `action ${action.index} ${action.action}`;
  const different = (what: string, expected: unknown, got: unknown) => [{ what: `${name}${what}`, expected, got }];
  const got = reason === '' ? outcome : `${outcome}: ${reason}`;
  if (runs !== undefined && runs !== (outcome === 'runs')) return different('', runs ? 'runs' : 'does not run', got);
  const isHeld = outcome === 'needs-attention';
  if (needsAttention === false) {
    if (isHeld) return different('', 'does not need attention', got);
  } else if (!isHeld || (typeof needsAttention === 'string' && !reason.includes(needsAttention)))
    return different('', `needs-attention${needsAttention === true ? '' : `: … ${needsAttention} …`}`, got);
  return Object.entries(fields).flatMap(([field, value]) =>
    isDeepStrictEqual(filled[field] ?? null, value) ? [] : different(`, ${field}`, value, filled[field]),
  );
}

/** The outcome of the action when it is due, and its fields with the values of the assignment. */
function play(action: ChainAction, { assignment, now = new Date().toISOString() }: RuleCase) {
  const due = new Date(Date.parse(now) + delayOf(action) * 1000);
  const facts: Facts = { rule: { enabled: true, onFailure: 'hold' }, condition: conditionOf(action, assignment, due) };
  const forecast = forecastOf(action, facts);
  const fields = fieldsOf(action);
  const question = lateQuestion(action);
  if (!question || forecast.outcome !== 'runs') return { ...forecast, filled: fields };
  const read = readValues(question.paths, assignment);
  const late = read.ok ? withLate(action, read.values) : read;
  if (!late.ok) return { ...forecastOf({ ...action, invalidData: late.error }, facts), filled: fields };
  const values = fieldsOf({ ...late.action, sent: undefined });
  const lateFields = Object.keys(action.late ?? {}).map((field) => [field, values[field]]);
  return { ...forecast, filled: { ...fields, ...Object.fromEntries(lateFields) } };
}

function conditionOf(action: ChainAction, assignment: RuleCase['assignment'], now: Date): Facts['condition'] {
  const parts = action.condition && partsOf(action.condition);
  if (parts && !assignment && (parts.late || asksAssignment(parts)))
    return { error: 'the case has no assignment', retryable: false };
  return forecastCondition(action, assignment, now);
}
