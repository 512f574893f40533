/** How a chain looks in a terminal: its actions as a table, and for those in trouble what to do about them. */

import type { ActionResource, ChainResource, ListedChain } from '../contract/chain-resource.js';
import { exitCodes } from './terminal.js';
import { type Columns, type Line, line, type Painted, type Tone, table } from './text.js';
import { momentFromNow, momentText } from './time.js';

const tones: Record<Exclude<Tone, 'faint'>, readonly string[]> = {
  good: ['done', 'completed', 'runs'],
  warning: ['retrying', 'needs-attention', 'partly-failed', 'held', 'unknown'],
  bad: ['failed', 'not-run', 'terminated'],
};

/** The state of an action, the status of a chain, or the outcome of a dry run. */
export function stateCell(state: string): Painted {
  return { text: state, tone: (['good', 'warning', 'bad'] as const).find((tone) => tones[tone].includes(state)) };
}

/** How a chain stands, as the end of a sentence. */
export const statusWords: Record<ChainResource['status'], string> = {
  running: 'is running',
  'needs-attention': 'needs attention',
  completed: 'is completed',
  failed: 'has failed',
  cancelled: 'was cancelled',
  terminated: 'was terminated',
};

export function exitCodeOf(status: ChainResource['status']): number {
  return status === 'completed' || status === 'running' ? exitCodes.ok : exitCodes.trouble;
}

export const chainColumns: Columns<ListedChain> = {
  CHAIN: 'chainId',
  STATUS: ({ status }) => stateCell(status),
  RECEIVED: 'receivedAt',
  CLOSED: 'closedAt',
  FOR: 'failureTypes',
  ASSIGNMENTS: 'assignmentIds',
  RULES: 'relayIds',
  PAUSED: 'paused',
  SUMMARY: 'summary',
};

export function chainLines(companyId: string, chain: ChainResource, width: number | undefined): Line[] {
  const state = (action: ActionResource) => stateCell(action.state);
  const decisions = chain.actions.flatMap((action) =>
    (action.steered ?? []).map(({ at, by, verb }) => `  ${titleOf(action)}: ${verb} by ${by}, ${momentText(at)}`),
  );
  const ignored = (chain.ignored ?? []).map((signal) => `  ${signal}`);
  const columns = { ACTION: titleOf, STATE: state, WHEN: when, ATTEMPTS: 'attempts', REMARK: remark } as const;
  return [
    line`Chain ${chain.chainId} of company ${companyId}: ${stateCell(chain.status)}`,
    `Received ${momentFromNow(chain.receivedAt)}${chain.closedAt ? `, closed ${momentText(chain.closedAt)}` : ''}`,
    ...(chain.links.webUi ? [`Temporal Web UI: ${chain.links.webUi}`] : []),
    ...(chain.partial ? ['No worker answered in time: this is what the server knows, and actions may be further.'] : []),
    '',
    ...table(chain.actions, columns, width),
    ...troubleLines(companyId, chain),
    ...listed('Decisions:', decisions),
    ...listed('Signals that had no effect:', ignored),
  ];
}

/** An action's state in one line, with the time at which it was seen. */
export function actionLine(action: ActionResource): Line {
  const said = remark(action);
  const attempts = action.state === 'retrying' && action.attempts ? ` (attempts: ${action.attempts})` : '';
  const seen: Painted = { text: momentText(new Date().toISOString()).slice(11, 19), tone: 'faint' };
  return line`${seen}  ${titleOf(action)}: ${stateCell(action.state)}${attempts}${said && `: ${said}`}`;
}

/** For every action in trouble: its error in full, and the commands that decide about it. */
export function troubleLines(companyId: string, chain: ChainResource): Line[] {
  const open = chain.closedAt === undefined;
  // For a retry, a chain that has ended by itself is opened again.
  const again = chain.status === 'failed' || chain.status === 'completed';
  return chain.actions
    .filter(({ state }) => ['needs-attention', 'partly-failed', 'failed'].includes(state))
    .flatMap((action) => {
      const steer = (verb: string, meaning: string) =>
        line`  npx relay ${verb} ${companyId} ${chain.chainId} ${String(action.index)}${{ text: `   ${meaning}`, tone: 'faint' }}`;
      return [
        '',
        line`${titleOf(action)}: ${stateCell(action.state)}`,
        ...(action.error ? [`  ${action.error.message} (${action.error.type})`] : []),
        ...(action.reason ? [`  ${action.reason}`] : []),
        ...(action.deliveries ?? []).map(
          ({ recipient, sent, error }) => `  ${recipient}: ${sent ? 'sent' : `not sent: ${error ?? ''}`}`,
        ),
        ...(action.nextAttemptAt ? [`  Tried again ${momentFromNow(action.nextAttemptAt)}`] : []),
        ...(action.heldUntil ? [`  Held until ${momentFromNow(action.heldUntil)}`] : []),
        ...(open || (again && action.state !== 'needs-attention') ? [steer('retry', 'try it again')] : []),
        ...(open && action.state === 'needs-attention' ? [steer('skip', ' go on without it')] : []),
      ];
    });
}

/** A paragraph, unless it is empty. */
export function listed(heading: string, lines: readonly Line[]): Line[] {
  return lines.length === 0 ? [] : ['', heading, ...lines];
}

/** `2 sendEmails: tell the manager`. */
export function titleOf({ index, action, comment }: Pick<ActionResource, 'index' | 'action' | 'comment'>): string {
  return `${index} ${action}${comment ? `: ${comment}` : ''}`;
}

function when({ endedAt, startedAt, runAt, state }: ActionResource): string {
  return state === 'scheduled' && runAt ? momentFromNow(runAt) : momentText(endedAt ?? startedAt ?? '');
}

function remark({ reason, error, result, state }: ActionResource): string {
  if (reason !== undefined) return reason;
  if (error && state !== 'done') return error.message;
  if (result?.recipients !== undefined) return `${result.recipients} recipient${result.recipients === 1 ? '' : 's'}`;
  return '';
}
