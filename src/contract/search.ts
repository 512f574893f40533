/** Search by the beginning of an id. */

import { z } from 'zod';
import { named } from './named.js';

export const searchKinds = ['assignment', 'ticket', 'chain', 'rule'] as const;
const searchResultSchema = z.object({
  kind: z.enum(searchKinds),
  id: z.string(),
  name: z.string().optional().describe('The name of a rule.'),
  lastAt: z.string().optional().describe('When the last chain with this id arrived.'),
});
export type SearchResult = z.infer<typeof searchResultSchema>;
export const searchResponse = named('Found', { items: z.array(searchResultSchema) });
