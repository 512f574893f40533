/**
 * What the Temporal Web UI shows without opening a payload: summaries of one line, and details in Markdown. Only paragraphs,
 * bold, code and tables come out well in all its versions and places; a company's words must not turn into markup in any.
 */

import type { ActionStatus } from './action-status.js';
import type { Chain, ChainAction, ChainRef } from './chain.js';
import { conditionText } from './condition.js';
import type { ActionState } from './outcome.js';
import { fitBytes, jsonBytes, oneLine } from './text.js';

/** Temporal takes 400, as payloads, which encryption makes longer by up to 151, the id of the key included. */
export const summaryBytes = 245;
const labelsBytes = 150; // Kept in a summary for the names of its actions, however long the rest is.
const labelBytes = 80; // For one action: the Web UI's timeline cuts off long lines.

type Titled = Pick<ActionStatus, 'index' | 'action' | 'comment'>;

/** `2 sendEmails: tell the manager`, short enough for a summary that says a few words more. */
export function actionTitle(action: Titled): string {
  return fitBytes(`${action.index} ${named(action)}`, summaryBytes - 50);
}

function named({ action, comment = '' }: Omit<Titled, 'index'>): string {
  return [action, oneLine(comment)].filter(Boolean).join(': ');
}

/** What its author calls the action. */
function label({ action, comment = '' }: Omit<Titled, 'index'>): string {
  return fitBytes(oneLine(comment) || action, labelBytes);
}

/** `2 tell the manager: held until …`. @param doing - what is done with the actions, or what they wait for. */
export function summaryOf(actions: readonly Titled[], doing = ''): string {
  const words = doing && `: ${oneLine(doing)}`;
  const labels = actions.map((action) => `${action.index} ${label(action)}`).join(', ');
  return fitBytes(`${fitBytes(labels, Math.max(labelsBytes, summaryBytes - jsonBytes(words)))}${words}`, summaryBytes);
}

export function chainSummary(chain: Pick<Chain, 'companyId'>, actions: readonly ChainAction[]): string {
  const assignments = [...new Set(actions.flatMap(({ assignmentId }) => assignmentId ?? []))];
  const about = assignments.length > 0 ? `, assignment ${oneLine(assignments.join(', '))}` : '';
  const head = `${chain.companyId}: ${actions.length === 1 ? '1 action' : `${actions.length} actions`}${about}`;
  return unmarked(`${fitBytes(head, summaryBytes / 2)}: ${actions.map(label).join(', ')}`);
}

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
export function failureMessage(chain: ChainRef, actions: readonly ActionStatus[]): string {
  const failed = actions.filter(({ state }) => state === 'failed');
  const notRun = actions.filter(({ state }) => state === 'not-run').length;
  const behind = `, and ${notRun} behind ${failed.length === 1 ? 'it' : 'them'} ${notRun === 1 ? 'was' : 'were'} not run`;
  const said = failed.slice(0, 5).map((action) => summaryOf([action], whyNot(action)));
  const more = failed.length > said.length ? `; and ${failed.length - said.length} more` : '';
  const [first] = failed;
  return [
    `${failed.length} of ${actions.length === 1 ? '1 action' : `${actions.length} actions`} failed${notRun > 0 ? behind : ''}.`,
    `${said.join('; ')}${more}.`,
    ...(first ? [`Mend the cause, then: ${retryCommand(chain, first.index)}`] : []),
  ].join(' ');
}

function retryCommand({ companyId, chainId }: ChainRef, index: number): string {
  return `npx relay retry ${companyId} ${chainId} ${index}`;
}

const detailsBytes = 19_800; // Temporal takes 20,000, as payloads too.
const rowBytes = 35; // What a row takes beside its cells.
/** An em space. Some renderers give cells no padding, and their texts would run together. */
const gap = '\u2003';
const notedActions = 3; // Failed or held, explained above the table.

