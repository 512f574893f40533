/** `relay rejected`: refused requests that the relay keeps. */

import { isObject } from '../../chain/fields.js';
import { acceptedSchema } from '../../contract/chain-resource.js';
import type { KeptBody, ProposedAction } from '../../contract/problem.js';
import { needsConfirmation, rejectedListSchema, wholeRejectedSchema } from '../../contract/problem.js';
import { notApplicableSchema } from '../../contract/rule-event.js';
import { parseJson, path, Refused } from '../api.js';
import { showAccepted } from '../chain-view.js';
import { problemLines } from '../explain.js';
import type { Commands, Settings } from '../options.js';
import { changesOf, command, readInput, waitOption, withChanges, withParts, yesOption } from '../options.js';
import { UsageError } from '../terminal.js';
import { fields } from '../text.js';

export const rejected: Commands = (relay, session) => {
  const rejected = relay.command('rejected').summary('refused requests that the relay keeps');

  withParts(command(rejected, 'list <companyId>', 'acme', 'list the refused requests of a company, the newest first')).action(
    (companyId, options) =>
      session.list(options, {
        path: path`/co/${companyId}/rejected`,
        field: 'items',
        schema: rejectedListSchema,
        columns: {
          REQUEST: 'rejectedId',
          RECEIVED: 'receivedAt',
          REASON: 'reason',
          RULES: 'relayIds',
          REPEATS: ({ repeats = 0 }) => (repeats > 0 ? String(repeats) : ''),
          'CHAIN ID': ({ chainId, droppedAt }) => chainId ?? (droppedAt === undefined ? '' : 'dropped'),
          PROBLEM: ({ problem }) => problem.detail || problem.title,
        },
        none: `Company ${companyId} has no refused requests.`,
      }),
  );

  command(rejected, 'show <companyId> <rejectedId>', 'acme Xk2vQ9sLm4Tz', 'show the mistakes of a request, and its actions')
    .description('The relay does not store the tokens of the request.')
    .action((companyId, rejectedId) => {
      const asked = session.api.ask('GET', path`/co/${companyId}/rejected/${rejectedId}`, wholeRejectedSchema);
      const doubt = 'Somebody else may have written these actions. Check every action before you send them.';
      const resend = `npx relay rejected resend ${companyId} ${rejectedId}`;
      return session.show(asked, ({ problem, elements, body, proposal, ...rest }) => [
        ...fields(rest),
        '',
        ...problemLines(problem),
        '',
        ...(body ? [...bodyLines(body), ...proposalLines(proposal)] : JSON.stringify(elements, null, 2).split('\n')),
        '',
        ...(needsConfirmation(rest) ? [doubt] : []),
        ...(body?.isEvent ? [`To run the event through the published version of its rule: ${resend}`] : []),
        ...(body && proposal ? [`To send the proposal: ${resend} --proposed`] : []),
        ...(body ? [`To drop the request: npx relay rejected drop ${companyId} ${rejectedId}`] : []),
        ...(body || needsConfirmation(rest) ? [] : [`When the problem is fixed: ${resend}`]),
      ]);
    });

  const example = 'acme Xk2vQ9sLm4Tz --set 1.delayInSeconds=60';
  const resend = 'send a refused request again, when the problem is fixed';
  withChanges(command(rejected, 'resend <companyId> <rejectedId>', example, resend), 'index.')
    .description(
      '--set and --unset edit the request first: 1.subject is the subject of the second action. The delays start now. If ' +
        'the request came with a revoked or rotated token, or without a valid signature, the command shows the actions and asks ' +
        'first. In a script, use --yes.',
    )
    .option('--proposed', 'for a body that could not be read: send the proposed actions')
    .option('--event <file>', 'for an event: send the corrected event in this JSON file; - is standard input')
    .option('--leave-out <indexes>', 'do not send the proposed actions with these indexes: 1,2')
    .addOption(waitOption)
    .addOption(yesOption)
    .action(async (companyId, rejectedId, { wait, yes = false, proposed, leaveOut, event: file, ...changes }) => {
      const mended = byAction(changesOf(changes));
      const actions = Object.keys(mended).length > 0 ? mended : undefined;
      const target = path`/co/${companyId}/rejected/${rejectedId}/resend`;
      const event = file === undefined ? undefined : parseJson(await readInput(session.terminal, file));
      if (file !== undefined && !isObject(event)) throw new UsageError(`${file} must be a JSON object`);
      const resend = (confirm: boolean) =>
        session.api.ask('POST', target, resentSchema, {
          body: { confirm, actions, proposed, leaveOut: leaveOut === undefined ? undefined : placesIn(leaveOut), event },
        });
      const answer = await resend(yes).catch(async (error: unknown) => {
        if (!(error instanceof Refused && error.problem.type === '/problems/not-confirmed')) throw error;
        session.note('Somebody else may have written these actions:');
        for (const { detail } of error.problem.errors ?? []) session.note(detail);
        await session.confirm(yes, 'Send all these actions?');
        return resend(true);
      });
      const { body } = answer;
      if ('chainId' in body) return showAccepted(session, companyId, Promise.resolve({ ...answer, body }), wait);
      return session.show(Promise.resolve(answer), () => [`Nothing ran: the rule does not apply to the event. ${body.reason}`]);
    });

  command(rejected, 'drop <companyId> <rejectedId>', 'acme Xk2vQ9sLm4Tz', 'drop a refused request: it will not run').action(
    async (companyId, rejectedId) => {
      await session.api.ask('POST', path`/co/${companyId}/rejected/${rejectedId}/drop`, wholeRejectedSchema.optional());
      session.print([`Request ${rejectedId} is dropped and will not run.`]);
    },
  );
};

