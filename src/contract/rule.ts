/** A rule: the settings for actions that name its `relayId`. The `relayId` is unique within the company. */

import { z } from 'zod';
import { onFailureSchema, onUnknownSchema } from '../chain/action-status.js';
import { relayIdPattern, relayIdRule } from '../chain/chain.js';
import { isMistyped, rotatedTokenResponse } from './credential.js';
import { label, notifyRequest, notifySchema, setByCompanySchema } from './notify.js';

export const ruleSchema = z
  .object({
    relayId: z.string(),
    name: z.string(),
    enabled: z.boolean(),
    onFailure: onFailureSchema,
    onUnknown: onUnknownSchema,
    notify: notifySchema.optional(),
    setByCompany: setByCompanySchema,
    published: z.int().optional().describe('The version that new events run. Absent if the rule has no published contents.'),
    shadow: z.int().optional().describe('The version that is tried on each new event, without effect.'),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Rule' });
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
});

export const newRuleRequest = settings
  .omit({ enabled: true })
  .extend({
    onFailure: onFailureSchema.default('hold'),
    onUnknown: onUnknownSchema.default('resend'),
    relayId: z
      .string()
      .regex(relayIdPattern, relayIdRule)
      .optional()
      .describe('An id that webhooks already use. Without it, the relay creates an id.'),
    relayAccessToken: z
      .string()
      .min(16, 'must have at least 16 characters, so that nobody can guess it: leave it out, or use a longer one')
      .max(512)
      .refine((token) => token === token.trim(), 'must not begin or end with white space')
      .refine((token) => !isMistyped(token), 'looks like a token of a relay, but has a typing error or is cut short')
      .optional()
      .describe('A token that webhooks already use, with at least 16 characters. Without it, the relay creates a token.'),
  })
  .meta({ id: 'NewRule' });

/** A new `notify` replaces the old `notify` in the same way as in the PUT of a company. */
export const ruleChange = settings.partial().meta({ id: 'RuleChange' });