/** What a chain, or a group of its delayed actions, asks for: static details. */
export function chainDetails(chain: ChainRef & Pick<Chain, 'receivedAt'>, actions: readonly ChainAction[]): string {
  const what = `Chain ${chain.chainId} of ${escapeMarkdown(chain.companyId)}, received ${shownTime(chain.receivedAt)}.`;
  const head = `${what} How it stands is under **Current Details**.`;
  const rows = actions.map((action) => [String(action.index), escapeMarkdown(named(action)), when(action), asked(action)]);
  return withTable(head, ['#', 'Action', 'When', 'With'], rows);
}

/** How they stand. @param ignored - signals that had no effect. */
export function currentDetails(chain: ChainRef, actions: readonly ActionStatus[], ignored: readonly string[] = []): string {
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

function note(chain: ChainRef, action: ActionStatus): string {
  const { index, state, reason, nextAttemptAt, heldUntil } = action;
  const words = (why = '') => escapeMarkdown(fitBytes(why, 600));
  if (state === 'failed')
    return `**Action ${index} failed:** ${words(whyNot(action))}. Mend the cause, then: \`${retryCommand(chain, index)}\``;
  return [
    `**Action ${index} needs attention:** ${words(whyNot(action))}.`,
    nextAttemptAt
      ? `The relay tries it again by itself at ${shownTime(nextAttemptAt)}.`
      : 'Nothing is tried by itself: mend the cause first.',
    `To decide, open More Actions, Send a Signal: ${reason ? '' : '`retry` tries it again, '}\`skip\` goes on without it; input \`[${index}]\`.`,
    ...(heldUntil ? [`Without a decision it fails at ${shownTime(heldUntil)}.`] : []),
  ].join(' ');
}

function remark(action: ActionStatus): string {
  const { state, runAt, nextAttemptAt, result, reason, error, steered } = action;
  const by = steered?.at(-1);
  const again = nextAttemptAt && shownTime(nextAttemptAt);
  const standing: Partial<Record<ActionState, unknown[]>> = {
    scheduled: [runAt && `due ${shownTime(runAt)}`],
    retrying: [whyNot(action), again && `tried again from ${again} on`],
    'needs-attention': [whyNot(action), again && `tried again at ${again}`],
    failed: [whyNot(action)],
    done: [result?.recipients !== undefined && `reached ${result.recipients}`, error && `before that: ${error.message}`],
  };
  return escapeMarkdown([...(standing[state] ?? [reason]), by && `${by.verb} by ${by.by}`].filter(Boolean).join('; '));
}

function when({ delaySeconds, condition }: ChainAction): string {
  const time = delaySeconds ? `${delaySeconds} s after the event` : 'in its turn';
  return escapeMarkdown(condition ? `${time}, if ${conditionText(condition)}` : time);
}

/** Shown in other columns, or too long to show. */
const notAsked = ['action', 'index', 'comment', 'delaySeconds', 'condition', 'body', 'bodyHtml', 'sent'];

/** `groupIds 501, 502; radiusMiles 25`. */
function asked(action: ChainAction): string {
  const fields = Object.entries(action).filter(([name, value]) => value !== undefined && !notAsked.includes(name));
  return escapeMarkdown(fields.map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(', ') : value}`).join('; '));
}

/** The text with everything escaped that Markdown or the Web UI (`{workflowId}`, addresses) would interpret. */
function escapeMarkdown(text: string): string {
  return oneLine(text).replace(/[\\`*_{}[\]<>#|~$&]|:(?=\/\/)/g, '\\$&');
}

/**
 * A paragraph and a table that fit in the details: many rows have short cells. The last line is blank: the Web UI cuts it off.
 */
function withTable(head: string, titles: string[], rows: string[][]): string {
  const room = (detailsBytes - jsonBytes(head) - 200) / rows.length;
  const cellBytes = Math.min(600, (room - rowBytes) / (titles.length - 1));
  const line = (cells: string[]) => `| ${cells.map((cell) => `${cell}${gap}`).join(' | ')} |`;
  const cut = rows.map((cells) => line(cells.map((cell) => fitBytes(cell, cellBytes).replace(/\\…$/, '…'))));
  return [...(head ? [head, ''] : []), line(titles), `|${':--|'.repeat(titles.length)}`, ...cut, '', gap].join('\n');
}
