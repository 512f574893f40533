/**
 * The dry run: what a chain would do, action by action, with no effect. What the platform says is shown only to those who may
 * read the company's chains: others learn whether a condition holds, which they could learn by a chain of their own as well.
 */

import { actionDefinitions } from '../chain/actions.js';
import { actionFacts, type ChainAction, dueAt } from '../chain/chain.js';
import { asksIncomingValue, conditionText, evaluateCondition } from '../chain/condition.js';
import type { ActionDefinition } from '../chain/define-action.js';
import { type Facts, type Forecast, forecastChain } from '../chain/forecast.js';
import { type Pause, pauseOf, pauseText } from '../chain/pause.js';
import type { Issue } from '../chain/request.js';
import { ConnectorError } from '../connectors/call.js';
import type { Company } from '../contract/company.js';
import type { DryRun } from '../contract/dry-run.js';
import { found } from './problems.js';
import type { ApiOptions } from './route.js';

type Connectors = ApiOptions['connectors'];

interface DryRunRequest {
  companyId: string;
  actions: readonly ChainAction[];
  warnings: Issue[];
  /** Whether the caller may see what the platform said. */
  valuesShown: boolean;
  /** Answers instead of the platform. */
  assignmentOf?: AssignmentReader;
  /** Default: what would become of each if its time had come now. */
  forecast?: (actions: readonly ChainAction[], facts: readonly Facts[]) => Forecast[];
}

/** How long the platform has to answer for all assignments together. */
const platformTimeMs = 15_000;

/** @throws Problem 404 where the company is gone. */
export async function dryRun(
  { store, connectors }: Pick<ApiOptions, 'store' | 'connectors'>,
  { companyId, actions, warnings, valuesShown, assignmentOf: given, forecast = forecastChain }: DryRunRequest,
): Promise<DryRun> {
  const receivedAt = new Date().toISOString();
  const company = found(await store.companies.get(companyId), `company ${companyId}`);
  const relayIds = [...new Set(actions.map(({ relayId }) => relayId))];
  const rules = await Promise.all(relayIds.map((relayId) => store.rules.get(companyId, relayId)));
  const pauses = await store.pauses.current(companyId);

  const assignmentOf = given ?? assignmentReader(connectors, company);
  const looks = [];
  for (const action of actions) {
    const rule = rules[relayIds.indexOf(action.relayId)];
    const condition = await evaluate(action, assignmentOf, valuesShown);
    looks.push({ action, rule, condition, ...previewOf(action, company, connectors) });
  }
  const forecasts = forecast(actions, looks);
  const looked = looks.map(({ action, rule, condition, effect }, place): DryRun['actions'][number] => {
    const forecast = forecasts[place] ?? { outcome: 'unknown' };
    const pause = forecast.outcome === 'runs' || forecast.outcome === 'unknown' ? pauseFor(action, pauses) : undefined;
    return {
      ...actionFacts(action),
      runAt: new Date(dueAt({ receivedAt }, action)).toISOString(),
      ...forecast,
      // The words of whoever paused are for those who may read the company's chains.
      paused: pause && pauseText(valuesShown ? pause : { ...pause, reason: undefined }),
      condition: action.condition && {
        text: conditionText(action.condition),
        ...(condition && 'error' in condition ? { error: condition.error } : condition),
      },
      effect,
      rule: rule && { name: rule.name, enabled: rule.enabled, onFailure: rule.onFailure, onUnknown: rule.onUnknown },
    };
  });
  return { dryRun: true, receivedAt, actions: looked, warnings };
}

type PlatformAnswer = { assignment: Record<string, unknown> } | { error: string; retryable: boolean };
export type AssignmentReader = (id: string) => Promise<PlatformAnswer>;

/** Asks for each assignment once, and for one after the other as a chain would. */
export function assignmentReader(connectors: Connectors, company: Company): AssignmentReader {
  const answers = new Map<string, PlatformAnswer>();
  const deadline = Date.now() + platformTimeMs;
  const ask = async (id: string): Promise<PlatformAnswer> => {
    const timeoutMs = deadline - Date.now();
    if (timeoutMs <= 0) return { error: 'not asked: the platform was too slow with the assignments before', retryable: true };
    try {
      return { assignment: await connectors.platformOf(company).getAssignment(id, { timeoutMs }) };
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      return { error: error.message, retryable: error.kind !== 'permanent' };
    }
  };
  return async (id) => {
    const answer = answers.get(id) ?? (await ask(id));
    answers.set(id, answer);
    return answer;
  };
}

const hiddenError = 'the assignment could not be read from the platform; the admin token or a company key shows why';

async function evaluate(action: ChainAction, assignmentOf: AssignmentReader, valuesShown: boolean): Promise<Facts['condition']> {
  const { condition, assignmentId } = action;
  if (!condition || action.cannotSchedule !== undefined) return undefined;
  const ofRequest = asksIncomingValue(condition);
  const answer = ofRequest ? { assignment: action } : assignmentId !== undefined && (await assignmentOf(assignmentId));
  if (!answer) return undefined;
  if ('error' in answer) return valuesShown ? answer : { ...answer, error: hiddenError };
  const { holds, reason } = evaluateCondition(condition, answer.assignment);
  // What came with the request is no news to its sender.
  return valuesShown || ofRequest ? { holds, reason } : { holds };
}

/** What the action would do, or why it could not even be attempted, as where a system is missing from the settings. */
function previewOf(
  action: ChainAction,
  company: Company,
  connectors: Connectors,
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
