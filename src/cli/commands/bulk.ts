/** `relay bulk`: what a person decides about many chains at once. Counted and shown first, done once that is confirmed. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { bulkPreviewSchema, bulkSchema } from '../../api/bulk.js';
import type { BulkVerb } from '../../contract/bulk.js';
import { path } from '../api.js';
import { stateCell } from '../chain-lines.js';
import { type Command, defineCommand, type Options } from '../command.js';
import { type ExitCode, exitCodes, UsageError } from '../exit-codes.js';
import { confirmOptions, type Session } from '../session.js';
import { table } from '../table.js';
import type { Line } from '../text.js';
import { momentText, readMoment } from '../time.js';

export const filterOptions = {
  assignment: { type: 'string', value: 'id', help: 'with an action for this assignment' },
  rule: { type: 'string', value: 'relayId', help: 'with an action of this rule' },
  reason: {
    type: 'string',
    value: 'type',
    help: 'that need attention, or have failed, for this type of failure, such as PlatformError',
  },
  since: { type: 'string', value: 'time', help: 'received then or later: 2026-07-01T12:00:00Z, or 2h for two hours ago' },
  until: { type: 'string', value: 'time', help: 'received before' },
} as const satisfies Options;

/** The filters as the API takes them. @throws UsageError */
export function filterOf({
  assignment,
  rule,
  reason,
  since,
  until,
}: { [Name in keyof typeof filterOptions]?: string | undefined }) {
  return {
    assignmentId: assignment,
    relayId: rule,
    reason,
    since: since && readMoment(since, 'ago'),
    until: until && readMoment(until, 'ago'),
  };
}

const options = {
  ...filterOptions,
  status: {
    type: 'string',
    value: 'status',
    help: 'needs-attention, running; for retry also failed: the chains are opened again',
  },
  'all-companies': { type: 'boolean', help: 'instead of a company: in all of them' },
  confirm: { type: 'string', value: 'count', help: 'do it if it concerns so many chains, without asking' },
  ...confirmOptions,
} as const satisfies Options;

export const bulkRetry = bulkCommand(
  'retry',
  'try again what needs attention, or with --status failed what has failed',
  'relay bulk retry acme --reason PlatformError --since 2h',
);
export const bulkSkip = bulkCommand('skip', 'go on without what needs attention', 'relay bulk skip acme --rule 4711');
export const bulkCancel = bulkCommand(
  'cancel',
  'cancel what has not ended: only the actions of an assignment or rule that is named',
  'relay bulk cancel acme --assignment 1001',
);
export const bulkRunNow = bulkCommand('runNow', 'run delayed actions now', 'relay bulk run-now acme --assignment 1001');

export const showBulk = defineCommand({
  arguments: ['bulkId', 'companyId?'],
  summary: 'show how far the steering of many chains is',
  details: "A company's key needs the company.",
  example: 'relay bulk show 0f5c1d7e-1b2c-4d3e-8f90-a1b2c3d4e5f6 acme',
  run: async (session, { bulkId, companyId }) => {
    const answer = await session.api.ask('GET', `${baseOf(companyId)}${path`/${bulkId}`}`);
    session.show(answer, bulkSchema, bulkLines);
    return undefined;
  },
});

function bulkCommand(verb: BulkVerb, meaning: string, example: string): Command {
  return defineCommand({
    arguments: ['companyId?'],
    options,
    summary: `${meaning}, in many chains at once`,
    details:
      'Shows how many chains it concerns and the first ten, then asks. A script says --yes, or --confirm with the count that it expects. Exit code 4 where chains did not answer.',
    example,
    nextSteps: { 409: 'Nothing was done. Look again: without --confirm it is only counted.' },
    run: async (session, { companyId }, { yes, confirm, status, 'all-companies': all, ...given }) => {
      if ((companyId === undefined) !== (all === true)) throw new UsageError('Name the company, or say --all-companies');
      const order = { verb, filter: { ...filterOf(given), status } };
      const count = confirm === undefined ? await ask(session, companyId, order, yes) : readCount(confirm);
      if (count === 0) return exitCodes.ok;
      return steer(session, companyId, { ...order, confirm: count });
    },
  });
}

/** Shows what it concerns. @returns how many chains, once that is confirmed. */
async function ask(session: Session, companyId: string | undefined, body: object, yes: boolean | undefined): Promise<number> {
  const answer = await session.api.ask('POST', baseOf(companyId), { body });
  const { count } = session.show(answer, bulkPreviewSchema, ({ count, first }) => {
    if (count === 0) return ['There is no such chain.'];
    const columns = [
      { heading: 'COMPANY', cell: (chain: Listed) => chain.companyId },
      { heading: 'CHAIN', cell: (chain: Listed) => chain.chainId },
      { heading: 'STATUS', cell: (chain: Listed) => stateCell(chain.status) },
      { heading: 'RECEIVED', cell: (chain: Listed) => momentText(chain.receivedAt) },
      { heading: 'FOR', cell: (chain: Listed) => chain.failureTypes?.join(', ') ?? '' },
      { heading: 'SUMMARY', cell: (chain: Listed) => chain.summary ?? '' },
    ];
    const more = count > first.length ? [`and ${count - first.length} more`] : [];
    return [`${chains(count)}:`, ...table(first, columns, session.terminal.columns), ...more];
  });
  if (count > 0) await session.confirm(yes, `Do it in ${chains(count)}?`);
  return count;
}

type Listed = z.infer<typeof bulkPreviewSchema>['first'][number];

/** Orders it, and waits until it is done. */
async function steer(session: Session, companyId: string | undefined, body: object): Promise<ExitCode> {
  let answer = await session.api.ask('POST', baseOf(companyId), { body });
  const { bulkId } = session.api.read(bulkSchema, answer);
  session.note(
    `It is being done, whatever becomes of this command: npx relay bulk show ${bulkId}${companyId === undefined ? '' : ` ${companyId}`}`,
  );
  while (session.api.read(bulkSchema, answer).status === 'running') {
    await sleep(500);
    answer = await session.api.ask('GET', `${baseOf(companyId)}${path`/${bulkId}`}`);
  }
  const { progress, status } = session.show(answer, bulkSchema, bulkLines);
  return status === 'completed' && !progress?.failed ? exitCodes.ok : exitCodes.trouble;
}

function bulkLines({ verb, count, status, progress, by, startedAt }: z.infer<typeof bulkSchema>): Line[] {
  const head: Line = [{ text: `${verb} in ${chains(count)}, by ${by}, ${momentText(startedAt)}: ` }, stateCell(status)];
  if (!progress) return [head, 'No worker answers at the moment: how far it is, is not known.'];
  const { done, actions, steered, unchanged, failed, failures } = progress;
  return [
    head,
    ...(status === 'running' ? [`${done} of ${count} so far.`] : []),
    `${actions === 1 ? '1 action' : `${actions} actions`} in ${chains(steered)} steered; in ${chains(unchanged)} there was nothing to do any more.`,
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

function readCount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new UsageError('--confirm must be the number of chains');
}
