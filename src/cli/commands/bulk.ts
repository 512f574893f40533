/** `relay bulk`: what a person decides about many chains at once. Counted and shown first, done once that is confirmed. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option, type OptionValues } from '@commander-js/extra-typings';
import type { z } from 'zod';
import type { BulkVerb } from '../../chain/outcome.js';
import { bulkPreviewSchema, bulkSchema } from '../../contract/chain-resource.js';
import { path } from '../api.js';
import { chainColumns, stateCell } from '../chain-view.js';
import { type Commands, command, readCount, settingsOf, withFilter, yesOption } from '../options.js';
import { exitCodes, UsageError } from '../terminal.js';
import { type Line, line, momentText } from '../text.js';

/** By the API's verb: what it does, and which chains an example is about. */
const verbs: Record<BulkVerb, [meaning: string, example: string]> = {
  retry: ['try again what needs attention, or with --status failed what has failed', '--reason PlatformError --since 2h'],
  mend: [
    'correct the same field of what needs attention, or with --status failed of what has failed, and try it again',
    '--reason MailError --field emails --replace exampel.com=example.com',
  ],
  skip: ['go on without what needs attention', '--rule 4711'],
  cancel: ['cancel what has not ended: only the actions of an assignment or rule that is named', '--assignment 1001'],
  runNow: ['run delayed actions now', '--assignment 1001'],
};

export const bulk: Commands = (relay, session) => {
  const bulk = relay.command('bulk').summary('what a person decides about many chains at once');

  for (const [verb, [meaning, chosen]] of Object.entries(verbs)) {
    const name = verb === 'runNow' ? 'run-now' : verb;
    const added = command(bulk, `${name} [companyId]`, `acme ${chosen}`, `${meaning}, in many chains at once`);
    withFilter(verb === 'mend' ? withCorrection(added) : added)
      .aliases(verb === name ? [] : [verb])
      .description(
        'Shows how many chains it concerns and the first ten, then asks. A script says --yes, or --confirm with the count ' +
          'that it expects. Exit code 4 where chains did not answer.',
      )
      .option('--status <status>', 'needs-attention, running; for retry and mend also failed: opened again', (status) => ({
        status,
      }))
      .option('--cause <causeId>', 'held for this cause: see relay causes list', (causeId) => ({ causeId }))
      .option('--all-companies', 'instead of a company: in all of them')
      .option('--confirm <count>', 'do it if it concerns so many chains, without asking', readCount('--confirm'))
      .addOption(yesOption)
      .action(async (companyId, options) => {
        if ((companyId === undefined) !== (options.allCompanies === true))
          throw new UsageError('Name the company, or say --all-companies');
        const { correction, ...filter } = settingsOf(options);
        const order = { verb, filter, correction };
        const count = options.confirm ?? (await askFirst(companyId, order, options.yes));
        if (count > 0) await steer(companyId, { ...order, confirm: count });
      });
  }

  const example = '0f5c1d7e-1b2c-4d3e-8f90-a1b2c3d4e5f6 acme';
  command(bulk, 'show <bulkId> [companyId]', example, 'show how far the steering of many chains is')
    .description("A company's key needs the company.")
    .action((bulkId, companyId) => session.show(look(bulkId, companyId), bulkLines));

  /** Shows what it concerns. @returns how many chains, once that is confirmed. */
  async function askFirst(companyId: string | undefined, body: object, yes: boolean | undefined): Promise<number> {
    const answer = await session.api.ask('POST', baseOf(companyId), bulkPreviewSchema, { body });
    const { count, first, mends } = answer.body;
    await session.show(answer, () => {
      if (count === 0) return ['There is no such chain.'];
      const more = count > first.length ? [`and ${count - first.length} more`] : [];
      const becomes = { CHAIN: 'chainId', ACTION: 'index', BEFORE: 'before', AFTER: 'after', 'LEFT ALONE': 'problem' } as const;
      const table = mends ? session.table(mends, becomes) : session.table(first, { COMPANY: 'companyId', ...chainColumns });
      return [`${chains(count)}:`, ...table, ...more];
    });
    if (count > 0) await session.confirm(yes, `Do it in ${chains(count)}?`);
    return count;
  }

  /** Orders it, and waits until it is done. */
  async function steer(companyId: string | undefined, body: object): Promise<void> {
    const nextStep = ({ status }: { status: number }) =>
      status === 409 ? 'Nothing was done. Look again: without --confirm it is only counted.' : undefined;
    let answer = await session.api.ask('POST', baseOf(companyId), bulkSchema, { body, nextStep });
    const { bulkId } = answer.body;
    const show = `npx relay bulk show ${bulkId}${companyId === undefined ? '' : ` ${companyId}`}`;
    session.note(`It is being done, whatever becomes of this command: ${show}`);
    while (answer.body.status === 'running') {
      await sleep(500);
      answer = await look(bulkId, companyId);
    }
    await session.show(answer, bulkLines);
    if (answer.body.status !== 'completed' || answer.body.progress?.failed) session.exitCode = exitCodes.trouble;
  }

  function look(bulkId: string, companyId: string | undefined) {
    return session.api.ask('GET', `${baseOf(companyId)}${path`/${bulkId}`}`, bulkSchema);
  }
};

/** What is done to a field: options are read as the API's. */
function withCorrection<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  const corrects = (correction: object) => ({ correction });
  return command
    .option('--field <field>', 'that is corrected: its name in the request', (field) => corrects({ field }))
    .option('--replace <from=to>', 'every occurrence', (text) => {
      const [, from, to] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
      if (from === undefined) throw new UsageError('--replace must be from=to');
      return corrects({ replace: { from, to } });
    })
    .addOption(new Option('--trim', 'then take white space at both ends away').preset(corrects({ trim: true })))
    .option('--default <value>', 'then fill in what is blank, missing or not substituted', (value) =>
      corrects({ default: value }),
    );
}

function bulkLines({ verb, count, status, progress, by, startedAt }: z.infer<typeof bulkSchema>): Line[] {
  const head = line`${verb} in ${chains(count)}, by ${by}, ${momentText(startedAt)}: ${stateCell(status)}`;
  if (!progress) return [head, 'No worker answers at the moment: how far it is, is not known.'];
  const { done, actions, steered, unchanged, failed, failures } = progress;
  const steeredActions = actions === 1 ? '1 action' : `${actions} actions`;
  return [
    head,
    ...(status === 'running' ? [`${done} of ${count} so far.`] : []),
    `${steeredActions} in ${chains(steered)} steered; in ${chains(unchanged)} there was nothing to do any more.`,
    ...(failed > 0 ? [`${chains(failed)} did not answer:`] : []),
    ...failures.map(({ workflowId, error }) => `  ${workflowId}: ${error}`),
  ];
}

function baseOf(companyId: string | undefined): string {
  return companyId === undefined ? '/chains/bulk' : path`/co/${companyId}/chains/bulk`;
}

function chains(count: number): string {
  return count === 1 ? '1 chain' : `${count} chains`;
}
