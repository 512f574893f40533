/** `/co/{companyId}/chains/compose`: validates a draft of a chain, and predicts its result. Sends and stores nothing. */

import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { fieldValue } from '../chain/actions.js';
import type { ChainAction } from '../chain/chain.js';
import { mayAskAssignment } from '../chain/condition.js';
import { type Fields, fixedFields } from '../chain/fields.js';
import { hintsOn } from '../chain/hints.js';
import { warningsOfKind } from '../chain/kinds.js';
import { type Issue, jsonPointer, readRequest } from '../chain/request.js';
import { type Played, playThrough, remarkOn, type Scenario } from '../chain/scenario.js';
import { fieldsOf } from '../chain/sent.js';
import { fillIn, sampleOf, variables, variablesIn } from '../chain/variables.js';
import { ConnectorError } from '../connectors/call.js';
import type { Platform } from '../connectors/platforms.js';
import type { Ticketing } from '../connectors/tickets.js';
import type { Company } from '../contract/company.js';
import type { Composed, Composer } from '../contract/dry-run.js';
import { composedSchema, composeRequest, composerSchema, systemNamesSchema } from '../contract/dry-run.js';
import { parseEvent } from '../door/event.js';
import { checkContents, inContents } from '../rules/contents.js';
import { forecastCondition } from '../rules/opaque.js';
import { renderEvent } from '../rules/render.js';
import type { CompanySettings } from '../store/settings.js';
import { type AssignmentReader, assignmentReader, type DryRunRequest, dryRun } from './dry-run.js';
import { readTexts } from './input.js';
import { found, foundRule } from './problems.js';
import { actionRequests, examples } from './relay-request.js';
import { type ApiOptions, type Route, route } from './route.js';

type Asked = z.infer<typeof composeRequest>;

/**
 * Makes an action of an example fit for a real webhook: with a variable for the assignment, and without very short delays. The
 * composer makes the HTML of a mail from its text.
 */
function forEveryEvent({ bodyHtml: _, ...element }: Fields & { platformAssignmentId?: string; delayInSeconds?: string }): Fields {
  const { platformAssignmentId: id, delayInSeconds: delay } = element;
  const general: Fields = id === undefined ? element : JSON.parse(JSON.stringify(element).replaceAll(id, '${assignment_id}'));
  return delay !== undefined && Number(delay) < 300 ? { ...general, delayInSeconds: String(Number(delay) * 90) } : general;
}

const composer: Composer = {
  actions: actionRequests.map(({ shape, ...schema }) => ({
    name: shape.action.value,
    description: schema.description ?? '',
    fields: Object.entries(shape)
      .filter(([name]) => !fixedFields.includes(name))
      .map(([name, field]) => ({
        name,
        description: field.description ?? '',
        required: !field.safeParse(undefined).success,
        isList: field.safeParse(['a@example.com']).success,
      })),
  })),
  variables: [...variables],
  examples: Object.values(examples).map(({ summary, value }) => ({
    summary,
    elements: value.map(({ relayId: _rule, relayAccessToken: _token, ...element }) => forEveryEvent(element)),
  })),
};

const namesMs = 5_000; // the time limit for reading all names from one system

export function composeRoutes(options: ApiOptions): Route[] {
  const { store, connectors } = options;
  const listOf = async (namesOf: () => Platform['names'] | Ticketing['names']): Promise<string[]> => {
    try {
      return (await namesOf()?.({ timeoutMs: namesMs })) ?? [];
    } catch (error) {
      if (error instanceof ConnectorError) return []; // Without names, a person can still type a name.
      throw error;
    }
  };
  return [
    route.company('GET /co/:companyId/chains/compose', 'getComposer', 'Read the available actions, fields and variables', {
      use: 'reads',
      answers: { 200: ['The actions with their fields, and the variables of the platform.', composerSchema] },
      handle: (c) => c.json(composer),
    }),
    route.company('GET /co/:companyId/chains/compose/names', 'listNames', "List the names in the company's systems", {
      description: 'The groups and ticket fields to choose from. A list is empty if the system has no names or does not answer.',
      use: 'lists',
      answers: { 200: ['The names.', systemNamesSchema] },
      async handle(c, { companyId }) {
        const { company } = found(await store.settings.of(companyId), `company ${companyId}`);
        const [groups, groupIds, fields] = await Promise.all([
          listOf(() => connectors.platformOf(company).names),
          listOf(() => connectors.platformOf(company).ids),
          listOf(() => connectors.ticketingOf(company).names),
        ]);
        return c.json({ groups, groupIds, fields });
      },
    }),
    route.company('POST /co/:companyId/chains/compose', 'composeChain', 'Try a chain without running it', {
      use: 'reads',
      description:
        'Validates the actions like a request, but without tokens, and with sample values for the variables of the webhook. ' +
        'With `contents`, the relay makes the actions from these contents and an event. The answer lists the mistakes and the ' +
        'result of each action. Nothing is sent or stored.',
      rawBody: composeRequest,
      answers: { 200: ['The mistakes, or the outcome of each action.', composedSchema] },
      problems: ['invalid-body', 'not-found', 'temporal-unavailable'],
      async handle(c, { companyId }) {
        const asked = await readTexts(c, composeRequest);
        const settings = found(await store.settings.of(companyId), `company ${companyId}`);
        return c.json(await compose(options, settings, asked));
      },
    }),
  ];
}

