/**
 * What the Temporal Web UI shows without opening a payload. Summaries are one line about a chain, an action, a timer or an
 * activity; details, under User Metadata, say in Markdown what a chain asks for and how it stands. Only paragraphs, bold, code and
 * tables come out well in all versions and places of the Web UI; a company's words must not turn into markup in any.
 */

import type { ActionStatus } from './action-status.js';
import type { Chain, ChainAction } from './chain.js';
import { conditionText } from './condition.js';
import { fitBytes, jsonBytes, oneLine } from './text.js';

/** Temporal takes summaries of 400 bytes, as payloads: less than that leaves room for the payload's metadata. */
const summaryBytes = 350;
/** Bytes of a summary that are kept for the names of its actions, however long the rest is. */
const labelsBytes = 150;
/** Bytes for the name of one action: the Web UI's timeline cuts off long lines. */
const labelBytes = 80;

type Titled = Pick<ActionStatus, 'index' | 'action' | 'comment'>;

/** `2 sendEmails: tell the manager`, short enough for a summary that says a few words more. */
export function actionTitle(action: Titled): string {
  return fitBytes(`${action.index} ${named(action)}`, summaryBytes - 50);
}

function named({ action, comment = '' }: Pick<Titled, 'action' | 'comment'>): string {
  return [action, oneLine(comment)].filter(Boolean).join(': ');
}

/** What its author calls the action. */
function label({ action, comment }: Pick<Titled, 'action' | 'comment'>): string {
  return fitBytes(oneLine(comment ?? '') || action, labelBytes);
}

/** `2 tell the manager: held until …`. @param doing - what is done with the actions, or what they wait for. */
export function summaryOf(actions: readonly Titled[], doing = ''): string {
  const words = doing && `: ${oneLine(doing)}`;
  const labels = actions.map((action) => `${action.index} ${label(action)}`).join(', ');
  return fitBytes(`${fitBytes(labels, Math.max(labelsBytes, summaryBytes - jsonBytes(words)))}${words}`, summaryBytes);
}

/** A chain's static summary. */
export function chainSummary(chain: Pick<Chain, 'companyId'>, actions: readonly ChainAction[]): string {
  const assignments = [...new Set(actions.flatMap(({ assignmentId }) => assignmentId ?? []))];
  const about = assignments.length > 0 ? `, assignment ${oneLine(assignments.join(', '))}` : '';
  const head = `${chain.companyId}: ${actions.length === 1 ? '1 action' : `${actions.length} actions`}${about}`;
  return unmarked(`${fitBytes(head, summaryBytes / 2)}: ${actions.map(label).join(', ')}`);
}

/** The static summary of delayed actions. */
export function delayedSummary(actions: readonly ChainAction[]): string {
  return unmarked(summaryOf(actions, `${actions[0]?.delaySeconds} s after the event`));
}

/** Without Markdown's characters: the Web UI shows static summaries as plain text in one place and as Markdown in another. */
function unmarked(summary: string): string {
  return fitBytes(summary.replace(/[\\`*<>[\]{}$~|]|:(?=\/\/)/g, ''), summaryBytes);
}

/** `2026-07-01 09:30:00 UTC`, as the Web UI writes times, from ISO 8601. */
export function shownTime(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}

/** Why an action is not done, in words: its reason, and the error behind it. */
export function whyNot({ reason, error }: Pick<ActionStatus, 'reason' | 'error'>): string {
  return [...new Set([error?.message, reason])].filter((words) => words !== undefined).join('; ');
}

/** Why the workflow of a chain, or of a group of its delayed actions, failed, and what to do. */
export function failureMessage(chain: Pick<Chain, 'companyId' | 'chainId'>, actions: readonly ActionStatus[]): string {
  const failed = actions.filter(({ state }) => state === 'failed');
  const notRun = actions.filter(({ state }) => state === 'not-run').length;
  const behind = `, and ${notRun} behind ${failed.length === 1 ? 'it' : 'them'} ${notRun === 1 ? 'was' : 'were'} not run`;
  const said = failed.slice(0, 5).map((action) => summaryOf([action], whyNot(action)));
  const more = failed.length > said.length ? `; and ${failed.length - said.length} more` : '';
  const [first] = failed;
  return [
    `${failed.length} of ${actions.length === 1 ? '1 action' : `${actions.length} actions`} failed${notRun > 0 ? behind : ''}.`,
    `${said.join('; ')}${more}.`,
    ...(first ? [`Mend the cause, then: npx relay retry ${chain.companyId} ${chain.chainId} ${first.index}`] : []),
  ].join(' ');
}

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
  const rows = actions.map((action) => [String(action.index), escapeMarkdown(named(action)), when(action), asked(action)]);
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
    escapeMarkdown(named(action)),
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
  return escapeMarkdown([...standing(action), by && `${by.verb} by ${by.by}`].filter(Boolean).join('; '));
}

function standing(action: ActionStatus) {
  const { state, runAt, nextAttemptAt, result, reason, error } = action;
  switch (state) {
    case 'scheduled':
      return [runAt && `due ${shownTime(runAt)}`];
    case 'retrying':
      return [whyNot(action), nextAttemptAt && `tried again from ${shownTime(nextAttemptAt)} on`];
    case 'needs-attention':
      return [whyNot(action), nextAttemptAt && `tried again at ${shownTime(nextAttemptAt)}`];
    case 'failed':
      return [whyNot(action)];
    case 'done':
      return [result?.recipients !== undefined && `reached ${result.recipients}`, error && `before that: ${error.message}`];
    default:
      return [reason];
  }
}

function when({ delaySeconds, condition }: ChainAction): string {
  const time = delaySeconds ? `${delaySeconds} s after the event` : 'in its turn';
  return escapeMarkdown(condition ? `${time}, if ${conditionText(condition)}` : time);
}

/** Fields that are shown in other columns, or too long to show. */
const notAsked = ['action', 'index', 'comment', 'delaySeconds', 'condition', 'body', 'bodyHtml'];

/** The remaining fields: `groupIds 501, 502; radiusMiles 25`. */
function asked(action: ChainAction): string {
  const fields = Object.entries(action).filter(([name, value]) => value !== undefined && !notAsked.includes(name));
  return escapeMarkdown(fields.map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(', ') : value}`).join('; '));
}

/** The text with everything escaped that Markdown or the Web UI (`{workflowId}`, addresses) would interpret. */
function escapeMarkdown(text: string): string {
  return oneLine(text).replace(/[\\`*_{}[\]<>#|~$&]|:(?=\/\/)/g, '\\$&');
}

/** A paragraph and a table that fit in the details: many rows have short cells. The last line is blank: the Web UI cuts it off. */
function withTable(head: string, titles: string[], rows: string[][]): string {
  const room = (detailsBytes - jsonBytes(head) - 200) / rows.length;
  const cellBytes = Math.min(600, (room - rowBytes) / (titles.length - 1));
  const line = (cells: string[]) => `| ${cells.map((cell) => `${cell}${gap}`).join(' | ')} |`;
  const cut = rows.map((cells) => line(cells.map((cell) => fitBytes(cell, cellBytes).replace(/\\…$/, '…'))));
  return [...(head ? [head, ''] : []), line(titles), `|${':--|'.repeat(titles.length)}`, ...cut, '', gap].join('\n');
}
