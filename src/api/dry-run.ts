/**
 * The dry run: what a chain would do, action by action, with no effect. It reads settings and asks the platform for assignments,
 * and nothing else. What the platform says is shown only to those who may read the company's chains: others learn whether a
 * condition holds, which they could learn by a chain of their own as well.
 */

import type { Context } from 'hono';
import { z } from 'zod';
import { onFailureSchema, onUnknownSchema } from '../chain/action-status.js';
import { actionDefinitions } from '../chain/actions/actions.js';
import type { ActionDefinition } from '../chain/actions/definition.js';
import { actionFacts, type ChainAction, dueAt } from '../chain/chain.js';
import { asksIncomingValue, conditionText, evaluateCondition } from '../chain/condition.js';
import { type Facts, forecastChain, forecastOutcomes } from '../chain/forecast.js';
import type { Pause } from '../chain/pause.js';
import { pauseOf, pauseText } from '../chain/pause.js';
import type { Issue } from '../chain/request.js';
import { ConnectorError } from '../connectors/call.js';
import type { Connectors } from '../connectors/connectors.js';
import type { Company } from '../contract/company.js';
import { Problem } from '../contract/problem.js';
import type { Rule } from '../contract/rule.js';
import type { Store } from '../store/store.js';
import { notFound } from './problems.js';

export interface DryRunOptions {
  store: Pick<Store, 'companies' | 'rules' | 'pauses'>;
  connectors: Pick<Connectors, 'platformOf' | 'ticketingOf'>;
}

interface DryRunRequest {
  companyId: string;
  actions: readonly ChainAction[];
  warnings: Issue[];
  /** Whether the caller may see what the platform said. */
  valuesShown: boolean;
}

/** What an action would do: to whom, with what. */
const effectSchema = z
  .union(actionDefinitions.map(({ name, effect }) => effect.loose().describe(`Of \`${name}\`.`)))
  .meta({ id: 'Effect' });

export const dryRunSchema = z
  .object({
    dryRun: z.literal(true),
    receivedAt: z.iso.datetime().describe('The moment of the dry run, from which delays are measured.'),
    actions: z.array(
      z.object({
        index: z.int(),
        action: z.string(),
        relayId: z.string(),
        comment: z.string().optional(),
        assignmentId: z.string().optional(),
        runAt: z.iso.datetime().describe('When it would be due; an immediate action runs in its turn.'),
        outcome: z
          .enum(forecastOutcomes)
          .describe(
            'What would become of it if its time had come: `runs`; `skipped`; `needs-attention`, held until somebody decides;' +
              ' `failed`, the same under a rule with `onFailure: "continue"`; `held` behind an action that needs attention; ' +
              '`unknown`, since the platform did not answer.',
          ),
        reason: z.string().optional().describe('Why it would not run.'),
        paused: z.string().optional().describe('The pause that is on at this moment: while it is, the action waits.'),
        condition: z
          .object({
            text: z.string(),
            holds: z.boolean().optional().describe('At this moment. Absent: it could not be evaluated.'),
            reason: z
              .string()
              .optional()
              .describe('The value that it saw: only for the admin token or a company key, unless it asks for `incomingValue`.'),
            error: z.string().optional().describe('Why the platform could not be asked.'),
          })
          .optional(),
        effect: effectSchema.optional().describe('What it would do. Absent: the data leave it open, see `reason`.'),
        rule: z
          .object({
            name: z.string(),
            enabled: z.boolean(),
            onFailure: onFailureSchema,
            onUnknown: onUnknownSchema,
          })
          .optional(),
      }),
    ),
    warnings: z.array(z.object({ pointer: z.string(), detail: z.string() })),
  })
  .meta({ id: 'DryRun' });

/** How long the platform has to answer for all assignments together. */
const platformTimeMs = 15_000;

/**
 * `?dryRun=`. @throws Problem 400 for anything but true and false, and for other spellings of the name: taking them for nothing
 * would run the chain.
 */
export function asksDryRun(c: Context): boolean {
  const other = Object.keys(c.req.query()).find((name) => name !== 'dryRun' && /^dry[_-]?run$/i.test(name));
  if (other !== undefined) throw new Problem('invalid-query', `${other} is not a parameter; did you mean dryRun?`);
  const values = new Set(c.req.queries('dryRun') ?? ['false']);
  const [value] = values;
  if (values.size !== 1 || (value !== 'true' && value !== 'false'))
    throw new Problem('invalid-query', 'dryRun must be true or false.');
  return value === 'true';
}