/** The chain to rehearse. If `actions` is missing, nothing would run, and the other fields say why. */
type Draft = { told: Told; problems: Issue[]; warnings: Issue[]; actions?: ChainAction[] };
type Told = Omit<Composed, 'problems' | 'warnings' | 'actions'>;

async function compose(options: ApiOptions, settings: CompanySettings, asked: Asked): Promise<Composed> {
  const { company, rules } = settings;
  const isContents = asked.contents !== undefined;
  const draft = isContents ? await fromContents(options, settings, asked) : fromElements(company, asked);
  const { told, actions = [] } = draft;
  const unable = warningsOfKind(company.platform, actions).map((issue) => (isContents ? inContents(issue) : issue));
  const warnings = [...draft.warnings, ...unable.filter((one) => !draft.warnings.some((other) => isDeepStrictEqual(one, other)))];
  const problems = [...draft.problems, ...unknownRules(rules, actions)];
  if (problems.length > 0 || !draft.actions) return { problems, warnings, ...told };

  const assignmentOf = assignmentSource(options, company, asked.assignment);
  const request = { companyId: company.companyId, actions, warnings, valuesShown: true, assignmentOf };
  const { actions: now } = await dryRun(options, request);
  const rehearsals = [];
  for (const scenario of asked.scenarios ?? [])
    rehearsals.push({ scenario, ...(scenario === 'now' ? { actions: now } : await rehearse(options, request, scenario)) });
  const { known: read } = await firstAssignment(request);
  return { problems, warnings, ...told, actions: now, rehearsals: asked.scenarios && rehearsals, assignment: read };
}

function fromElements(company: Company, { assignment, elements: given = [], variables }: Asked): Draft {
  const elements = given.map(({ relayAccessToken: _, ...element }) => element);
  const named = assignment && 'id' in assignment && { assignment_id: assignment.id };
  const values = new Map(Object.entries({ ...named, ...variables }));
  const filling = (name: string) => values.get(name) ?? sampleOf(name);
  const filled = fillIn(elements, filling);
  const names = variablesIn(JSON.stringify(elements));
  const told = {
    hints: hintsOn(elements),
    variables: Object.fromEntries(names.map((name) => [name, filling(name) ?? ''])),
    timestamps: filled.flatMap((element, index) => timestampOf(element, index, company.timeZone)),
  };
  // The schema requires a token, but this route needs none.
  const read = readRequest(filled.map((element) => ({ ...element, relayAccessToken: '' })));
  if (!read.ok) return { told, problems: read.problems, warnings: read.mistakes };
  return { told, problems: [], warnings: read.warnings, actions: read.actions };
}

/** Makes the chain that a rule with these contents would make from the event. Mistakes have pointers into the contents. */
async function fromContents(options: ApiOptions, { company, rules }: CompanySettings, asked: Asked): Promise<Draft> {
  const { relayId = '', assignment } = asked;
  foundRule(rules.get(relayId), company.companyId, relayId);
  const { eventId, event } = await eventFor(options, company.companyId, relayId, asked);
  const told = { hints: [], variables: {}, timestamps: [], event, eventId };
  const checked = checkContents(asked.contents, { relayId, platform: company.platform });
  if (!checked.ok) return { told, problems: checked.problems, warnings: checked.warnings };
  const rendered = renderEvent(checked.contents, relayId, event);
  if (rendered.kind === 'not-applicable')
    return { told: { ...told, applies: false, reason: rendered.reason }, problems: [], warnings: checked.warnings };
  if (rendered.kind === 'refused') return { told, problems: rendered.problems, warnings: checked.warnings };
  const named = assignment && 'id' in assignment && { assignmentId: assignment.id };
  const actions = rendered.actions.map((action) => ({ ...action, ...named }));
  const timestamps = actions.map(fieldsOf).flatMap((element, index) => timestampOf(element, index, company.timeZone));
  const hints = hintsOn(withKnownVariables(checked.contents.actions)).map(inContents);
  const made = { applies: true, hints, variables: rendered.variables, timestamps: timestamps.map(inContents) };
  return { told: { ...told, ...made }, problems: [], warnings: [...checked.warnings, ...rendered.warnings], actions };
}

