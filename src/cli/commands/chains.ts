/** `relay chains`: which chains there are, and how one stands. */

import { z } from 'zod';
import { chainSchema, chainStatuses } from '../../contract/chain-resource.js';
import { path } from '../api.js';
import { chainLines, exitCodeOf, stateCell } from '../chain-lines.js';
import { defineCommand } from '../command.js';
import { followChain } from '../follow.js';
import { listOptions, showList } from '../list.js';
import { furtherColumns } from '../table.js';
import { momentText } from '../time.js';
import { filterOf, filterOptions } from './bulk.js';

const item = z.looseObject({ chainId: z.string(), status: z.string(), receivedAt: z.string(), companyId: z.string().optional() });
type Item = z.infer<typeof item>;

/** What to do where there is no such chain. */
export const seeWhichThereAre = 'See which there are: npx relay chains list <companyId>';

export const listChains = defineCommand({
  arguments: ['companyId?'],
  options: {
    status: { type: 'string', value: 'status', help: `one of ${chainStatuses.join(', ')}` },
    ...filterOptions,
    paused: { type: 'boolean', help: 'of which an action waits for the end of a pause' },
    ...listOptions,
  },
  summary: 'list the chains of a company or of all, open ones first, the newest first',
  example: 'relay chains list acme --status needs-attention',
  run: async (session, { companyId }, { status, paused, limit, all, ...given }) => {
    await showList(
      session,
      {
        path: companyId === undefined ? '/chains' : path`/co/${companyId}/chains`,
        query: { status, ...filterOf(given), paused: paused ? 'true' : undefined },
        field: 'items',
        item,
        columns: (items) => [
          ...(companyId === undefined ? [{ heading: 'COMPANY', cell: (chain: Item) => chain.companyId }] : []),
          { heading: 'CHAIN', cell: ({ chainId }) => chainId },
          { heading: 'STATUS', cell: (chain) => stateCell(chain.status) },
          { heading: 'RECEIVED', cell: ({ receivedAt }) => momentText(receivedAt) },
          ...furtherColumns(items, ['chainId', 'workflowId', 'status', 'receivedAt', 'companyId']),
        ],
        none: 'There is no such chain.',
      },
      { limit, all },
    );
  },
});

export const showChain = defineCommand({
  arguments: ['companyId', 'chainId'],
  options: { watch: { type: 'boolean', help: 'tell of every change until the chain has ended' } },
  summary: 'show how a chain stands, action by action',
  details: 'Exit code 4 where it failed, needs attention, or was cancelled or terminated.',
  example: 'relay chains show acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f --watch',
  nextSteps: { 404: seeWhichThereAre },
  run: async (session, { companyId, chainId }, { watch }) => {
    const width = session.terminal.columns;
    if (watch) {
      const ended = ['completed', 'failed', 'cancelled', 'terminated'];
      const { answer, chain } = await followChain(session, companyId, chainId, ({ status }) => ended.includes(status));
      session.show(answer, chainSchema, () => ['', ...chainLines(companyId, chain, width)]);
      return exitCodeOf(chain.status);
    }
    const answer = await session.api.ask('GET', path`/co/${companyId}/chains/${chainId}`);
    const { status } = session.show(answer, chainSchema, (chain) => chainLines(companyId, chain, width));
    return exitCodeOf(status);
  },
});
