/** `relay chains`, `retry`, `chains mend`, `skip`, `run-now`, `reschedule`, `cancel`: how chains stand, and what a person decides about one. */

import { z } from 'zod';
import { chainStatuses } from '../../chain/outcome.js';
import { type ChainResource, chainListSchema } from '../../contract/chain-resource.js';
import { path } from '../api.js';
import { askChain, chainColumns, chainLines, exitCodeOf, followChain, whereToLook } from '../chain-view.js';
import { type Commands, changesOf, command, settingsOf, withChanges, withFilter, withParts } from '../options.js';
import { UsageError } from '../terminal.js';
import { fields, readDuration } from '../text.js';

const exampleId = '0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f';

export const chains: Commands = (relay, session) => {
  const chains = relay.command('chains').summary('which chains there are, and how one stands');

  const order = 'list the chains of a company or of all, open ones first, the newest first';
  withParts(withFilter(command(chains, 'list [companyId]', 'acme --status needs-attention', order)))
    .option('--status <status>', `one of ${chainStatuses.join(', ')}`, (status) => ({ status }))
    .option('--paused', 'with an action that waits for the end of a pause')
    .action((companyId, options) =>
      session.list(options, {
        path: companyId === undefined ? '/chains' : path`/co/${companyId}/chains`,
        query: { ...settingsOf(options), paused: options.paused },
        field: 'items',
        schema: chainListSchema,
        columns: companyId === undefined ? { COMPANY: 'companyId', ...chainColumns } : chainColumns,
        none: 'There is no such chain.',
      }),
    );

  command(chains, 'show <companyId> <chainId>', `acme ${exampleId} --watch`, 'show how a chain stands, action by action')
    .description('Exit code 4 where it failed, needs attention, or was cancelled or terminated.')
    .option('--watch', 'tell of every change until the chain has ended')
    .action(async (companyId, given, { watch }) => {
      const chainId = chainIdOf(companyId, given);
      const ended = ({ status }: ChainResource) => status !== 'running' && status !== 'needs-attention';
      const answer = await (watch ? followChain(session, companyId, chainId, ended) : askChain(session, companyId, chainId));
      session.exitCode = exitCodeOf(answer.body.status);
      if (watch) session.print(['']);
      await session.show(answer, (chain) => chainLines(session, companyId, chain));
    });

  const retry = 'try an action again that needs attention, has failed, or reached only some recipients';
  command(relay, 'retry <companyId> <chainId> <index>', `acme ${exampleId} 1`, retry)
    .description('A chain that has closed is opened again; what was not run because of the action follows it.')
    .action(decide('retry', 'will be tried again'));

  const show = 'show the fields of an action, as they can be mended';
  command(chains, 'fields <companyId> <chainId> <index>', `acme ${exampleId} 1`, show).action((companyId, given, index) => {
    const chainId = chainIdOf(companyId, given);
    const target = path`/co/${companyId}/chains/${chainId}/actions/${indexOf(index)}/fields`;
    const nextStep = whereToLook(companyId, chainId);
    return session.show(session.api.ask('GET', target, fieldsSchema, { nextStep }), ({ fields: now, sent }) => [
      ...fields(now),
      ...(sent ? ['', 'As they had been sent:', ...fields(sent, '  ')] : []),
    ]);
  });

  const mend = 'change fields of an action that needs attention or has failed, and try it again';
  withChanges(
    command(chains, 'mend <companyId> <chainId> <index>', `acme ${exampleId} 1 --set externalSystemTicketId=T-42`, mend),
  )
    .description('A chain that has closed is opened again. `relay chains fields` shows the fields.')
    .option('--confirm-unknown', 'also where nobody knows whether the last try took effect')
    .action((companyId, chainId, index, { confirmUnknown, ...changes }) => {
      const body = { fields: changesOf(changes), confirmUnknown };
      if (Object.keys(body.fields).length === 0) throw new UsageError('Say what is to be changed: --set field=value');
      return decide('mend', 'is mended and will be tried again', body)(companyId, chainId, index);
    });

  const skip = 'go on without an action that needs attention';
  command(relay, 'skip <companyId> <chainId> <index>', `acme ${exampleId} 1`, skip).action(decide('skip', 'will be skipped'));

  command(relay, 'run-now <companyId> <chainId> <index>', `acme ${exampleId} 2`, 'run a delayed action now')
    .alias('runNow') // As the API spells it.
    .action(decide('runNow', 'will run now'));

  const reschedule = 'run a delayed action at another time, counted from now';
  command(relay, 'reschedule <companyId> <chainId> <index> <time>', `acme ${exampleId} 2 10m`, reschedule)
    .description('The time is in seconds, or such as 10m, 1h30m, 2d.')
    .action((companyId, chainId, index, time) => {
      const seconds = readDuration(time);
      if (seconds === undefined) throw new UsageError('The time must be in seconds, or such as 10m, 1h30m, 2d');
      const what = `will run in ${time}${/^\d+$/.test(time) ? ' seconds' : ''}`;
      return decide('reschedule', what, { seconds })(companyId, chainId, index);
    });

  const cancel = 'cancel an action that has not ended, or without an index the whole chain';
  command(relay, 'cancel <companyId> <chainId> [index]', `acme ${exampleId} 2`, cancel)
    .description('An effect that is under way ends first. What has run stays done.')
    .action(decide('cancel', 'will be cancelled'));

  /** Without an index it is about the whole chain. @param what - becomes of it. */
  function decide(verb: string, what: string, body?: object) {
    return (companyId: string, given: string, index?: string) => {
      const chainId = chainIdOf(companyId, given);
      const action = index === undefined ? '' : `/actions/${indexOf(index)}`;
      const subject = index === undefined ? `Chain ${chainId}` : `Action ${index} of chain ${chainId}`;
      const nextStep = whereToLook(companyId, chainId);
      const target = `${path`/co/${companyId}/chains/${chainId}`}${action}/${verb}`;
      const asked = session.api.ask('POST', target, z.unknown(), { body, nextStep });
      return session.show(asked, () => [`${subject} ${what}.`, `See it: npx relay chains show ${companyId} ${chainId}`]);
    };
  }
};

const fieldsSchema = z.object({
  fields: z.record(z.string(), z.unknown()),
  sent: z.record(z.string(), z.unknown()).optional(),
});

/** @throws UsageError */
function indexOf(given: string): number {
  if (/^\d{1,4}$/.test(given)) return Number(given);
  throw new UsageError('The index must be a whole number: the first action of a chain is 0');
}

/**
 * `ID`, also where a workflow is named as Temporal and the notices do: `relay:acme:ID`, or `relay:acme:ID:2` of a delayed action.
 */
export function chainIdOf(companyId: string, given: string): string {
  const [, company, chainId] = /^relay:([^:]*):([^:]+)(:\d+)?$/.exec(given) ?? [];
  return chainId !== undefined && company === companyId ? chainId : given;
}