/** The event in the request, or the stored event with the id in the request. By default, the last event of the rule. */
async function eventFor({ store }: ApiOptions, companyId: string, relayId: string, { event, eventId }: Asked) {
  if (event !== undefined) return { event };
  const [last] = eventId === undefined ? (await store.events.list(companyId, relayId, { limit: 1 })).items : [];
  const wanted = eventId ?? last?.eventId;
  const stored = wanted === undefined ? undefined : await store.events.get(companyId, relayId, wanted);
  if (eventId !== undefined) found(stored, `event ${eventId} of rule ${relayId}`);
  return stored ? { event: parseEvent(stored.body), eventId: stored.eventId } : { event: {} };
}

/** Replaces each reference with a variable that the platform knows, so that no hint calls the reference unknown. */
const withKnownVariables = (actions: readonly Fields[]): Fields[] =>
  JSON.parse(JSON.stringify(actions).replaceAll(/\$?\$\{[^{}"]*\}/g, '${assignment_id}'));

type Rehearsal = DryRunRequest & { assignmentOf: AssignmentReader };

/** @returns the first assignment. If the platform does not have it, the error of each condition that asks about it. */
async function firstAssignment({ actions, assignmentOf }: Rehearsal): Promise<{ known?: Fields; missing?: string }> {
  const [id] = actions.flatMap(({ assignmentId }) => assignmentId ?? []);
  const read = id === undefined ? undefined : await assignmentOf(id);
  if (read && 'assignment' in read) return { known: read.assignment };
  return read && !read.retryable ? { missing: read.error } : {};
}

async function rehearse(options: ApiOptions, request: Rehearsal, scenario: Scenario) {
  let played: Played[] = [];
  let remark: string | undefined;
  const { known = { status: 'draft' }, missing } = await firstAssignment(request);
  const { retryBudgetSeconds } = options;
  const began = Date.now();
  const told = await dryRun(options, {
    ...request,
    async assignmentOf(id) {
      const answer = await request.assignmentOf(id);
      return 'error' in answer && !answer.retryable ? answer : { assignment: known };
    },
    forecast(actions, facts) {
      const evaluate = (action: ChainAction, assignment: Fields, afterSeconds: number) =>
        missing !== undefined && action.condition && mayAskAssignment(action.condition)
          ? { error: missing, retryable: false }
          : forecastCondition(action, assignment, new Date(began + afterSeconds * 1000));
      played = playThrough(actions, facts, { scenario, assignment: known, retryBudgetSeconds, evaluate });
      remark = remarkOn(scenario, actions, played);
      return played;
    },
  });
  // Leave out the current results of the conditions, because the scenario has its own results for the conditions.
  const results = told.actions.map(({ condition: _, ...action }, place) => ({ ...action, ...played[place] }));
  return { actions: results, remark };
}

function unknownRules(rules: CompanySettings['rules'], actions: readonly ChainAction[]): Issue[] {
  return actions.flatMap(({ index, relayId }) => {
    const detail = `names ${relayId}, which is not a rule of this company`;
    return rules.has(relayId) ? [] : [{ pointer: jsonPointer([index, 'relayId']), detail }];
  });
}

function assignmentSource({ connectors }: ApiOptions, company: Company, asked: Asked['assignment']): AssignmentReader {
  if (asked === undefined) return async () => ({ error: 'the result depends on the assignment', retryable: true });
  if (!('facts' in asked)) return assignmentReader(connectors, company);
  const { facts } = asked;
  return async () => ({ assignment: facts });
}

function timestampOf({ cfValue, cfTargetDateFormat }: Fields, index: number, timeZone: string): Composed['timestamps'] {
  if (typeof cfValue !== 'string' || typeof cfTargetDateFormat !== 'string' || cfTargetDateFormat.length > 256) return [];
  const value = fieldValue({ value: cfValue, dateFormat: cfTargetDateFormat }, timeZone);
  const pointer = jsonPointer([index, 'cfTargetDateFormat']);
  return [{ pointer, detail: value.ok ? value.text : value.error, written: value.ok }];
}
