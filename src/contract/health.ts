/** The health of the rules of a company: counts of events and chains over time. */

import { z } from 'zod';
import { named } from './named.js';
import { expectationSchema, ruleSchema } from './rule.js';

/** The longest time that the counts cover, in days. */
export const mostDays = 90;

export const countsSchema = z.object({
  events: z
    .int()
    .describe(
      'Chains, and stored events that started no chain. Events that are no longer stored count only if they started a chain.',
    ),
  chains: z.int().describe('Chains by the time of their request. A chain counts for each of its rules.'),
  failed: z.int().describe('Chains that ended as `failed`, `terminated` or `forgotten`.'),
  nobody: z.int().describe('Chains in which the platform found no technician.'),
});
const optionalNumber = z.number().optional();
const optionalTime = z.iso.datetime().optional();
const counts = countsSchema.shape;
const countsAndTimes = countsSchema.extend({
  p50: optionalNumber.describe('Half of the completed chains took at most this many seconds from the request to their end.'),
  p95: optionalNumber.describe('95 % of the completed chains took at most this many seconds.'),
});
const { relayId, name, enabled, expectEvery, expectWithin } = ruleSchema.shape;
const standing = {
  held: z.int().describe('Chains with an action that needs attention now.'),
  expectEvery,
  quietSince: optionalTime.describe(
    'When the last event came. If no event has come: when the rule last changed. Present only if an expected event did not come.',
  ),
  lastEvent: optionalTime.describe('When the last event came. Present only if the rule is quiet and has got an event.'),
};

export const bucketSchema = countsAndTimes.extend({ at: z.iso.datetime().describe('The start of the hour or day.') });
export const causeCountSchema = z.object({ type: z.string(), chains: z.int() });
export const ruleHealthSchema = named('RuleHealth', {
  relayId,
  ...standing,
  expectWithin,
  proposed: expectationSchema
    .optional()
    .describe(
      'A proposal for `expectEvery` and `expectWithin`, from the events of the last 4 weeks. Absent if too few events came.',
    ),
  causes: z
    .array(causeCountSchema)
    .describe('The types of failures, with the number of chains that failed or needed attention because of them; at most ten.'),
  buckets: z.array(bucketSchema).describe('The oldest first. Hours and days without events are left out.'),
});
export type RuleHealth = z.infer<typeof ruleHealthSchema>;

export const standingSchema = z.object({ relayId, name, enabled, ...standing });
export const ofRuleSchema = countsAndTimes.extend({ relayId });

export const companyHealthSchema = named('CompanyHealth', {
  rules: z
    .array(
      standingSchema.extend({
        ...countsAndTimes.shape,
        before: countsSchema.describe('The counts of the period before, with the same number of days.'),
      }),
    )
    .describe('All rules with their counts of the last `days` days.'),
  hours: z
    .array(
      z.object({
        at: z.iso.datetime().describe('The start of the hour.'),
        ...counts,
        usual: optionalNumber.describe('The median of `events` in the same hour of the last 4 weeks. Absent in the first week.'),
      }),
    )
    .describe('The last 24 hours of the company, the oldest first. The last hour is not over yet.'),
});
export type CompanyHealth = z.infer<typeof companyHealthSchema>;
