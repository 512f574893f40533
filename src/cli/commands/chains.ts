/** `relay chains`: which chains there are, and how one stands. */

import type { Command } from '@commander-js/extra-typings';
import { z } from 'zod';
import { chainStatuses } from '../../chain/outcome.js';
import { type ChainResource, chainSchema } from '../../contract/chain-resource.js';
import { type Answer, type Problem, path } from '../api.js';
import { chainLines, exitCodeOf, stateCell } from '../chain-lines.js';
import { followChain } from '../follow.js';
import { showList } from '../list.js';
import { example, filterOf, withFilter, withParts } from '../options.js';
import type { Session } from '../session.js';
import { type Columns, furtherColumns } from '../table.js';

const item = z.looseObject({ chainId: z.string(), status: z.string(), receivedAt: z.string(), companyId: z.string().optional() });
const list = z.object({ items: z.array(item), nextCursor: z.string().optional() });

/** What to do where there is no such chain. */
export function seeWhichThereAre(companyId: string): string {
  return `See which there are: npx relay chains list ${companyId}`;
}

export function chains(relay: Command, session: Session): void {
  const chains = relay.command('chains').summary('which chains there are, and how one stands');

  withParts(withFilter(chains.command('list [companyId]', { isDefault: true })))
    .summary('list the chains of a company or of all, open ones first, the newest first')
    .option('--status <status>', `one of ${chainStatuses.join(', ')}`)
    .option('--paused', 'with an action that waits for the end of a pause')
    .addHelpText(...example('relay chains list acme --status needs-attention'))
    .action((companyId, { status, paused, limit, all, ...given }) =>
      showList(
        session,
        { limit, all },
        {
          path: companyId === undefined ? '/chains' : path`/co/${companyId}/chains`,
          query: { status, ...filterOf(given), paused: paused ? 'true' : undefined },
          field: 'items',
          schema: list,
          columns: (items): Columns<z.infer<typeof item>> => ({
            ...(companyId === undefined && { COMPANY: 'companyId' }),
            CHAIN: 'chainId',
            STATUS: (chain) => stateCell(chain.status),
            RECEIVED: 'receivedAt',
            ...furtherColumns(items, ['chainId', 'workflowId', 'status', 'receivedAt', 'companyId']),
          }),
          none: 'There is no such chain.',
        },
      ),
    );

  chains
    .command('show <companyId> <chainId>')
    .summary('show how a chain stands, action by action')
    .description('Exit code 4 where it failed, needs attention, or was cancelled or terminated.')
    .option('--watch', 'tell of every change until the chain has ended')
    .addHelpText(...example('relay chains show acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f --watch'))
    .action(async (companyId, given, { watch }) => {
      const chainId = chainIdOf(companyId, given);
      const nextStep = ({ status }: Problem) => (status === 404 ? seeWhichThereAre(companyId) : undefined);
      const ended = ({ status }: ChainResource) => ['completed', 'failed', 'cancelled', 'terminated'].includes(status);
      const answer: Answer<ChainResource> = watch
        ? await followChain(session, companyId, chainId, ended, nextStep)
        : await session.api.ask('GET', path`/co/${companyId}/chains/${chainId}`, chainSchema, { nextStep });
      const lines = chainLines(companyId, answer.body, session.terminal.columns);
      session.show(answer, watch ? ['', ...lines] : lines);
      session.exitCode = exitCodeOf(answer.body.status);
    });
}

/**
 * People name a chain by its id, or by its workflow's, as Temporal and the notices show it.
 * @returns `ID` for `relay:acme:ID`, and for `relay:acme:ID:2` of a delayed action, of this company;
 *   anything else as it is.
 */
export function chainIdOf(companyId: string, given: string): string {
  const [relay, company, chainId, firstIndex = '0', ...more] = given.split(':');
  const named = relay === 'relay' && company === companyId && chainId && /^\d+$/.test(firstIndex) && more.length === 0;
  return named ? chainId : given;
}
