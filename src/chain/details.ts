/**
 * What the Temporal Web UI shows under User Metadata: what a chain asks for, and how it stands, as Markdown. Its renderers differ by version and place:
 * paragraphs, bold, code and tables come out well in all of them, cells have no padding in some, and a company's words must nowhere turn into markup.
 */

import type { Chain, ChainAction } from './chain.js';
import { conditionText } from './condition.js';
import type { ActionStatus } from './outcome.js';
import { shownTime, whyNot } from './summary.js';
import { fitBytes, jsonBytes, oneLine } from './text.js';

/** Temporal takes details of 20,000 bytes, as payloads: less than that leaves room for the payload's metadata. */
const detailsBytes = 19_900;
/** What a row takes beside its cells. */
const rowBytes = 35;
/** An em space: where cells have no padding, their texts would run together. */
const gap = '\u2003';
/** So many actions in trouble are spoken of at length. */
const notedActions = 3;

/** What a chain, or a group of its delayed actions, asks for: static details. */
export function chainDetails(
  { companyId, chainId, receivedAt }: Pick<Chain, 'companyId' | 'chainId' | 'receivedAt'>,
  actions: readonly ChainAction[],
): string {
  const head = `Chain ${chainId} of ${plain(companyId)}, received ${shownTime(receivedAt)}. How it stands is under **Current Details**.`;
  const rows = actions.map((action) => [String(action.index), named(action), when(action), asked(action)]);
  return withTable(head, ['#', 'Action', 'When', 'With'], rows);
}

/** How the actions of a chain, or of a group, stand: what is in trouble, why and what to do, and which signals had no effect; then all of them. */
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
    ...ignored.map((signal) => `**A signal had no effect:** ${plain(fitBytes(signal, 300))}.`),
  ];
  return withTable(notes.join('\n\n'), ['#', 'State', 'Action', 'Issue'], rows);
}

function note({ companyId, chainId }: Pick<Chain, 'companyId' | 'chainId'>, action: ActionStatus): string {
  const { index, state, error, nextAttemptAt, heldUntil } = action;
  if (state === 'failed')
    return `**Action ${index} failed:** ${plain(fitBytes(whyNot(action), 600))}. Mend the cause, then: \`npx relay retry ${companyId} ${chainId} ${index}\``;
  return [
    `**Action ${index} needs attention:** ${plain(fitBytes(error?.message ?? '', 600))}.`,
    nextAttemptAt
      ? `The relay tries it again by itself at ${shownTime(nextAttemptAt)}.`
      : 'Nothing is tried by itself: mend the cause first.',
    `To decide, open More Actions, Send a Signal: \`retry\` tries it again, \`skip\` goes on without it; input \`[${index}]\`.`,
    ...(heldUntil ? [`Without a decision it fails at ${shownTime(heldUntil)}.`] : []),
  ].join(' ');
}

function remark(action: ActionStatus): string {
  const by = action.steered?.at(-1);
  return plain([standing(action), by && `${by.verb} by ${by.by}`].filter(Boolean).join('; '));
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
  return plain(label ? `${action}: ${label}` : action);
}

function when({ delaySeconds, condition }: ChainAction): string {
  const time = delaySeconds ? `${delaySeconds} s after the event` : 'in its turn';
  return plain(condition ? `${time}, if ${conditionText(condition)}` : time);
}

/** What is shown elsewhere, or too long to show. */
const notAsked = ['action', 'index', 'comment', 'delaySeconds', 'condition', 'body', 'bodyHtml'];

/** The action's own fields, whatever they are: `groupIds 501, 502; radiusMiles 25`. */
function asked(action: ChainAction): string {
  const fields = Object.entries(action).filter(([name]) => !notAsked.includes(name));
  return plain(fields.map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(', ') : value}`).join('; '));
}

/** The text with everything that Markdown or the Web UI (`{workflowId}`, addresses) would make something of taken as it is. */
function plain(text: string): string {
  return oneLine(text).replace(/[\\`*_{}[\]<>#|~$&]|:(?=\/\/)/g, '\\$&');
}

/** A paragraph and a table that fit in the details: the more rows, the shorter the cells. The Web UI cuts off the end of its frame, hence a blank line. */
function withTable(head: string, titles: string[], rows: string[][]): string {
  const room = (detailsBytes - jsonBytes(head) - 200) / rows.length;
  const cellBytes = Math.min(600, (room - rowBytes) / (titles.length - 1));
  const line = (cells: string[]) => `| ${cells.map((cell) => `${cell}${gap}`).join(' | ')} |`;
  const cut = rows.map((cells) => line(cells.map((cell) => fitBytes(cell, cellBytes).replace(/\\…$/, '…'))));
  return [...(head ? [head, ''] : []), line(titles), `|${':--|'.repeat(titles.length)}`, ...cut, '', gap].join('\n');
}
