/** A notice: what the relay tells people about a chain that needs them, and in which words. */

import type { ActionStatus } from '../chain/action-status.js';
import { chainUrl, chainWorkflowId } from '../chain/chain.js';
import { hasEnded } from '../chain/outcome.js';
import { actionTitle, shownTime } from '../chain/summary.js';
import { cutShort, oneLine } from '../chain/text.js';
import { type NoticeText, noticeText, type Section } from './notice-text.js';

export type NoticeKind =
  | 'needs-attention' // held: somebody has to decide
  | 'failed' // ended without success, and the chain goes on (onFailure: continue)
  | 'partly-failed' // an e-mail that did not reach everybody
  | 'gave-up' // nobody decided within the attention window
  | 'recovered'; // the relay's own retry came through

export interface Notice {
  kind: NoticeKind;
  companyId: string;
  chainId: string;
  /** The action that the notice is about. */
  index: number;
  /** When it happened; ISO 8601, UTC. */
  at: string;
  receivedAt: string;
  /** All actions of the chain as they stood then. */
  actions: ActionStatus[];
  /** Of a recovery: the `NoticeDigest` that knows of the failure. */
  digest?: string;
}

/** What a notice does not carry and its reader needs. */
export interface NoticeContext {
  companyName: string;
  ruleName: string;
  /** Address of the API. */
  apiUrl: string;
  /** The chain in Temporal's Web UI. */
  webUi?: string;
  /** For the `temporal` command. */
  namespace: string;
}

/** ` --url …` for the `relay` command, where it would not look there by itself. */
export function urlOption(apiUrl: string): string {
  return apiUrl === 'http://127.0.0.1:8080' ? '' : ` --url ${apiUrl}`;
}

const headlines: Record<NoticeKind, string> = {
  'needs-attention': 'Needs attention',
  failed: 'Failed',
  'partly-failed': 'Partly failed',
  'gave-up': 'Given up',
  recovered: 'Recovered',
};

/** Puts a notice into words. */
export function renderNotice(notice: Notice, context: NoticeContext): NoticeText {
  const action = notice.actions.find(({ index }) => index === notice.index);
  if (!action) throw new RangeError(`the notice names action ${notice.index}, which the chain does not have`);
  const headline = headlines[notice.kind];
  const about = action.assignmentId ? `, assignment ${action.assignmentId}` : '';
  const label = oneLine(action.comment ?? '') || action.action;
  const subject = cutShort(oneLine(`[relay] ${headline}: ${label} (${context.ruleName}${about})`), 180);
  // What is due together runs in one sequence.
  const behind = (held: ActionStatus, { state, runAt, index }: ActionStatus) =>
    held.state === 'needs-attention' && state === 'pending' && runAt === held.runAt && index > held.index;
  const heldElsewhere = (other: ActionStatus) =>
    !behind(action, other) && (other.state === 'needs-attention' || notice.actions.some((held) => behind(held, other)));
  const sections: Section[] = [
    { lines: [`${actionTitle(action)} — ${sentence(notice.kind, action)}`] },
    {
      title: 'What was wrong',
      lines: [action.error ? `${action.error.message} (${action.error.type})` : (action.reason ?? 'nothing was said')],
    },
    { title: 'What happens now', lines: whatHappens(notice, action) },
    { title: 'To put it right', lines: whatToDo(notice, action, context) },
    { title: 'Where', lines: where(notice, action, context) },
    { title: 'Done', lines: titles(notice, ({ state }) => state === 'done') },
    { title: 'Held behind it', lines: titles(notice, (other) => behind(action, other)) },
    { title: 'Held elsewhere', lines: titles(notice, heldElsewhere) },
    { title: 'Not run', lines: titles(notice, ({ state }) => state === 'not-run') },
    {
      title: 'Will still run',
      lines: titles(notice, (other) => !hasEnded(other.state) && !behind(action, other) && !heldElsewhere(other), true),
    },
    {
      title: 'Recipients',
      lines: (action.deliveries ?? []).map(
        ({ recipient, sent, error }) => `${recipient}: ${sent ? 'sent' : `not sent: ${error ?? ''}`}`,
      ),
    },
  ];
  return noticeText(subject, sections, asJson(notice, action, context, subject));
}

