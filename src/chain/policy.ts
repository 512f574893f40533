/** What a rule says about failures and unknown outcomes. */

import { z } from 'zod';

/** What happens to the rest of a sequence when an action cannot be done. */
export const onFailureSchema = z
  .enum(['hold', 'continue'])
  .describe('Whether what stands behind an action that cannot be done waits until somebody decides, or runs.');
export type OnFailure = z.infer<typeof onFailureSchema>;

/** What happens when nobody can say whether an effect took place. */
export const onUnknownSchema = z
  .enum(['resend', 'hold'])
  .describe('Whether an effect of which nobody knows whether it took place is done again under the same key, or held.');
export type OnUnknown = z.infer<typeof onUnknownSchema>;