/** @throws Problem 404 where the company is gone. */
export async function dryRun(options: DryRunOptions, request: DryRunRequest): Promise<z.infer<typeof dryRunSchema>> {
  const { companyId, actions, warnings, valuesShown } = request;
  const receivedAt = new Date().toISOString();
  const company = await options.store.companies.get(companyId);
  if (!company) throw notFound(`company ${companyId}`);
  const relayIds = [...new Set(actions.map(({ relayId }) => relayId))];
  const rules = await Promise.all(relayIds.map((relayId) => options.store.rules.get(companyId, relayId)));
  const pauses = await options.store.pauses.current(companyId);
  const assignments = await askPlatform(options.connectors, company, actions);

  const looks = actions.map((action) => ({
    rule: rules[relayIds.indexOf(action.relayId)],
    condition: evaluate(action, assignments, valuesShown),
    ...previewOf(action, company, options.connectors),
  }));
  const forecasts = forecastChain(actions, looks);
  return {
    dryRun: true,
    receivedAt,
    actions: actions.map((action, place) => {
      const { rule, condition, effect } = looks[place] ?? {};
      const forecast = forecasts[place] ?? { outcome: 'unknown' };
      const pause = forecast.outcome === 'runs' || forecast.outcome === 'unknown' ? pauseFor(action, pauses) : undefined;
      return {
        ...actionFacts(action),
        runAt: new Date(dueAt({ receivedAt }, action)).toISOString(),
        ...forecast,
        // The words of whoever paused are for those who may read the company's chains.
        ...(pause && { paused: pauseText(valuesShown ? pause : { ...pause, reason: undefined }) }),
        ...(action.condition && { condition: { text: conditionText(action.condition), ...shown(condition) } }),
        ...(effect && { effect }),
        ...(rule && { rule: policyOf(rule) }),
      };
    }),
    warnings,
  };
}

type PlatformAnswer = { assignment: Record<string, unknown> } | { error: string; retryable: boolean };

/** Every assignment that a condition asks for, once, and one after the other as a chain would. */
async function askPlatform(
  connectors: DryRunOptions['connectors'],
  company: Company,
  actions: readonly ChainAction[],
): Promise<Map<string, PlatformAnswer>> {
  const answers = new Map<string, PlatformAnswer>();
  const deadline = Date.now() + platformTimeMs;
  for (const action of actions) {
    const { assignmentId: id, condition, cannotSchedule } = action;
    if (!condition || asksIncomingValue(condition) || id === undefined || cannotSchedule !== undefined || answers.has(id))
      continue;
    answers.set(id, await ask(id));
  }
  return answers;

  async function ask(id: string): Promise<PlatformAnswer> {
    const timeoutMs = deadline - Date.now();
    if (timeoutMs <= 0) return { error: 'not asked: the platform was too slow with the assignments before', retryable: true };
    try {
      return { assignment: await connectors.platformOf(company).getAssignment(id, { timeoutMs }) };
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      return { error: error.message, retryable: error.kind !== 'permanent' };
    }
  }
}

function evaluate(action: ChainAction, answers: Map<string, PlatformAnswer>, valuesShown: boolean): Facts['condition'] {
  if (!action.condition || action.cannotSchedule !== undefined) return undefined;
  if (asksIncomingValue(action.condition)) {
    // What came with the request is no news to its sender.
    const { holds, reason } = evaluateCondition(action.condition, action);
    return { holds, reason };
  }
  const answer = answers.get(action.assignmentId ?? '');
  if (!answer) return undefined;
  if ('error' in answer) return valuesShown ? answer : { ...answer, error: hiddenError };
  const { holds, reason } = evaluateCondition(action.condition, answer.assignment);
  return valuesShown ? { holds, reason } : { holds };
}

const hiddenError = 'the assignment could not be read from the platform; the admin token or a company key shows why';

/**
 * What the action would do, or why it could not even be attempted: as when it runs, a system that is missing from the settings
 * throws.
 */
function previewOf(
  action: ChainAction,
  company: Company,
  connectors: DryRunOptions['connectors'],
): { effect?: Record<string, unknown>; obstacle?: string } {
  const definition: ActionDefinition | undefined = actionDefinitions.find(({ name }) => name === action.action);
  if (!definition || action.invalidData !== undefined) return {};
  try {
    if (definition.system === 'platform') connectors.platformOf(company);
    if (definition.system === 'ticketing') connectors.ticketingOf(company);
    return definition.preview(action, company.timeZone);
  } catch (error) {
    if (error instanceof ConnectorError) return { obstacle: error.message };
    throw error;
  }
}

/** The pause that keeps the action from what it needs. */
function pauseFor(action: ChainAction, pauses: readonly Pause[]): Pause | undefined {
  const asks = action.condition && !asksIncomingValue(action.condition);
  const system = actionDefinitions.find(({ name }) => name === action.action)?.system;
  return (asks && pauseOf(pauses, 'platform')) || (system && pauseOf(pauses, system));
}

function shown(condition: Facts['condition']) {
  return condition && 'error' in condition ? { error: condition.error } : condition;
}

function policyOf({ name, enabled, onFailure, onUnknown }: Rule) {
  return { name, enabled, onFailure, onUnknown };
}