function sentence(kind: NoticeKind, { state, reason }: ActionStatus): string {
  switch (kind) {
    case 'needs-attention':
      return 'could not be done and is held.';
    case 'failed':
      return 'could not be done. The rest of the chain goes on.';
    case 'partly-failed':
      return 'did not reach everybody. The rest of the chain goes on.';
    case 'gave-up':
      return 'was held, and nobody decided in time. It has failed.';
    case 'recovered':
      return state === 'done'
        ? 'has been done after all. The chain goes on.'
        : `need not be done any more: ${reason}. It is ${state}, and the chain goes on.`;
  }
}

function whatHappens({ kind }: Notice, action: ActionStatus): string[] {
  if (kind !== 'needs-attention') return [];
  const lines = action.nextAttemptAt
    ? [`The relay goes on trying by itself, next at ${shownTime(action.nextAttemptAt)}, and says so when it comes through.`]
    : ['The relay does not try again by itself: this has to be put right first.'];
  return [
    ...lines,
    ...(action.heldUntil
      ? [
          `It is held until ${shownTime(action.heldUntil)}. If nobody has decided by then, it fails, and what stands behind it is not run.`,
        ]
      : []),
  ];
}

function where(notice: Notice, action: ActionStatus, context: NoticeContext): Section['lines'] {
  const { companyId, chainId, receivedAt, at } = notice;
  return [
    `Company: ${context.companyName} (${companyId})`,
    `Rule: ${context.ruleName} (${action.relayId})`,
    ...(action.assignmentId ? [`Assignment: ${oneLine(action.assignmentId)}`] : []),
    `Chain: ${chainId}, received ${shownTime(receivedAt)}`,
    `Happened: ${shownTime(at)}${action.attempts ? ` after ${action.attempts} attempt${action.attempts === 1 ? '' : 's'}` : ''}`,
    ...(notice.kind === 'recovered' && context.webUi ? [{ label: 'Temporal Web UI', url: context.webUi }] : []),
    { label: 'Chain resource, with a token', url: chainUrl(context.apiUrl, notice) },
  ];
}

function titles({ actions, index }: Notice, chosen: (action: ActionStatus) => boolean, withTime = false): string[] {
  return actions
    .filter((action) => action.index !== index && chosen(action))
    .map((action) => `${actionTitle(action)}${withTime && action.runAt ? `, due ${shownTime(action.runAt)}` : ''}`);
}

function whatToDo(notice: Notice, { error }: ActionStatus, context: NoticeContext): Section['lines'] {
  const steer = (verb: string) =>
    `npx relay ${verb} ${notice.companyId} ${notice.chainId} ${notice.index}${urlOption(context.apiUrl)}`;
  const signal = (name: string) =>
    `temporal workflow signal -n ${context.namespace} -w ${chainWorkflowId(notice)} --name ${name} -i '[${notice.index}]'`;
  const inWebUi = context.webUi ? [{ label: 'Temporal Web UI', url: context.webUi }] : [];
  switch (notice.kind) {
    case 'needs-attention':
      return [
        error?.type === 'DataMistake'
          ? 'What came with the request stays as it is. If a setting was at fault, mend it, then retry:'
          : 'Mend what was wrong, then retry:',
        steer('retry'),
        signal('retry'),
        'Or go on without it:',
        steer('skip'),
        signal('skip'),
        ...(inWebUi.length > 0 ? [`Or in the Web UI: More Actions, Send a Signal, retry or skip, input [${notice.index}].`] : []),
        ...inWebUi,
      ];
    case 'partly-failed':
      return ['Send it to those without a copy, also when the chain has closed:', steer('retry'), ...inWebUi];
    case 'failed':
    case 'gave-up':
      return [
        'Mend what was wrong, then retry, also when the chain has closed. What was not run because of it follows:',
        steer('retry'),
        ...inWebUi,
      ];
    case 'recovered':
      return [];
  }
}

function asJson(notice: Notice, action: ActionStatus, context: NoticeContext, subject: string): unknown {
  return {
    type: `relay.${notice.kind}`,
    text: subject,
    at: notice.at,
    company: { companyId: notice.companyId, name: context.companyName },
    rule: { relayId: action.relayId, name: context.ruleName },
    chain: { chainId: notice.chainId, workflowId: chainWorkflowId(notice), receivedAt: notice.receivedAt },
    action,
    actions: notice.actions,
    links: { chain: chainUrl(context.apiUrl, notice), ...(context.webUi && { webUi: context.webUi }) },
  };
}
