/**
 * The dry run predicts the result of each action, without any effect. Only callers who may read the company's chains see the
 * platform's answers. Senders see whether a condition holds, because the effects of a real chain show this, too.
 */

import { actionDefinitions } from '../chain/actions.js';
import { actionFacts, type ChainAction, connectorOf, connectorsOf, dueAt } from '../chain/chain.js';
import { conditionText } from '../chain/condition.js';
import type { ActionDefinition } from '../chain/define-action.js';
import { type Facts, type Forecast, forecastChain } from '../chain/forecast.js';
import { unableToSend } from '../chain/kinds.js';
import { lateQuestion, readValues } from '../chain/late.js';
import { withLate } from '../chain/mend.js';
import { pauseOf, pauseText } from '../chain/pause.js';
import type { Issue } from '../chain/request.js';
import { timesIn } from '../chain/timestamp/local.js';
import { ConnectorError } from '../connectors/call.js';
import type { Company } from '../contract/company.js';
import type { DryRun } from '../contract/dry-run.js';
import { asksAssignment, forecastCondition, partsOf } from '../rules/opaque.js';
import { found } from './problems.js';
import type { ApiOptions } from './route.js';

type Connectors = ApiOptions['connectors'];

export interface DryRunRequest {
  companyId: string;
  actions: readonly ChainAction[];
  warnings: Issue[];
  valuesShown: boolean; // whether the caller may see the answers of the platform
  assignmentOf?: AssignmentReader; // default: reads the assignment from the platform
  /** Default: predicts the actions as if they were due now. */
  forecast?: (actions: readonly ChainAction[], facts: readonly Facts[]) => Forecast[];
}

const platformTimeMs = 15_000; // the time limit for reading all assignments of a dry run

