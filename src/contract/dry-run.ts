/** The answers of a dry run, and the requests and answers of the composer. */

import { z } from 'zod';
import { optionalText } from '../chain/action-status.js';
import { actionDefinitions } from '../chain/actions.js';
import { forecastOutcomes } from '../chain/forecast.js';
import { maxActions } from '../chain/request.js';
import { scenarios } from '../chain/scenario.js';
import { acceptedSchema } from './chain-resource.js';
import { anyObject, issues, named } from './named.js';
import { ruleSchema } from './rule.js';

const effectSchema = z
  .union(actionDefinitions.map(({ name, effect }) => effect.loose().describe(`The effect of \`${name}\`.`)))
  .meta({ id: 'Effect' });

export const dryRunSchema = named('DryRun', {
  dryRun: z.literal(true),
  receivedAt: z.iso.datetime().describe('The time of the dry run. Delays start at this time.'),
  actions: z.array(
    acceptedSchema.shape.actions.element.extend({
      comment: optionalText,
      assignmentId: optionalText,
      runAt: z.iso.datetime().describe('When the action would be due. Without a delay, it runs after the earlier actions.'),
      outcome: z
        .enum(forecastOutcomes)
        .describe(
          'The result if the action were due now. `needs-attention`: the action would wait until a person decides. ' +
            '`failed`: the action would fail, and its rule says `onFailure: "continue"`. `held`: an earlier action would need ' +
            'attention. `unknown`: the relay could not read the assignment now, and would try again.',
        ),
      reason: optionalText.describe('Why the action would not run.'),
      paused: optionalText.describe('The current pause. The action would wait until the pause ends.'),
      condition: z
        .object({
          text: z.string(),
          holds: z.boolean().optional().describe('Whether the condition holds now. Absent if the relay could not evaluate it.'),
          reason: optionalText.describe(
            'Why the condition holds or does not hold. A value from the platform is shown only to an admin token or a company key.',
          ),
          error: optionalText.describe('Why the assignment could not be read.'),
        })
        .optional(),
      effect: effectSchema.optional().describe('The effect of the action. Absent if its data are not valid: see `reason`.'),
      rule: ruleSchema.pick({ name: true, enabled: true, onFailure: true, onUnknown: true }).optional(),
    }),
  ),
  warnings: acceptedSchema.shape.warnings,
});
export type DryRun = z.infer<typeof dryRunSchema>;

const issue = issues.unwrap();

/** `now`: the outcome of each action if it were due now. */
export const rehearsed = ['now', ...scenarios] as const;

export const composeRequest = z
  .strictObject({
    elements: z
      .array(anyObject)
      .max(maxActions, {
        error: ({ input }) => `has ${Array.isArray(input) ? input.length : 0} actions; at most ${maxActions} are allowed`,
      })
      .optional()
      .describe('The actions, with the variables of the webhook and without tokens.'),
    contents: anyObject.optional().describe('The contents of a rule, instead of `elements`.'),
    relayId: z.string().max(32).optional().describe('The rule of `contents`.'),
    event: anyObject.optional().describe('The event for `contents`. Default: the last event of the rule.'),
    eventId: z.string().max(64).optional().describe('A stored event of the rule, instead of `event`.'),
    variables: z
      .record(z.string().max(100), z.string().max(10_000))
      .default({})
      .describe('The value of each variable, by its name. A variable without a value gets a sample value.'),
    assignment: z
      .union([
        z
          .strictObject({ id: z.string().max(256) })
          .describe('An assignment in its current state on the platform. The id is also the value of `${assignment_id}`.'),
        z.strictObject({ facts: anyObject }).describe('An invented assignment, as the platform would return it.'),
      ])
      .optional()
      .describe(
        'The assignment that conditions test and actions send. If the assignment is missing, actions with a condition on the assignment are `unknown`.',
      ),
    scenarios: z
      .array(z.enum(rehearsed))
      .max(rehearsed.length)
      .optional()
      .describe(
        'Simulates how the chain runs over time: the answer has `rehearsals`. `nobody-found`: the assignment stays a draft. ' +
          '`nobody-accepts`: the assignment is sent and stays in this state. `platform-down`: the platform does not answer for an ' +
          'hour. `now`: without a scenario.',
      ),
  })
  .refine(({ elements, contents }) => (elements === undefined) !== (contents === undefined), {
    path: ['elements'],
    error: 'is required without contents, and not allowed with contents',
  })
  .refine(({ contents, relayId }) => contents === undefined || relayId !== undefined, {
    path: ['relayId'],
    error: 'is required with contents',
  })
  .meta({ id: 'Compose' });

const seconds = z.number().describe('Seconds after the event.').optional();

const composedActions = z.array(
  dryRunSchema.shape.actions.element.extend({
    afterSeconds: seconds.describe('In a scenario: the seconds until the action ends. Absent if the action needs attention.'),
    attempts: z.int().optional().describe('In a scenario: the number of attempts at the action.'),
    toldAfterSeconds: seconds.describe('In a scenario: the seconds until people get the notice about this action.'),
  }),
);
const remark = optionalText.describe('What the scenario shows about the whole chain.');

export const composedSchema = named('Composed', {
  problems: issues.describe('The mistakes for which the relay would refuse the request.'),
  warnings: issues.describe('The mistakes that would cause only a warning.'),
  hints: z
    .array(issue.extend({ add: anyObject.optional().describe('An action to append, which corrects the mistake.') }))
    .describe('Probable mistakes, such as an action that can never run, or a missing e-mail for the case that nobody accepts.'),
  variables: z.record(z.string(), z.string()).describe('The values that the relay used for the variables.'),
  timestamps: z
    .array(issue.extend({ written: z.boolean().describe('`true` if `detail` is the timestamp, not a mistake.') }))
    .describe("Each `cfValue`, written in its `cfTargetDateFormat` and in the company's time zone."),
  actions: composedActions.optional().describe('The outcome of each action. Absent if there are problems.'),
  rehearsals: z
    .array(z.object({ scenario: z.enum(rehearsed), actions: composedActions, remark }))
    .optional()
    .describe('The outcome of each action in each of the `scenarios`. Absent if there are problems.'),
  applies: z.boolean().optional().describe('For `contents`: whether `when` holds for the event.'),
  reason: optionalText.describe('For `contents`: why `when` does not hold.'),
  assignment: anyObject.optional().describe('The assignment that the relay read, or that the request contains.'),
  event: anyObject.optional().describe('For `contents`: the event that the relay used.'),
  eventId: optionalText.describe('For `contents`: the id of the event, if the event is stored.'),
});
export type Composed = z.infer<typeof composedSchema>;

/** The data for the composer: the fields of each action, and the platform's variables. */
export const composerSchema = named('Composer', {
  actions: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      fields: z.array(z.object({ name: z.string(), description: z.string(), required: z.boolean(), isList: z.boolean() })),
    }),
  ),
  variables: z.array(z.object({ name: z.string(), description: z.string(), sample: z.string() })),
  examples: z.array(z.object({ summary: z.string(), elements: z.array(anyObject).describe('Actions without rule or token.') })),
});
export type Composer = z.infer<typeof composerSchema>;

export const systemNamesSchema = named('SystemNames', {
  groups: z.array(z.string()).describe('The groups of the assignment platform.'),
  groupIds: z.array(z.string()).describe('The numbers of these groups. An action can use a number in place of a name.'),
  fields: z.array(z.string()).describe('The fields of the ticket system that the relay can write.'),
});
export type SystemNames = z.infer<typeof systemNamesSchema>;
