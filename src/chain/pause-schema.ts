/** The zod schema of a pause, apart from pause.ts, which workflows load without zod. */

import { z } from 'zod';
import { connectors } from './connector.js';

export const pausable = ['all', ...connectors] as const;
/** What is paused; `all` is every connector of the company. */
export const pausableSchema = z.enum(pausable, `must be one of ${pausable.join(', ')}`);
export type Pausable = z.infer<typeof pausableSchema>;

export const pauseSchema = z
  .object({
    what: pausableSchema,
    since: z.iso.datetime(),
    until: z.iso.datetime().optional().describe('When it ends by itself; absent: when somebody ends it.'),
    reason: z.string().optional().describe('In the words of whoever paused.'),
  })
  .meta({ id: 'Pause' });
export type Pause = z.infer<typeof pauseSchema>;
