/** `relay rejected`: requests that were refused although their sender is known. */

import { acceptedSchema } from '../../contract/chain-resource.js';
import { needsConfirmation, rejectedListSchema, wholeRejectedSchema } from '../../contract/problem.js';
import { path, Refused } from '../api.js';
import { showAccepted } from '../chain-view.js';
import { problemLines } from '../explain.js';
import { type Commands, changesOf, command, type Settings, waitOption, withChanges, withParts, yesOption } from '../options.js';
import { UsageError } from '../terminal.js';
import { fields } from '../text.js';

export const rejected: Commands = (relay, session) => {
  const rejected = relay.command('rejected').summary('requests that were refused although their sender is known');

  withParts(command(rejected, 'list <companyId>', 'acme', 'list the rejected requests of a company, the newest first')).action(
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
          'CHAIN ID': 'chainId',
          PROBLEM: ({ problem }) => problem.detail || problem.title,
        },
        none: `Company ${companyId} has no rejected requests.`,
      }),
  );

  command(rejected, 'show <companyId> <rejectedId>', 'acme Xk2vQ9sLm4Tz', 'show one of them: what was wrong, and its actions')
    .description('Tokens are not kept.')
    .action((companyId, rejectedId) => {
      const asked = session.api.ask('GET', path`/co/${companyId}/rejected/${rejectedId}`, wholeRejectedSchema);
      return session.show(asked, ({ problem, elements, ...rest }) => [
        ...fields(rest),
        '',
        ...problemLines(problem),
        '',
        ...JSON.stringify(elements, null, 2).split('\n'),
        '',
        needsConfirmation(rest)
          ? 'Somebody else may have written these actions. Send them again only if every one of them is meant.'
          : `Once that is put right: npx relay rejected resend ${companyId} ${rejectedId}`,
      ]);
    });

  const example = 'acme Xk2vQ9sLm4Tz --set 1.delayInSeconds=60';
  const resend = command(
    rejected,
    'resend <companyId> <rejectedId>',
    example,
    'send one again, once what was wrong is put right',
  );
  withChanges(resend, 'index.')
    .description(
      'With --set and --unset it is mended first: 1.subject is the subject of its second action. Delays count from now. What came with a revoked or rotated token, or without the signature, is shown first: it asks whether every ' +
        'action is meant. A script says --yes.',
    )
    .addOption(waitOption)
    .addOption(yesOption)
    .action(async (companyId, rejectedId, { wait, yes = false, ...changes }) => {
      const mended = byAction(changesOf(changes));
      const actions = Object.keys(mended).length > 0 ? mended : undefined;
      const target = path`/co/${companyId}/rejected/${rejectedId}/resend`;
      const resend = (confirm: boolean) => session.api.ask('POST', target, acceptedSchema, { body: { confirm, actions } });
      const answer = resend(yes).catch(async (error: unknown) => {
        if (!(error instanceof Refused && error.problem.type === '/problems/not-confirmed')) throw error;
        session.note('Somebody else may have written these actions:');
        for (const { detail } of error.problem.errors ?? []) session.note(detail);
        await session.confirm(yes, 'Is every one of them meant?');
        return resend(true);
      });
      return showAccepted(session, companyId, answer, wait);
    });
};

/** `{"1.subject": "x"}` → `{"1": {"subject": "x"}}`. @throws UsageError */
function byAction(changes: Settings): Record<string, Settings> {
  const actions: Record<string, Settings> = {};
  for (const [name, value] of Object.entries(changes)) {
    const [, index, field] = /^(\d{1,3})\.(.+)$/s.exec(name) ?? [];
    if (index === undefined || field === undefined)
      throw new UsageError('Name the action and its field: 1.subject, of the second');
    actions[index] = { ...actions[index], [field]: value };
  }
  return actions;
}
