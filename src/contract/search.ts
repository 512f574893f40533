/** Search by the beginning of an id. */

import { z } from 'zod';

export const searchKinds = ['assignment', 'ticket', 'chain', 'rule'] as const;
const searchResultSchema = z.object({
  kind: z.enum(searchKinds),
  id: z.string(),
  name: z.string().optional().describe('The name of a rule.'),
  lastAt: z.string().optional().describe('When the last chain with this id arrived.'),
});
export type SearchResult = z.infer<typeof searchResultSchema>;
export const searchResponse = z.object({ items: z.array(searchResultSchema) }).meta({ id: 'Found' });
