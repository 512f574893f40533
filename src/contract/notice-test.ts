/** A test of whether notices arrive, as the API takes it and answers. */

import { z } from 'zod';

export const noticeTestRequest = z.strictObject({
  relayId: z.string().max(32).optional().describe('A rule, whose own contacts get it as well.'),
});
export const noticeTestResponse = z.object({
  contacts: z
    .array(
      z.object({
        contact: z.string().describe('An e-mail address, or a webhook without the path, which is a secret.'),
        delivered: z.boolean(),
        error: z.string().optional().describe('Why not.'),
      }),
    )
    .describe('Where neither the rule nor the company has any: the operator. Empty: nobody would be told of anything.'),
});
