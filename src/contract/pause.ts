/** Pauses as the store keeps them, and as the admin API begins, shows and ends them. */

import { z } from 'zod';
import { type Pause, pausable } from '../chain/pause.js';

export const pausableSchema = z.enum(pausable, `must be one of ${pausable.join(', ')}`);

export const pauseSchema = z
  .object({
    what: pausableSchema,
    since: z.iso.datetime(),
    until: z.iso.datetime().optional().describe('When it ends by itself; absent: when somebody ends it.'),
    reason: z.string().optional().describe('In the words of whoever paused.'),
  })
  .meta({ id: 'Pause' }) satisfies z.ZodType<Pause>;

export const pauseRequest = z
  .strictObject({
    what: pausableSchema.default('all').describe('`all`: every connector of the company.'),
    reason: z
      .string()
      .trim()
      .min(1, 'must not be blank')
      .max(500)
      .nullish()
      .describe('For those who wonder why their actions wait.'),
    until: z.iso
      .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone, such as 2026-07-01T12:00:00Z' })
      .refine((time) => Date.parse(time) > Date.now(), 'must be in the future')
      .nullish()
      .describe('When it ends by itself. Absent: when it is ended.'),
  })
  .meta({ id: 'PauseRequest' });
export const pausesResponse = z.object({ pauses: z.array(pauseSchema).describe('Those that are on.') });
export const endedPausesResponse = z.object({ ended: z.array(pausableSchema) });
