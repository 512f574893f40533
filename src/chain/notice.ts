/** A notice: what the relay tells people about a chain that needs them, and in which words. */

import { chainWorkflowId } from './chain.js';
import type { ActionStatus } from './outcome.js';
import { actionTitle } from './summary.js';
import { cutShort, oneLine } from './text.js';

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
}

/** What a notice does not carry and its reader needs. */
export interface NoticeContext {
  companyName: string;
  ruleName: string;
  /** The chain resource. */
  chainUrl: string;
  /** The chain in Temporal's Web UI. */
  webUi?: string;
  /** For the `temporal` command. */
  namespace: string;
}

/** A notice in the forms that a channel may need. */
export interface NoticeText {
  subject: string;
  text: string;
  html: string;
  json: unknown;
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
  const held = ({ state, runAt, index }: ActionStatus) =>
    notice.kind === 'needs-attention' && state === 'pending' && runAt === action.runAt && index > action.index;
  const sections: Section[] = [
    { lines: [`${actionTitle(action)} — ${sentence(notice.kind)}`] },
    {
      title: 'What was wrong',
      lines: [action.error ? `${action.error.message} (${action.error.type})` : (action.reason ?? 'nothing was said')],
    },
    { title: 'What happens now', lines: whatHappens(notice, action) },
    { title: 'Where', lines: where(notice, action, context) },
    { title: 'Done', lines: titles(notice, ({ state }) => state === 'done') },
    { title: 'Held behind it', lines: titles(notice, held) },
    { title: 'Not run', lines: titles(notice, ({ state }) => state === 'not-run') },
    {
      title: 'Will still run',
      lines: titles(notice, (other) => ['pending', 'scheduled'].includes(other.state) && !held(other), true),
    },
    {
      title: 'Recipients',
      lines: (action.deliveries ?? []).map(
        ({ recipient, sent, error }) => `${recipient}: ${sent ? 'sent' : `not sent: ${error ?? ''}`}`,
      ),
    },
    { title: 'To put it right', lines: whatToDo(notice, action, context) },
  ].filter(({ lines }) => lines.length > 0);
  return { subject, text: asText(sections), html: asHtml(subject, sections), json: asJson(notice, action, context, subject) };
}

interface Section {
  title?: string;
  lines: string[];
}

function sentence(kind: NoticeKind): string {
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
      return 'has been done after all. The chain goes on.';
  }
}

function whatHappens({ kind }: Notice, action: ActionStatus): string[] {
  if (kind !== 'needs-attention') return [];
  const lines = action.nextAttemptAt
    ? [`The relay goes on trying by itself, next at ${action.nextAttemptAt}, and says so when it comes through.`]
    : ['The relay does not try again by itself: this has to be put right first.'];
  return [
    ...lines,
    `It is held until ${action.heldUntil}. If nobody has decided by then, it fails, and what stands behind it is not run.`,
  ];
}

function where({ companyId, chainId, receivedAt, at }: Notice, action: ActionStatus, context: NoticeContext): string[] {
  return [
    `Company: ${context.companyName} (${companyId})`,
    `Rule: ${context.ruleName} (${action.relayId})`,
    ...(action.assignmentId ? [`Assignment: ${oneLine(action.assignmentId)}`] : []),
    `Chain: ${chainId}, received ${receivedAt}`,
    `Happened: ${at}${action.attempts ? ` after ${action.attempts} attempt${action.attempts === 1 ? '' : 's'}` : ''}`,
    `Chain resource: ${context.chainUrl}`,
    ...(context.webUi ? [`Temporal Web UI: ${context.webUi}`] : []),
  ];
}

function titles({ actions, index }: Notice, chosen: (action: ActionStatus) => boolean, withTime = false): string[] {
  return actions
    .filter((action) => action.index !== index && chosen(action))
    .map((action) => `${actionTitle(action)}${withTime && action.runAt ? `, due ${action.runAt}` : ''}`);
}

function whatToDo(notice: Notice, { error }: ActionStatus, context: NoticeContext): string[] {
  const steer = (verb: string) => `npx relay ${verb} ${notice.companyId} ${notice.chainId} ${notice.index}`;
  const signal = (name: string) =>
    `temporal workflow signal --namespace ${context.namespace} --workflow-id ${chainWorkflowId(notice)} --name ${name} --input '[${notice.index}]'`;
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
      ];
    case 'partly-failed':
      return ['While the chain is open, send it to those without a copy:', steer('retry'), signal('retry')];
    case 'failed':
    case 'gave-up':
      return ['Do by hand what was not done, or send the request again once the cause is mended.'];
    case 'recovered':
      return [];
  }
}

function asText(sections: Section[]): string {
  return `${sections.map(({ title, lines }) => [...(title ? [`${title}:`] : []), ...lines.map((line) => (title ? `  ${line}` : line))].join('\n')).join('\n\n')}\n`;
}

function asHtml(subject: string, sections: Section[]): string {
  const body = sections.map(({ title, lines }) => {
    const items = lines.map((line) => `<div style="margin:2px 0">${linked(line)}</div>`).join('');
    return title
      ? `<h3 style="margin:16px 0 4px;font-size:15px">${escapeHtml(title)}</h3>${items}`
      : `<div style="font-size:17px">${items}</div>`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(subject)}</title></head><body style="font-family:sans-serif;font-size:14px;line-height:1.4;max-width:640px;overflow-wrap:anywhere">${body.join('')}</body></html>`;
}

function linked(line: string): string {
  if (/^(npx relay|temporal) /.test(line)) return `<code style="background:#f2f2f2;padding:2px 4px">${escapeHtml(line)}</code>`;
  const link = /^(Chain resource|Temporal Web UI): (https?:\S+)$/.exec(line);
  return link ? `${link[1]}: <a href="${escapeHtml(link[2] ?? '')}">${escapeHtml(link[2] ?? '')}</a>` : escapeHtml(line);
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
    links: { chain: context.chainUrl, ...(context.webUi && { webUi: context.webUi }) },
  };
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
