/** `relay chains`, `retry`, `skip`, `run-now`, `reschedule`, `cancel`: how chains stand, and what a person decides about one. */

import { z } from 'zod';
import { chainStatuses } from '../../chain/outcome.js';
import { type ChainResource, chainSchema } from '../../contract/chain-resource.js';
import { type Problem, path } from '../api.js';
import { chainLines, exitCodeOf, stateCell } from '../chain-lines.js';
import { followChain } from '../follow.js';
import { type Commands, example, settingsOf, withFilter, withParts } from '../options.js';
import { UsageError } from '../terminal.js';
import { type Columns, furtherColumns } from '../text.js';
import { readDuration } from '../time.js';

const item = z.looseObject({ chainId: z.string(), status: z.string(), receivedAt: z.string(), companyId: z.string().optional() });
const list = z.object({ items: z.array(item), nextCursor: z.string().optional() });

export const chains: Commands = (relay, session) => {
  const chains = relay.command('chains').summary('which chains there are, and how one stands');

  withParts(withFilter(chains.command('list [companyId]', { isDefault: true })))
    .summary('list the chains of a company or of all, open ones first, the newest first')
    .option('--status <status>', `one of ${chainStatuses.join(', ')}`, (status) => ({ status }))
    .option('--paused', 'with an action that waits for the end of a pause')
    .addHelpText(...example('relay chains list acme --status needs-attention'))
    .action((companyId, options) => {
      const { limit, all, paused, ...filter } = options;
      return session.list(options, {
        path: companyId === undefined ? '/chains' : path`/co/${companyId}/chains`,
        query: { ...settingsOf(filter), paused },
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
      });
    });

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
      const answer = watch
        ? await followChain(session, companyId, chainId, ended, nextStep)
        : await session.api.ask('GET', path`/co/${companyId}/chains/${chainId}`, chainSchema, { nextStep });
      session.exitCode = exitCodeOf(answer.body.status);
      if (watch) session.print(['']);
      await session.show(answer, (chain) => chainLines(companyId, chain, session.terminal.columns));
    });
};

export const steer: Commands = (relay, session) => {
  relay
    .command('retry <companyId> <chainId> <index>')
    .summary('try an action again that needs attention, has failed, or reached only some recipients')
    .description('A chain that has closed is opened again; what was not run because of the action follows it.')
    .addHelpText(...example('relay retry acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f 1'))
    .action((companyId, chainId, index) => decide(companyId, chainId, index, 'retry', 'will be tried again'));

  relay
    .command('skip <companyId> <chainId> <index>')
    .summary('go on without an action that needs attention')
    .addHelpText(...example('relay skip acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f 1'))
    .action((companyId, chainId, index) => decide(companyId, chainId, index, 'skip', 'will be skipped'));

  relay
    .command('run-now <companyId> <chainId> <index>')
    .alias('runNow') // As the API spells it.
    .summary('run a delayed action now')
    .addHelpText(...example('relay run-now acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f 2'))
    .action((companyId, chainId, index) => decide(companyId, chainId, index, 'runNow', 'will run now'));

  relay
    .command('reschedule <companyId> <chainId> <index> <time>')
    .summary('run a delayed action at another time, counted from now')
    .description('The time is in seconds, or such as 10m, 1h30m, 2d.')
    .addHelpText(...example('relay reschedule acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f 2 10m'))
    .action((companyId, chainId, index, time) => {
      const seconds = readDuration(time);
      if (seconds === undefined) throw new UsageError('The time must be in seconds, or such as 10m, 1h30m, 2d');
      const what = `will run in ${time}${/^\d+$/.test(time) ? ' seconds' : ''}`;
      return decide(companyId, chainId, index, 'reschedule', what, { seconds });
    });

  relay
    .command('cancel <companyId> <chainId> [index]')
    .summary('cancel an action that has not ended, or without an index the whole chain')
    .description('An effect that is under way ends first. What has run stays done.')
    .addHelpText(...example('relay cancel acme 0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f 2'))
    .action((companyId, chainId, index) => decide(companyId, chainId, index, 'cancel', 'will be cancelled'));

  /** @param given - the chain. @param index - of the action; undefined: the whole chain. @param what - becomes of it. */
  async function decide(companyId: string, given: string, index: string | undefined, verb: string, what: string, body?: object) {
    if (index !== undefined && !/^\d{1,4}$/.test(index))
      throw new UsageError('The index must be a whole number: the first action of a chain is 0');
    const chainId = chainIdOf(companyId, given);
    const action = index === undefined ? '' : path`/actions/${Number(index)}`;
    const subject = index === undefined ? `Chain ${chainId}` : `Action ${index} of chain ${chainId}`;
    const look = `npx relay chains show ${companyId} ${chainId}`;
    const nextStep = ({ status, detail }: Problem) => {
      if (status === 409 || (status === 404 && detail.startsWith('There is no action'))) return `See how it stands: ${look}`;
      return status === 404 ? seeWhichThereAre(companyId) : undefined;
    };
    const target = `${path`/co/${companyId}/chains/${chainId}`}${action}/${verb}`;
    const asked = session.api.ask('POST', target, z.unknown(), { body, nextStep });
    await session.show(asked, () => [`${subject} ${what}.`, `See it: ${look}`]);
  }
};

/** What to do where there is no such chain. */
function seeWhichThereAre(companyId: string): string {
  return `See which there are: npx relay chains list ${companyId}`;
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
