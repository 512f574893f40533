/** `relay chains`, `retry`, `chains mend`, `skip`, `run-now`, `reschedule`, `cancel`: one chain and decisions about the chain. */

import { z } from 'zod';
import { chainStatuses } from '../../chain/outcome.js';
import { actionsText } from '../../chain/text.js';
import { type ChainResource, chainListSchema } from '../../contract/chain-resource.js';
import { path } from '../api.js';
import { askChain, chainColumns, chainLines, exitCodeOf, followChain, whereToLook } from '../chain-view.js';
import { type Commands, changesOf, command, type Settings, settingsOf, withChanges, withFilter, withParts } from '../options.js';
import { isYes, UsageError } from '../terminal.js';
import { fields, readDuration } from '../text.js';

const exampleId = '0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f';

export const chains: Commands = (relay, session) => {
  const chains = relay.command('chains').summary('list and show chains');
  const order = 'list the chains of a company or of all companies: open before closed, new before old';
  withParts(withFilter(command(chains, 'list [companyId]', 'acme --status needs-attention', order)))
    .option('--status <status>', `chains with this status: ${chainStatuses.join(', ')}`, (status) => ({ status }))
    .option('--paused', 'chains with an action that waits for the end of a pause')
    .action((companyId, options) => {
      const query: Settings = { ...settingsOf(options), paused: options.paused };
      const held = 'Chains that need attention have the status needs-attention.';
      return session.list(options, {
        path: companyId === undefined ? '/chains' : path`/co/${companyId}/chains`,
        query,
        field: 'items',
        schema: chainListSchema,
        columns: companyId === undefined ? { COMPANY: 'companyId', ...chainColumns } : chainColumns,
        none: query.status === 'failed' ? `No chains match. ${held}` : 'No chains match.',
      });
    });

  command(chains, 'show <companyId> <chainId>', `acme ${exampleId} --watch`, 'show the state of a chain and its actions')
    .description('The exit code is 4 if the chain failed, needs attention, was cancelled or terminated, or is lost.')
    .option('--watch', 'show every change until the chain ends')
    .action(async (companyId, given, { watch }) => {
      const chainId = chainIdOf(companyId, given);
      const ended = ({ status }: ChainResource) => status !== 'running' && status !== 'needs-attention';
      const answer = await (watch ? followChain(session, companyId, chainId, ended) : askChain(session, companyId, chainId));
      session.exitCode = exitCodeOf(answer.body.status);
      if (watch) session.print(['']);
      await session.show(answer, (chain) => chainLines(session, companyId, chain));
    });

  const retry = 'retry an action that needs attention, failed, or reached only some recipients';
  command(relay, 'retry <companyId> <chainId> <index>', `acme ${exampleId} 1`, retry)
    .description('A failed or completed chain opens again. After the retry, the actions that waited for this action also run.')
    .action(decide('retry', 'will be retried'));

  const fieldsOf = (companyId: string, given: string, index: string) => {
    const chainId = chainIdOf(companyId, given);
    const target = path`/co/${companyId}/chains/${chainId}/actions/${indexOf(index)}/fields`;
    return session.api.ask('GET', target, fieldsSchema, { nextStep: whereToLook(companyId, chainId) });
  };
  const askForAll = async (companyId: string, chainId: string, index: string) => {
    const { sameAssignment } = (await fieldsOf(companyId, chainId, index)).body;
    if (sameAssignment.length === 0) return undefined;
    const reply = await session.terminal.ask(`Also change the assignment of ${actionsText(sameAssignment)}? y/N `);
    return isYes(reply) || undefined;
  };

  const show = 'show the fields of an action';
  command(chains, 'fields <companyId> <chainId> <index>', `acme ${exampleId} 1`, show).action((companyId, chainId, index) =>
    session.show(fieldsOf(companyId, chainId, index), ({ fields: now, sent, sameAssignment }) => [
      ...fields(now),
      ...(sent ? ['', 'The fields as they were sent:', ...fields(sent, '  ')] : []),
      ...(sameAssignment.length > 0
        ? ['', `The same assignment is in ${actionsText(sameAssignment)}: \`--all-actions\` edits these actions, too.`]
        : []),
    ]),
  );

  const mend = 'edit fields of an action that needs attention or failed, and retry the action';
  const example = `acme ${exampleId} 1 --set externalSystemTicketId=T-42`;
  withChanges(command(chains, 'mend <companyId> <chainId> <index>', example, mend))
    .description('A failed or completed chain opens again. `relay chains fields` shows the fields.')
    .option('--confirm-unknown', 'retry even if the outcome of the last attempt is unknown')
    .option('--all-actions', 'also change platformAssignmentId in all other open actions of this assignment')
    .option('--texts', 'like --all-actions, and also change the number in the texts of these actions')
    .action(async (companyId, chainId, index, { confirmUnknown, allActions, texts, ...changes }) => {
      const edited = changesOf(changes);
      const names = Object.keys(edited);
      if (names.length === 0) throw new UsageError('Say what to change: --set field=value');
      const asksForAll = names.join() === 'platformAssignmentId' && !allActions && !texts && session.terminal.interactive;
      const all = asksForAll ? await askForAll(companyId, chainId, index) : allActions;
      const body = { fields: edited, confirmUnknown, allActions: all, texts };
      return decide('mend', 'is edited, and runs with the new fields', body)(companyId, chainId, index);
    });

  const skip = 'skip an action that needs attention, and continue the chain';
  command(relay, 'skip <companyId> <chainId> <index>', `acme ${exampleId} 1`, skip).action(decide('skip', 'will be skipped'));

  command(relay, 'run-now <companyId> <chainId> <index>', `acme ${exampleId} 2`, 'run a delayed action now')
    .alias('runNow') // The API calls the verb `runNow`.
    .action(decide('runNow', 'will run now'));

  const reschedule = 'move a delayed action to another time, counted from now';
  command(relay, 'reschedule <companyId> <chainId> <index> <time>', `acme ${exampleId} 2 10m`, reschedule)
    .description('The time is a number of seconds, or a duration such as 10m, 1h30m, 2d.')
    .action((companyId, chainId, index, time) => {
      const seconds = readDuration(time);
      if (seconds === undefined)
        throw new UsageError('The time must be a number of seconds, or a duration such as 10m, 1h30m, 2d');
      const what = `will run in ${time}${/^\d+$/.test(time) ? ' seconds' : ''}`;
      return decide('reschedule', what, { seconds })(companyId, chainId, index);
    });

  const cancel = 'cancel an action that has not ended; without an index, cancel the whole chain';
  command(relay, 'cancel <companyId> <chainId> [index]', `acme ${exampleId} 2`, cancel)
    .description('A running action is not interrupted, and keeps its outcome. Completed actions stay completed.')
    .action(decide('cancel', 'will be cancelled'));

  /** Without an index, decides about the whole chain. @param what - the end of the sentence that the command prints. */
  function decide(verb: string, what: string, body?: object) {
    return (companyId: string, given: string, index?: string) => {
      const chainId = chainIdOf(companyId, given);
      const action = index === undefined ? '' : `/actions/${indexOf(index)}`;
      const subject = index === undefined ? `Chain ${chainId}` : `Action ${index} of chain ${chainId}`;
      const nextStep = whereToLook(companyId, chainId);
      const target = `${path`/co/${companyId}/chains/${chainId}`}${action}/${verb}`;
      const asked = session.api.ask('POST', target, steeredSchema, { body, nextStep });
      return session.show(asked, (answer) => [
        `${subject} ${what}.`,
        ...(answer?.sameAssignment ? [`The assignment of ${actionsText(answer.sameAssignment)} is unchanged.`] : []),
        `Show the chain: npx relay chains show ${companyId} ${chainId}`,
      ]);
    };
  }
};

const steeredSchema = z.object({ sameAssignment: z.array(z.int()).optional() }).optional();
const fieldsSchema = z.object({
  sameAssignment: z.array(z.int()).default([]),
  fields: z.record(z.string(), z.unknown()),
  sent: z.record(z.string(), z.unknown()).optional(),
});

function indexOf(given: string): number {
  if (/^\d{1,4}$/.test(given)) return Number(given);
  throw new UsageError('The index must be a whole number: the first action of a chain is 0');
}

/** @param given - the chain's id, its workflow id `relay:acme:ID`, or the workflow id of its delayed actions `relay:acme:ID:2`. */
export function chainIdOf(companyId: string, given: string): string {
  const [, company, chainId] = /^relay:([^:]*):([^:]+)(:\d+)?$/.exec(given) ?? [];
  return chainId !== undefined && company === companyId ? chainId : given;
}
