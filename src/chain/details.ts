/**
 * What the Temporal Web UI shows under User Metadata, as Markdown: what a chain asks for, and how it stands. The Web UI's
 * renderers differ by version and place. Paragraphs, bold, code and tables come out well in all of them; a company's words must
 * not turn into markup in any.
 */

import type { ActionStatus } from './action-status.js';
import type { Chain, ChainAction } from './chain.js';
import { conditionText } from './condition.js';
import { shownTime, whyNot } from './summary.js';
import { fitBytes, jsonBytes, oneLine } from './text.js';

/** Temporal takes details of 20,000 bytes, as payloads: less than that leaves room for the payload's metadata. */
const detailsBytes = 19_900;
/** Bytes that a row takes beside its cells. */
const rowBytes = 35;
/** An em space. Some renderers give cells no padding, and their texts would run together. */
const gap = '\u2003';
/** How many failed or held actions are explained above the table. */
const notedActions = 3;

/** What a chain, or a group of its delayed actions, asks for: static details. */
export function chainDetails(
  { companyId, chainId, receivedAt }: Pick<Chain, 'companyId' | 'chainId' | 'receivedAt'>,
  actions: readonly ChainAction[],
): string {
  const chain = `Chain ${chainId} of ${escapeMarkdown(companyId)}, received ${shownTime(receivedAt)}.`;
  const head = `${chain} How it stands is under **Current Details**.`;
  const rows = actions.map((action) => [String(action.index), named(action), when(action), asked(action)]);
  return withTable(head, ['#', 'Action', 'When', 'With'], rows);
}

/** How the actions of a chain, or of a group, stand: current details. What failed, is held or had no effect comes first. */
export function currentDetails(
  chain: Pick<Chain, 'companyId' | 'chainId'>,
  actions: readonly ActionStatus[],
  ignored: readonly string[] = [],
): string {
  const noted = actions.filter(({ state }) => state === 'needs-attention' || state === 'failed').slice(0, notedActions);
  const rows = actions.map((action) => [
    String(action.index),
    noted.includes(action) ? `**${action.state}**` : action.state,
    named(action),
    noted.includes(action) ? 'see above' : remark(action),
  ]);
  const notes = [
    ...noted.map((action) => note(chain, action)),
    ...ignored.map((signal) => `**A signal had no effect:** ${escapeMarkdown(fitBytes(signal, 300))}.`),
  ];
  return withTable(notes.join('\n\n'), ['#', 'State', 'Action', 'Remark'], rows);
}

function note({ companyId, chainId }: Pick<Chain, 'companyId' | 'chainId'>, action: ActionStatus): string {
  const { index, state, error, nextAttemptAt, heldUntil } = action;
  if (state === 'failed') {
    const command = `npx relay retry ${companyId} ${chainId} ${index}`;
    return `**Action ${index} failed:** ${escapeMarkdown(fitBytes(whyNot(action), 600))}. Mend the cause, then: \`${command}\``;
  }
  return [
    `**Action ${index} needs attention:** ${escapeMarkdown(fitBytes(error?.message ?? '', 600))}.`,
    nextAttemptAt
      ? `The relay tries it again by itself at ${shownTime(nextAttemptAt)}.`
      : 'Nothing is tried by itself: mend the cause first.',
    `To decide, open More Actions, Send a Signal: \`retry\` tries it again, \`skip\` goes on without it; input \`[${index}]\`.`,
    ...(heldUntil ? [`Without a decision it fails at ${shownTime(heldUntil)}.`] : []),
  ].join(' ');
}

function remark(action: ActionStatus): string {
  const by = action.steered?.at(-1);
  return escapeMarkdown([standing(action), by && `${by.verb} by ${by.by}`].filter(Boolean).join('; '));
}

function standing(action: ActionStatus): string | undefined {
  const { state, runAt, nextAttemptAt, result, reason, error } = action;
  switch (state) {
    case 'scheduled':
      return runAt && `due ${shownTime(runAt)}`;
    case 'retrying':
      return `${whyNot(action)}${nextAttemptAt ? `; tried again from ${shownTime(nextAttemptAt)} on` : ''}`;
    case 'needs-attention':
      return `${whyNot(action)}${nextAttemptAt ? `; tried again at ${shownTime(nextAttemptAt)}` : ''}`;
    case 'failed':
      return whyNot(action);
    case 'done':
      return [result?.recipients !== undefined && `reached ${result.recipients}`, error && `before that: ${error.message}`]
        .filter(Boolean)
        .join('; ');
    default:
      return reason;
  }
}

function named({ action, comment }: { action: string; comment?: string }): string {
  const label = oneLine(comment ?? '');
  return escapeMarkdown(label ? `${action}: ${label}` : action);
}

function when({ delaySeconds, condition }: ChainAction): string {
  const time = delaySeconds ? `${delaySeconds} s after the event` : 'in its turn';
  return escapeMarkdown(condition ? `${time}, if ${conditionText(condition)}` : time);
}

/** Fields that are shown in other columns, or too long to show. */
const notAsked = ['action', 'index', 'comment', 'delaySeconds', 'condition', 'body', 'bodyHtml'];

/** The remaining fields: `groupIds 501, 502; radiusMiles 25`. */
function asked(action: ChainAction): string {
  const fields = Object.entries(action).filter(([name]) => !notAsked.includes(name));
  return escapeMarkdown(fields.map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(', ') : value}`).join('; '));
}

/** The text with everything escaped that Markdown or the Web UI (`{workflowId}`, addresses) would interpret. */
function escapeMarkdown(text: string): string {
  return oneLine(text).replace(/[\\`*_{}[\]<>#|~$&]|:(?=\/\/)/g, '\\$&');
}

/**
 * A paragraph and a table that fit in the details: many rows have short cells. The Web UI cuts off the last line: it is blank.
 */
function withTable(head: string, titles: string[], rows: string[][]): string {
  const room = (detailsBytes - jsonBytes(head) - 200) / rows.length;
  const cellBytes = Math.min(600, (room - rowBytes) / (titles.length - 1));
  const line = (cells: string[]) => `| ${cells.map((cell) => `${cell}${gap}`).join(' | ')} |`;
  const cut = rows.map((cells) => line(cells.map((cell) => fitBytes(cell, cellBytes).replace(/\\…$/, '…'))));
  return [...(head ? [head, ''] : []), line(titles), `|${':--|'.repeat(titles.length)}`, ...cut, '', gap].join('\n');
}
