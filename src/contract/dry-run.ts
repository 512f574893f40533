/** What a chain would do, action by action, and what somebody who composes one is told of it. */

import { z } from 'zod';
import { actionDefinitions } from '../chain/actions.js';
import { forecastOutcomes } from '../chain/forecast.js';
import { maxActions } from '../chain/request.js';
import { scenarios } from '../chain/scenario.js';
import { acceptedSchema } from './chain-resource.js';
import { ruleSchema } from './rule.js';

/** What an action would do: to whom, with what. */
const effectSchema = z
  .union(actionDefinitions.map(({ name, effect }) => effect.loose().describe(`Of \`${name}\`.`)))
  .meta({ id: 'Effect' });

export const dryRunSchema = z
  .object({
    dryRun: z.literal(true),
    receivedAt: z.iso.datetime().describe('The moment of the dry run, from which delays are measured.'),
    actions: z.array(
      acceptedSchema.shape.actions.element.extend({
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
      .describe('The actions as they are to be sent, with the variables of the webhook, and without tokens.'),
    variables: z
      .record(z.string().max(100), z.string().max(10_000))
      .default({})
      .describe('What the webhook would fill in, by the name of the variable. Where one is missing, something that could come.'),
    assignment: z
      .union([
        z.strictObject({ id: z.string().max(256) }).describe('Asked of the platform. Also fills in `${assignment_id}`.'),
        z.strictObject({ facts: anyObject }).describe('Made up: what the platform would answer.'),
        z
          .strictObject({ chainId: z.string().max(128) })
          .describe('That of a chain that came, with what the webhook filled in then.'),
      ])
      .optional()
      .describe('What conditions see. Absent: nothing is asked, and what depends on the assignment stays unknown.'),
    scenario: z
      .enum(scenarios)
      .optional()
      .describe(
        'Plays the chain through instead: `nobody-found`, the assignment stays a draft; `nobody-accepts`, it stays as sent once a send ' +
          'has run; `platform-down`, the platform does not answer for an hour.',
      ),
  })
  .meta({ id: 'Compose' });

const seconds = z.number().describe('Seconds after the event.').optional();

export const composedSchema = z
  .object({
    problems: issues.describe('For which the request would be refused.'),
    warnings: issues.describe('What would be worth knowing about the event at hand.'),
    hints: z
      .array(issuesSchema.extend({ add: anyObject.optional().describe('An action behind the others that would mend it.') }))
      .describe('What can never run, has no safety net, or is otherwise seldom meant.'),
    variables: z.record(z.string(), z.string()).describe('What was filled in.'),
    timestamps: z
      .array(issuesSchema.extend({ written: z.boolean().describe('Whether `detail` is the timestamp, and not what is wrong.') }))
      .describe("Each `cfValue` as its `cfTargetDateFormat` writes it, in the company's time zone."),
    actions: z
      .array(
        dryRunSchema.shape.actions.element.extend({
          afterSeconds: seconds.describe('In a scenario, when it is done, skipped or given up. Absent: it waits for somebody.'),
          attempts: z.int().optional().describe('In a scenario, how often it was tried.'),
          toldAfterSeconds: seconds.describe('In a scenario, when people are told that it needs attention, or has failed.'),
        }),
      )
      .optional()
      .describe('What would become of each. Absent: there are problems.'),
    remark: z.string().optional().describe('What the scenario shows of the chain as a whole.'),
  })
  .meta({ id: 'Composed' });
export type Composed = z.infer<typeof composedSchema>;

/** What a composer is made of: of each action the JSON schema of its fields, and the variables of the platform. */
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
    examples: z.array(z.object({ summary: z.string(), elements: z.array(anyObject).describe('Without rule and token.') })),
  })
  .meta({ id: 'Composer' });
export type Composer = z.infer<typeof composerSchema>;