const resentSchema = acceptedSchema.or(notApplicableSchema);

/** Shows the line with a mark under the mistake, then the whole body. If the place of the mistake is unknown, shows only the body. */
function bodyLines({ text, bytes, cut, place }: KeptBody): string[] {
  const size = `${bytes} bytes${cut ? ', cut off here' : ''}`;
  if (!place) return [`Body (${size}):`, ...text.split('\n')];
  const lines = text.split('\n');
  const line = lines[place.line - 1] ?? '';
  const from = Math.max(0, place.column - 1 - 60);
  const shown = line.slice(from, place.column - 1 + 60).replaceAll(/[\s\p{Cc}]/gu, ' ');
  return [
    `Body (${size}), line ${place.line}:`,
    `${from > 0 ? '…' : ' '}${shown}${line.length > place.column - 1 + 60 ? '…' : ''}`,
    `${' '.repeat(place.column - from)}^`,
    '',
    'The whole body:',
    ...lines,
  ];
}

function proposalLines(proposal: readonly ProposedAction[] = []): string[] {
  if (proposal.length === 0) return [];
  return [
    '',
    'Proposed actions:',
    ...proposal.flatMap(({ element, authenticated }, index) => [
      `${index}${authenticated ? '' : ' (not authenticated: the action has no valid token of its rule)'}`,
      ...JSON.stringify(element, null, 2).split('\n'),
    ]),
  ];
}

function placesIn(text: string): number[] {
  if (!/^\d{1,3}(,\d{1,3})*$/.test(text)) throw new UsageError('--leave-out must be the indexes of actions, such as 1,2');
  return text.split(',').map(Number);
}

/** Changes `{"1.subject": "x"}` to `{"1": {"subject": "x"}}`. @throws UsageError */
function byAction(changes: Settings): Record<string, Settings> {
  const actions: Record<string, Settings> = {};
  for (const [name, value] of Object.entries(changes)) {
    const [, index, field] = /^(\d{1,3})\.(.+)$/s.exec(name) ?? [];
    if (index === undefined || field === undefined)
      throw new UsageError('Name the action and its field: 1.subject is the subject of the second action');
    actions[index] = { ...actions[index], [field]: value };
  }
  return actions;
}
