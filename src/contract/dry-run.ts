/** The answers of a dry run, and of the composer. */

import { z } from 'zod';
import { actionDefinitions } from '../chain/actions.js';
import { forecastOutcomes } from '../chain/forecast.js';
import { maxActions } from '../chain/request.js';
import { scenarios } from '../chain/scenario.js';
import { acceptedSchema } from './chain-resource.js';
import { ruleSchema } from './rule.js';

const effectSchema = z
  .union(actionDefinitions.map(({ name, effect }) => effect.loose().describe(`The effect of \`${name}\`.`)))
  .meta({ id: 'Effect' });

export const dryRunSchema = z
  .object({
    dryRun: z.literal(true),
    receivedAt: z.iso.datetime().describe('The time of the dry run. Delays start then.'),
    actions: z.array(
      acceptedSchema.shape.actions.element.extend({
        comment: z.string().optional(),
        assignmentId: z.string().optional(),
        runAt: z.iso.datetime().describe('When it would be due. An immediate action runs in its turn.'),
        outcome: z
          .enum(forecastOutcomes)
          .describe(
            'The result if it were due now: `runs`; `skipped`; `needs-attention`, held until a person decides; ' +
              '`failed`, the same under a rule with `onFailure: "continue"`; `held` behind an action that needs attention; ' +
              '`unknown`, because the platform did not answer.',
          ),
        reason: z.string().optional().describe('Why it would not run.'),
        paused: z.string().optional().describe('The current pause. The action would wait until it ends.'),
        condition: z
          .object({
            text: z.string(),
            holds: z.boolean().optional().describe('The result now. Absent: it could not be evaluated.'),
            reason: z
              .string()
              .optional()
              .describe('The compared value. A value from the platform is shown only to an admin token or a company key.'),
            error: z.string().optional().describe('Why the assignment could not be read.'),
          })
          .optional(),
        effect: effectSchema.optional().describe('Its effect. Absent: the data are not valid, see `reason`.'),
        rule: ruleSchema.pick({ name: true, enabled: true, onFailure: true, onUnknown: true }).optional(),
      }),
    ),
    warnings: acceptedSchema.shape.warnings,
  })
  .meta({ id: 'DryRun' });
export type DryRun = z.infer<typeof dryRunSchema>;

const issuesSchema = acceptedSchema.shape.warnings.unwrap();
const issues = z.array(issuesSchema);
const anyObject = z.record(z.string(), z.unknown());

export const composeRequest = z
  .strictObject({
    elements: z
      .array(anyObject)
      .max(maxActions, {
        error: ({ input }) => `has ${Array.isArray(input) ? input.length : 0} actions; at most ${maxActions} are allowed`,
      })
      .describe('The actions with the variables of the webhook, without tokens.'),
    variables: z
      .record(z.string().max(100), z.string().max(10_000))
      .default({})
      .describe('Values by the name of the variable. A missing variable gets a sample value.'),
    assignment: z
      .union([
        z
          .strictObject({ id: z.string().max(256) })
          .describe('The id of an assignment, in its current state on the platform. Also the value of `${assignment_id}`.'),
        z.strictObject({ facts: anyObject }).describe('An invented assignment: what the platform would answer.'),
        z.strictObject({ chainId: z.string().max(128) }).describe('The assignment and the values of a past chain.'),
      ])
      .optional()
      .describe('The assignment for conditions and sends. Absent: everything that depends on it is unknown.'),
    scenario: z
      .enum(scenarios)
      .optional()
      .describe(
        'Simulates the chain in time. `nobody-found`: the assignment stays a draft. `nobody-accepts`: after a send it stays sent. ' +
          '`platform-down`: the platform does not answer for an hour.',
      ),
  })
  .meta({ id: 'Compose' });

const seconds = z.number().describe('Seconds after the event.').optional();

export const composedSchema = z
  .object({
    problems: issues.describe('Mistakes for which the request would be refused.'),
    warnings: issues.describe('Mistakes for which the request would only get a warning.'),
    hints: z
      .array(issuesSchema.extend({ add: anyObject.optional().describe('An action that fixes it, to be added at the end.') }))
      .describe('Probable mistakes: an action that can never run, a send without a safety net.'),
    variables: z.record(z.string(), z.string()).describe('The values that were used.'),
    timestamps: z
      .array(
        issuesSchema.extend({ written: z.boolean().describe('`true`: `detail` is the timestamp; `false`: it is the mistake.') }),
      )
      .describe("Each `cfValue` in its `cfTargetDateFormat`, in the company's time zone."),
    actions: z
      .array(
        dryRunSchema.shape.actions.element.extend({
          afterSeconds: seconds.describe('In a scenario: when it is done, skipped or failed. Absent: it waits for a decision.'),
          attempts: z.int().optional().describe('In a scenario: the number of attempts.'),
          toldAfterSeconds: seconds.describe('In a scenario: when the notice goes out, if it needs attention or failed.'),
        }),
      )
      .optional()
      .describe('The outcome of each action. Absent: there are problems.'),
    remark: z.string().optional().describe('The result of the scenario for the whole chain.'),
  })
  .meta({ id: 'Composed' });
export type Composed = z.infer<typeof composedSchema>;

/** The data for the composer: the fields of each action, and the platform's variables. */
export const composerSchema = z
  .object({
    actions: z.array(
      z.object({
        name: z.string(),
        description: z.string(),
        fields: z.array(z.object({ name: z.string(), description: z.string(), required: z.boolean(), isList: z.boolean() })),
      }),
    ),
    variables: z.array(z.object({ name: z.string(), description: z.string(), sample: z.string() })),
    examples: z.array(z.object({ summary: z.string(), elements: z.array(anyObject).describe('Without rules and tokens.') })),
  })
  .meta({ id: 'Composer' });
export type Composer = z.infer<typeof composerSchema>;
