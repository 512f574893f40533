/** A rule: the settings for actions that name its `relayId`. The `relayId` is unique within the company. */

import { z } from 'zod';
import { onFailureSchema, onUnknownSchema } from '../chain/action-status.js';
import { relayIdPattern, relayIdRule } from '../chain/chain.js';
import { weekdays } from '../chain/expectation.js';
import { isTimeZone } from '../chain/timestamp/zone.js';
import { isMistyped, rotatedTokenResponse } from './credential.js';
import { named, namedStrict } from './named.js';
import { label, notifyRequest, notifySchema, setByCompanySchema } from './notify.js';

export const relayIdText = z.string().regex(relayIdPattern, relayIdRule);
const clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 08:30');
export const hoursSchema = namedStrict('Hours', {
  days: z.array(z.enum(weekdays)).min(1).max(7).optional().describe('Default: every day.'),
  from: clock.optional().describe('Default: `00:00`.'),
  to: clock.optional().describe('If `to` is not after `from`, the hours end on the next day. Default: `00:00`.'),
  timeZone: z
    .string()
    .refine(isTimeZone, 'must be the name of a time zone such as Europe/Berlin, or ±hh:mm')
    .optional()
    .describe('Default: the zone of the company.'),
});

const expectation = {
  expectEvery: z
    .int()
    .min(60)
    .max(31 * 86_400)
    .optional()
    .describe('At least one event is expected within this number of seconds. If no event comes, the contacts get a notice.'),
  expectWithin: hoursSchema.optional().describe('The hours in which events are expected. Default: always.'),
};
export const expectationSchema = z.object({ ...expectation, expectEvery: expectation.expectEvery.unwrap() });

export const ruleSchema = named('Rule', {
  relayId: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  onFailure: onFailureSchema,
  onUnknown: onUnknownSchema,
  notify: notifySchema.optional(),
  setByCompany: setByCompanySchema,
  ...expectation,
  published: z.int().optional().describe('The version that new events run. Absent if the rule has no published contents.'),
  shadow: z.int().optional().describe('The version that is tried on each new event, without effect.'),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type StoredRule = z.infer<typeof ruleSchema> & { companyId: string };
export type Rule = Omit<StoredRule, 'createdAt' | 'updatedAt'>;
export const rulesResponse = z.object({ rules: z.array(ruleSchema), nextCursor: z.string().optional() });
export const createdRuleResponse = ruleSchema.extend(rotatedTokenResponse.shape).meta({ id: 'CreatedRule' });

const settings = z.strictObject({
  name: label,
  notify: notifyRequest.nullish().describe("Contacts for failures of this rule, in addition to the company's contacts."),
  onFailure: onFailureSchema,
  onUnknown: onUnknownSchema,
  enabled: z.boolean(),
  expectEvery: expectation.expectEvery.nullable(),
  expectWithin: expectation.expectWithin.nullable(),
});

export const newRuleRequest = settings
  .omit({ enabled: true })
  .extend({
    onFailure: onFailureSchema.default('hold'),
    onUnknown: onUnknownSchema.default('resend'),
    relayId: relayIdText.optional().describe('An id that webhooks already use. Without it, the relay creates an id.'),
    relayAccessToken: z
      .string()
      .min(16, 'must have at least 16 characters, so that nobody can guess it: use a longer token, or leave it out')
      .max(512)
      .refine((token) => token === token.trim(), 'must not begin or end with white space')
      .refine((token) => !isMistyped(token), 'looks like a token of a relay, but has a typing error or is incomplete')
      .optional()
      .describe('A token that webhooks already use, with at least 16 characters. Without it, the relay creates a token.'),
  })
  .meta({ id: 'NewRule' });

/** A new `notify` replaces the old `notify` in the same way as in the PUT of a company. */
export const ruleChange = settings.partial().meta({ id: 'RuleChange' });