export async function dryRun(
  { store, connectors }: Pick<ApiOptions, 'store' | 'connectors'>,
  { companyId, actions, warnings, valuesShown, assignmentOf: given, forecast = forecastChain }: DryRunRequest,
): Promise<DryRun> {
  const receivedAt = new Date().toISOString();
  const company = found(await store.companies.get(companyId), `company ${companyId}`);
  const relayIds = [...new Set(actions.map(({ relayId }) => relayId))];
  const rules = await Promise.all(relayIds.map((relayId) => store.rules.get(companyId, relayId)));
  const pauses = await store.pauses.current(companyId);

  const look = { company, connectors, assignmentOf: given ?? assignmentReader(connectors, company), valuesShown };
  const looks = [];
  for (const action of actions) {
    const rule = rules[relayIds.indexOf(action.relayId)];
    const condition = await evaluate(action, look);
    const preview = await previewWithValues(action, look);
    const missing = preview.obstacle === undefined && (await missingAssignment(action, condition, look));
    looks.push({ action, rule, condition, ...preview, ...(missing && { obstacle: missing }) });
  }
  const forecasts = forecast(actions, looks);
  const looked = looks.map(({ action, rule, condition, effect }, place): DryRun['actions'][number] => {
    const forecast = forecasts[place] ?? { outcome: 'unknown' };
    const mayRun = forecast.outcome === 'runs' || forecast.outcome === 'unknown';
    const [pause] = mayRun ? connectorsOf(action).flatMap((connector) => pauseOf(pauses, connector) ?? []) : [];
    return {
      ...actionFacts(action),
      runAt: new Date(dueAt({ receivedAt }, action)).toISOString(),
      ...forecast,
      // Senders do not see the reason of a pause.
      paused: pause && pauseText(valuesShown ? pause : { ...pause, reason: undefined }, timesIn(company.timeZone)),
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

interface Look extends Required<Pick<DryRunRequest, 'assignmentOf' | 'valuesShown'>> {
  company: Company;
  connectors: Connectors;
}

type PlatformAnswer = { assignment: Record<string, unknown> } | { error: string; retryable: boolean };
export type AssignmentReader = (id: string) => Promise<PlatformAnswer>;

/** Reads each assignment from the platform only once, and stops reading after `platformTimeMs`. */
export function assignmentReader(connectors: Connectors, company: Company): AssignmentReader {
  const answers = new Map<string, PlatformAnswer>();
  const deadline = Date.now() + platformTimeMs;
  const ask = async (id: string): Promise<PlatformAnswer> => {
    const timeoutMs = deadline - Date.now();
    if (timeoutMs <= 0) return { error: 'the platform was too slow, so this assignment was not read', retryable: true };
    try {
      return { assignment: await connectors.platformOf(company).getAssignment(id, { timeoutMs }) };
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      return { error: inWords(error), retryable: error.kind !== 'permanent' };
    }
  };
  return async (id) => {
    const answer = answers.get(id) ?? (await ask(id));
    answers.set(id, answer);
    return answer;
  };
}

const hiddenMistake = 'the data of the assignment cannot be used; use the admin token or a company key to see why';
const hiddenError = 'the assignment could not be read from the platform; use the admin token or a company key to see why';

async function evaluate(action: ChainAction, { assignmentOf, valuesShown }: Look): Promise<Facts['condition']> {
  const { condition, assignmentId } = action;
  if (!condition || action.cannotSchedule !== undefined) return undefined;
  const ofRequest = !asksAssignment(partsOf(condition));
  const answer = ofRequest ? { assignment: undefined } : assignmentId !== undefined && (await assignmentOf(assignmentId));
  if (!answer) return undefined;
  if ('error' in answer) return valuesShown ? answer : { ...answer, error: hiddenError };
  const seen = forecastCondition(action, answer.assignment, new Date());
  // Senders may see the values of their own request.
  if (!seen || valuesShown || ofRequest) return seen;
  return 'error' in seen ? { ...seen, error: hiddenMistake } : { holds: seen.holds };
}

/** Returns an obstacle if the platform does not have the assignment. An outage is no obstacle, because the relay would retry. */
async function missingAssignment(
  { action: name, assignmentId }: ChainAction,
  condition: Facts['condition'],
  { assignmentOf, valuesShown }: Look,
): Promise<string | undefined> {
  if (connectorOf[name] !== 'platform' || assignmentId === undefined || (condition && !('holds' in condition && condition.holds)))
    return undefined;
  const answer = await assignmentOf(assignmentId);
  if (!('error' in answer) || answer.retryable) return undefined;
  return valuesShown ? answer.error : hiddenError;
}

/** The preview of an action with its late values. Senders see the references in place of the values. */
async function previewWithValues(action: ChainAction, look: Look): Promise<Preview> {
  const preview = previewOf(action, look);
  const question = lateQuestion(action);
  if (!question || !preview.effect || action.assignmentId === undefined) return preview;
  const answer = await look.assignmentOf(action.assignmentId);
  if ('error' in answer) return preview; // The result of the action's condition shows this error.
  const read = readValues(question.paths, answer.assignment);
  const whole = read.ok ? withLate(action, read.values) : read;
  const filled = whole.ok ? previewOf(whole.action, look) : { ...preview, obstacle: whole.error };
  if (look.valuesShown) return filled;
  return filled.obstacle === undefined ? preview : { ...preview, obstacle: hiddenMistake };
}

/** `obstacle`: why the effect is not possible, such as a missing system in the settings. */
type Preview = { effect?: Record<string, unknown>; obstacle?: string };

function previewOf(action: ChainAction, { company, connectors }: Look): Preview {
  const definition: ActionDefinition | undefined = actionDefinitions.find(({ name }) => name === action.action);
  if (!definition || action.invalidData !== undefined) return {};
  try {
    const connector = connectorOf[action.action];
    const unable = action.action === 'platform_sendAssignment' && !action.late && unableToSend(company.platform, action);
    if (unable) return { obstacle: unable };
    if (connector === 'platform') connectors.platformOf(company);
    if (connector === 'ticketing') connectors.ticketingOf(company);
    return action.late ? { effect: definition.effect.parse(action) } : definition.preview(action, company.timeZone);
  } catch (error) {
    if (error instanceof ConnectorError) return { obstacle: inWords(error) };
    throw error;
  }
}

const inWords = ({ message, facts: { title } }: ConnectorError) => (title === undefined ? message : `${title} (${message})`);
