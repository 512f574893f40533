/** A rule: what chains are run under. It is known by its `relayId` within its company. */

import { z } from 'zod';
import { onFailureSchema, onUnknownSchema } from '../chain/action-status.js';
import { relayIdPattern, relayIdRule } from '../chain/chain.js';
import { isMistyped, rotatedTokenResponse } from './credential.js';
import { label, notifyRequest, notifySchema } from './notify.js';

/** As answers show it, its secrets redacted. */
export const ruleSchema = z
  .object({
    relayId: z.string(),
    name: z.string(),
    enabled: z.boolean(),
    onFailure: onFailureSchema,
    onUnknown: onUnknownSchema,
    notify: notifySchema.optional(),
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
  notify: notifyRequest.nullish().describe("Who is told when something of this rule fails, beside the company's contacts."),
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
      .describe('To take over an id that webhooks use already. Absent: the relay makes one.'),
    relayAccessToken: z
      .string()
      .min(16, 'must have at least 16 characters, or it could be guessed: let the relay make one, or use a longer one')
      .max(512)
      .refine((token) => token === token.trim(), 'must not begin or end with white space')
      .refine((token) => !isMistyped(token), 'looks like a token of a relay, but has a typing error or is cut short')
      .optional()
      .describe('To take over a token that webhooks use already, of 16 characters or more. Absent: the relay makes one.'),
  })
  .meta({ id: 'NewRule' });

/** `notify` as in a company's PUT. */
export const ruleChange = settings.partial().meta({ id: 'RuleChange' });
