/** A dry run as the API answers it: what would become of each action, with no effect. */

import { z } from 'zod';
import { onFailureSchema, onUnknownSchema } from '../chain/action-status.js';
import { actionDefinitions } from '../chain/actions.js';
import { forecastOutcomes } from '../chain/forecast.js';

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
export type DryRun = z.infer<typeof dryRunSchema>;
