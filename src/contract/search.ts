/** Search by the beginning of an id. */

import { z } from 'zod';

const searchResultSchema = z.object({
  kind: z.enum(['assignment', 'ticket', 'chain', 'rule']),
  id: z.string(),
  name: z.string().optional(),
  chainId: z.string().optional(),
});
export type SearchResult = z.infer<typeof searchResultSchema>;
export const searchResponse = z.object({ items: z.array(searchResultSchema) });
