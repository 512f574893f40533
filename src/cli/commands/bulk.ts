/** `relay bulk`: what a person decides about many chains at once. Counted and shown first, done once that is confirmed. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import type { BulkVerb } from '../../chain/outcome.js';
import { bulkPreviewSchema, bulkSchema } from '../../contract/chain-resource.js';
import { path } from '../api.js';
import { stateCell } from '../chain-lines.js';
import { type Commands, example, readCount, settingsOf, withFilter, yesOption } from '../options.js';
import { exitCodes, UsageError } from '../terminal.js';
import { type Line, line } from '../text.js';
import { momentText } from '../time.js';

/** By the name of the command: the API's verb, what it does, and which chains an example is about. */
const verbs: readonly [name: string, verb: BulkVerb, meaning: string, example: string][] = [
  [
    'retry',
    'retry',
    'try again what needs attention, or with --status failed what has failed',
    '--reason PlatformError --since 2h',
  ],
  ['skip', 'skip', 'go on without what needs attention', '--rule 4711'],
  ['cancel', 'cancel', 'cancel what has not ended: only the actions of an assignment or rule that is named', '--assignment 1001'],
  ['run-now', 'runNow', 'run delayed actions now', '--assignment 1001'],
];

const statuses = 'needs-attention, running; for retry also failed: the chains are opened again';

export const bulk: Commands = (relay, session) => {
  const bulk = relay.command('bulk').summary('what a person decides about many chains at once');

  for (const [name, verb, meaning, chosen] of verbs)
    withFilter(bulk.command(`${name} [companyId]`))
      .aliases(verb === name ? [] : [verb])
      .summary(`${meaning}, in many chains at once`)
      .description(
        'Shows how many chains it concerns and the first ten, then asks. A script says --yes, or --confirm with the count ' +
          'that it expects. Exit code 4 where chains did not answer.',
      )
      .option('--status <status>', statuses, (status) => ({ status }))
      .option('--all-companies', 'instead of a company: in all of them')
      .option('--confirm <count>', 'do it if it concerns so many chains, without asking', (text) =>
        readCount(text, '--confirm must be the number of chains'),
      )
      .addOption(yesOption)
      .addHelpText(...example(`relay bulk ${name} acme ${chosen}`))
      .action(async (companyId, { yes, confirm, allCompanies, ...filter }) => {
        if ((companyId === undefined) !== (allCompanies === true))
          throw new UsageError('Name the company, or say --all-companies');
        const order = { verb, filter: settingsOf(filter) };
        const count = confirm ?? (await askFirst(companyId, order, yes));
        if (count > 0) await steer(companyId, { ...order, confirm: count });
      });

  bulk
    .command('show <bulkId> [companyId]')
    .summary('show how far the steering of many chains is')
    .description("A company's key needs the company.")
    .addHelpText(...example('relay bulk show 0f5c1d7e-1b2c-4d3e-8f90-a1b2c3d4e5f6 acme'))
    .action((bulkId, companyId) =>
      session.show(session.api.ask('GET', `${baseOf(companyId)}${path`/${bulkId}`}`, bulkSchema), bulkLines),
    );

  /** Shows what it concerns. @returns how many chains, once that is confirmed. */
  async function askFirst(companyId: string | undefined, body: object, yes: boolean | undefined): Promise<number> {
    const answer = await session.api.ask('POST', baseOf(companyId), bulkPreviewSchema, { body, nextStep });
    const { count, first } = answer.body;
    const lines = session.table(first, {
      COMPANY: 'companyId',
      CHAIN: 'chainId',
      STATUS: (chain) => stateCell(chain.status),
      RECEIVED: 'receivedAt',
      FOR: 'failureTypes',
      SUMMARY: 'summary',
    });
    const more = count > first.length ? [`and ${count - first.length} more`] : [];
    await session.show(answer, () => (count === 0 ? ['There is no such chain.'] : [`${chains(count)}:`, ...lines, ...more]));
    if (count > 0) await session.confirm(yes, `Do it in ${chains(count)}?`);
    return count;
  }

  /** Orders it, and waits until it is done. */
  async function steer(companyId: string | undefined, body: object): Promise<void> {
    let answer = await session.api.ask('POST', baseOf(companyId), bulkSchema, { body, nextStep });
    const { bulkId } = answer.body;
    const look = `npx relay bulk show ${bulkId}${companyId === undefined ? '' : ` ${companyId}`}`;
    session.note(`It is being done, whatever becomes of this command: ${look}`);
    while (answer.body.status === 'running') {
      await sleep(500);
      answer = await session.api.ask('GET', `${baseOf(companyId)}${path`/${bulkId}`}`, bulkSchema, { nextStep });
    }
    await session.show(answer, bulkLines);
    if (answer.body.status !== 'completed' || answer.body.progress?.failed) session.exitCode = exitCodes.trouble;
  }
};

function nextStep({ status }: { status: number }): string | undefined {
  return status === 409 ? 'Nothing was done. Look again: without --confirm it is only counted.' : undefined;
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
