/** `relay bulk`: one decision about many chains. The command counts and shows the chains, and asks before it changes the chains. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option, type OptionValues } from '@commander-js/extra-typings';
import type { z } from 'zod';
import type { BulkVerb } from '../../chain/allowed-verbs.js';
import { counted } from '../../chain/text.js';
import { progressSentences } from '../../contract/bulk-words.js';
import { bulkPreviewSchema, bulkSchema } from '../../contract/chain-resource.js';
import { path } from '../api.js';
import { chainColumns, stateCell } from '../chain-view.js';
import { type Commands, command, readCount, settingsOf, withFilter, yesOption } from '../options.js';
import { exitCodes, UsageError } from '../terminal.js';
import { type Line, line, momentText } from '../text.js';

/** For each verb of the API: the help text, and the options in the example. */
const verbs: Record<BulkVerb, [meaning: string, example: string]> = {
  retry: [
    'retry all actions that need attention (with --status failed: all failed actions)',
    '--reason PlatformError --since 2h',
  ],
  mend: [
    'edit one field of all actions that need attention (with --status failed: of all failed actions), then retry the actions',
    '--reason MailError --field emails --replace exampel.com=example.com',
  ],
  skip: ['skip all actions that need attention', '--rule 4711'],
  cancel: ['cancel all actions that have not ended; --assignment and --rule select actions', '--assignment 1001'],
  runNow: ['run all delayed actions now', '--assignment 1001'],
};

export const bulk: Commands = (relay, session) => {
  const bulk = relay.command('bulk').summary('make one decision about many chains');

  const statuses =
    'chains with this status: needs-attention or running; retry and mend also allow failed, which opens closed chains again';
  for (const [verb, [meaning, chosen]] of Object.entries(verbs)) {
    const name = verb === 'runNow' ? 'run-now' : verb;
    const added = command(bulk, `${name} [companyId]`, `acme ${chosen}`, meaning);
    withFilter(verb === 'mend' ? withCorrection(added) : added)
      .aliases(verb === name ? [] : [verb])
      .description(
        'Shows the number of chains and the first ten chains, then asks for confirmation. In a script, use --yes, or --confirm with ' +
          'the expected number of chains. The exit code is 4 if a chain did not answer, or an action was refused or failed again.',
      )
      .option('--status <status>', statuses, (status) => ({ status }))
      .option('--cause <causeId>', 'actions with this cause; `relay causes list` shows the causes', (causeId) => ({ causeId }))
      .option('--chain-ids <id,…>', 'only these chains of the company; repeatable', chainIdsOf)
      .option('--all-companies', 'chains of all companies, instead of one company')
      .option('--confirm <count>', 'do not ask for confirmation if exactly this number of chains matches', readCount('--confirm'))
      .addOption(yesOption)
      .action(async (companyId, options) => {
        if ((companyId === undefined) !== (options.allCompanies === true))
          throw new UsageError('Name the company, or use --all-companies');
        const { correction, ...filter } = settingsOf(options);
        const order = { verb, filter, correction };
        const count = options.confirm ?? (await askFirst(companyId, order, options.yes));
        if (count > 0) await steer(companyId, { ...order, confirm: count });
      });
  }

  const example = '0f5c1d7e-1b2c-4d3e-8f90-a1b2c3d4e5f6 acme';
  command(bulk, 'show <bulkId> [companyId]', example, 'show the progress of a bulk order')
    .description('If you use the key of a company, also give the companyId.')
    .action((bulkId, companyId) => session.show(look(bulkId, companyId), bulkLines));

  /** Shows the chains and asks for confirmation. @returns the number of chains. */
  async function askFirst(companyId: string | undefined, body: object, yes: boolean | undefined): Promise<number> {
    const answer = await session.api.ask('POST', baseOf(companyId), bulkPreviewSchema, { body });
    const { count, first, mends } = answer.body;
    await session.show(answer, () => {
      if (count === 0) return ['No chains match.'];
      const more = count > first.length ? [`and ${count - first.length} more`] : [];
      const becomes = { CHAIN: 'chainId', ACTION: 'index', BEFORE: 'before', AFTER: 'after', 'NOT EDITED': 'problem' } as const;
      const table = mends ? session.table(mends, becomes) : session.table(first, { COMPANY: 'companyId', ...chainColumns });
      return [`${counted(count, 'chain')}:`, ...table, ...more];
    });
    if (count > 0) await session.confirm(yes, `Continue with ${counted(count, 'chain')}?`);
    return count;
  }

  async function steer(companyId: string | undefined, body: object): Promise<void> {
    const nextStep = ({ status }: { status: number }) =>
      status === 409 ? 'Nothing was done. To count the chains again, leave out --confirm.' : undefined;
    let answer = await session.api.ask('POST', baseOf(companyId), bulkSchema, { body, nextStep });
    const { bulkId } = answer.body;
    const show = `npx relay bulk show ${bulkId}${companyId === undefined ? '' : ` ${companyId}`}`;
    session.note(`The order runs in the background, even if you stop this command. To see its progress: ${show}`);
    while (answer.body.status === 'running') {
      await sleep(500);
      answer = await look(bulkId, companyId);
    }
    await session.show(answer, bulkLines);
    // `failures` includes actions that were refused or failed again.
    if (answer.body.status !== 'completed' || answer.body.progress?.failures.length) session.exitCode = exitCodes.trouble;
  }

  function look(bulkId: string, companyId: string | undefined) {
    return session.api.ask('GET', `${baseOf(companyId)}${path`/${bulkId}`}`, bulkSchema);
  }
};

function chainIdsOf(text: string, before: { chainIds: string[] } = { chainIds: [] }) {
  return { chainIds: [...before.chainIds, ...text.split(',').filter(Boolean)] };
}

function withCorrection<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  const byDefault = 'after --replace and --trim: the new value if the field is missing or blank, or contains a variable';
  const all = 'edit the other open actions with this assignment, and texts that contain the id';
  const corrects = (correction: object) => ({ correction });
  return command
    .option('--field <field>', 'the field to edit, by its name in the request', (field) => corrects({ field }))
    .option('--replace <from=to>', 'replace every occurrence of the text `from` in the field', (text) => {
      const [, from, to] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
      if (from === undefined) throw new UsageError('--replace must be from=to');
      return corrects({ replace: { from, to } });
    })
    .addOption(new Option('--trim', 'after --replace, remove white space at both ends').preset(corrects({ trim: true })))
    .addOption(new Option('--texts', `with --field platformAssignmentId: also ${all}`).preset(corrects({ texts: true })))
    .option('--default <value>', byDefault, (value) => corrects({ default: value }));
}

function bulkLines({ verb, count, status, progress, by, startedAt }: z.infer<typeof bulkSchema>): Line[] {
  const head = line`${verb} in ${counted(count, 'chain')}, by ${by}, ${momentText(startedAt)}: ${stateCell(status)}`;
  if (!progress) return [head, 'No worker answers at the moment: the progress is not known.'];
  return [
    head,
    ...progressSentences({ count, verb, progress }, 'action'),
    ...progress.failures.map(({ workflowId, error }) => `  ${workflowId}: ${error}`),
  ];
}

const baseOf = (companyId: string | undefined) => (companyId === undefined ? '/chains/bulk' : path`/co/${companyId}/chains/bulk`);
