/**
 * One row for each chain, which stays after Temporal has deleted the chain. The API adds a row after it has accepted a chain, at
 * most a second later. A collector in the workers completes the row (temporal/collect.ts).
 */

import { z } from 'zod';
import { chainStatuses } from '../chain/outcome.js';
import { listedChainSchema } from '../contract/chain-resource.js';
import { encrypted } from '../contract/secrets.js';
import { type Database, type PageRequest, type Parameter, read, Table } from './database.js';

export const defaultHistoryDays = 400;

const ids = z.array(z.string());
const listed = z.object({
  companyId: z.string(),
  chainId: z.string(),
  status: z.enum(chainStatuses), // of an open chain: running or needs-attention
  receivedAt: z.iso.datetime(),
  closedAt: z.iso.datetime().optional(),
  doneAt: z.iso.datetime().optional(), // when the last action ended
  heldSince: z.iso.datetime().optional(),
  paused: z.literal(true).optional(),
  rule: listedChainSchema.shape.rule,
  relayIds: ids,
  assignmentIds: ids,
  ticketIds: ids,
  failureTypes: ids.optional(),
  failedActions: z.int().default(0),
  nobodyFound: z.boolean().default(false), // a send reached no recipient
  summary: encrypted(z.string()).optional(),
});
const whole = listed.extend({
  place: z.string().optional(),
  runId: z.string().optional(),
  startedAt: z.iso.datetime().optional(),
  details: encrypted(z.string()).optional(), // JSON of the chain's resource, without what the other fields say
});
export type ListedRow = z.infer<typeof listed>;
export type ChainRow = z.infer<typeof whole>;

const lists = new Table('chains', listed, 'chainId');
export const chains = new Table('chains', whole, 'chainId');
