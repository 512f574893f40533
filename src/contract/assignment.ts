/** An assignment at the company's platform, as the platform shows it now. */

import { z } from 'zod';
import { named } from './named.js';

export const assignmentNowSchema = named('AssignmentNow', {
  assignmentId: z.string(),
  readAt: z.iso.datetime().describe('When the platform answered. The relay keeps each answer for ten seconds.'),
  status: z.string().optional().describe('The status at the platform. Absent if the assignment cannot be read.'),
  problem: z
    .object({
      title: z.string().describe('Why the assignment cannot be read, in one short sentence.'),
      remedy: z.string().optional(),
      message: z.string(),
      missing: z.boolean().describe('The platform answers, but does not have the assignment.'),
    })
    .optional(),
});
export type AssignmentNow = z.infer<typeof assignmentNowSchema>;
