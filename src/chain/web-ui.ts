/**
 * Summaries (one line) and details (Markdown) for the Temporal Web UI. A company's text must never become markup. Only
 * paragraphs, bold, code and tables look right in all versions of the Web UI.
 */

import type { ActionStatus } from './action-status.js';
import type { Chain, ChainAction, ChainRef } from './chain.js';
import { conditionText } from './condition.js';
import { isObject } from './fields.js';
import { type ActionState, isToRedo, retryHelps } from './outcome.js';
import { counted, fitBytes, jsonBytes, oneLine } from './text.js';

/** Temporal's limit is 400 bytes of payload; encryption adds up to 151, including the key id. */
export const summaryBytes = 245;
const labelsBytes = 150; // reserved for the names of the actions
const labelBytes = 80; // the limit for each action, because the Web UI's timeline cuts long lines

type Titled = Pick<ActionStatus, 'index' | 'action' | 'comment'>;

/** For example `Action 2, sendEmails: tell the manager`. The title is short, so that a summary has space for other text. */
export const actionTitle = (action: Titled) => fitBytes(`Action ${action.index}, ${named(action)}`, summaryBytes - 50);

const named = ({ action, comment = '' }: Omit<Titled, 'index'>) => [action, oneLine(comment)].filter(Boolean).join(': ');
const label = ({ action, comment = '' }: Omit<Titled, 'index'>) => fitBytes(oneLine(comment) || action, labelBytes);

/** For example `2 tell the manager: needs attention until …`. @param doing - the part after the colon. */
export function summaryOf(actions: readonly Titled[], doing = ''): string {
  const words = doing && `: ${oneLine(doing)}`;
  const labels = actions.map((action) => `${action.index} ${label(action)}`).join(', ');
  return fitBytes(`${fitBytes(labels, Math.max(labelsBytes, summaryBytes - jsonBytes(words)))}${words}`, summaryBytes);
}

/** If actions have failed, a workflow waits once more for retries before it closes. Returns the summary of this wait. */
export function lastSummary(actions: readonly ActionStatus[]): string {
  const failed = actions.filter(({ state }) => isToRedo(state));
  return summaryOf(failed, 'waits for retries one last time');
}

export function chainSummary(chain: Pick<Chain, 'companyId'>, actions: readonly ChainAction[]): string {
  const assignments = [...new Set(actions.flatMap(({ assignmentId }) => assignmentId ?? []))];
  const about = assignments.length > 0 ? `, assignment ${oneLine(assignments.join(', '))}` : '';
  const head = `${chain.companyId}: ${counted(actions.length, 'action')}${about}`;
  return unmarked(`${fitBytes(head, summaryBytes / 2)}: ${actions.map(label).join(', ')}`);
}

export const delayedSummary = (actions: readonly ChainAction[]) => unmarked(summaryOf(actions, actions[0] && time(actions[0])));

/** Removes Markdown, because the Web UI shows some static summaries as Markdown. */
const unmarked = (summary: string) => fitBytes(summary.replace(/[\\`*<>[\]{}$~|]|:(?=\/\/)/g, ''), summaryBytes);

/** Writes an ISO 8601 time as `2026-07-01 09:30:00 UTC`. */
export const shownTime = (iso: string) => `${iso.slice(0, 19).replace('T', ' ')} UTC`;

export const whyNot = ({ reason, error }: Pick<ActionStatus, 'reason' | 'error'>) =>
  [...new Set([error?.title, error?.message, reason])].filter((words) => words !== undefined).join('; ');

/** The message of a failed workflow: why its actions failed, and the next step. */
export function failureMessage(chain: ChainRef, actions: readonly ActionStatus[]): string {
  const failed = actions.filter(({ state }) => state === 'failed');
  const notRun = actions.filter(({ state }) => state === 'not-run').length;
  const behind = `, and ${counted(notRun, 'later action')} ${notRun === 1 ? 'was' : 'were'} not run`;
  const said = failed.slice(0, 5).map((action) => summaryOf([action], whyNot(action)));
  const more = failed.length > said.length ? `; and ${failed.length - said.length} more` : '';
  const [first] = failed;
  return [
    `${failed.length} of ${counted(actions.length, 'action')} failed${notRun > 0 ? behind : ''}.`,
    `${said.join('; ')}${more}.`,
    ...(first ? [`Fix the cause, then run: ${retryCommand(chain, first.index)}`] : []),
  ].join(' ');
}

const retryCommand = ({ companyId, chainId }: ChainRef, index: number) => `npx relay retry ${companyId} ${chainId} ${index}`;

const detailsBytes = 19_800; // Temporal's limit is 20,000 bytes of payload
const rowBytes = 35; // the size of a table row without the texts of its cells
const gap = '\u2003'; // an em space: some renderers give cells no padding
const notedActions = 3; // the number of failed or held actions that are explained above the table

/** The static details of a workflow: all actions of a chain, or one group of its delayed actions. */
export function chainDetails(chain: ChainRef & Pick<Chain, 'receivedAt'>, actions: readonly ChainAction[]): string {
  const what = `Chain ${chain.chainId} of ${escapeMarkdown(chain.companyId)}, received ${shownTime(chain.receivedAt)}.`;
  const head = `${what} Its current state is under **Current Details**.`;
  const rows = actions.map((action) => [String(action.index), escapeMarkdown(named(action)), when(action), asked(action)]);
  return withTable(head, ['#', 'Action', 'When', 'With'], rows);
}

/** The current states of the actions. @param ignored - signals that had no effect. */
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
  const { index, state, reason, error, nextAttemptAt, heldUntil } = action;
  const words = (why = '') => escapeMarkdown(fitBytes(why, 600));
  const edit = `\`mend\` with input \`[${index}, {"field": "value"}]\` edits the action and tries it again, `;
  const again = reason ? '' : `${retryHelps(action) ? '' : edit}\`retry\` tries the action again, `;
  const toDo = error?.remedy ? `**What to do:** ${words(error.remedy)}. ` : '';
  if (state === 'failed')
    return `**Action ${index} failed:** ${words(whyNot(action))}. ${toDo ? `${toDo}To retry` : 'Fix the cause, then run'}: \`${retryCommand(chain, index)}\``;
  return [
    `**Action ${index} needs attention:** ${words(whyNot(action))}. ${toDo}`.trimEnd(),
    nextAttemptAt
      ? `The relay tries the action again by itself at ${shownTime(nextAttemptAt)}.`
      : 'The relay does not try the action again by itself: fix the cause first.',
    `To decide, open More Actions, then Send a Signal: ${again}\`skip\` continues without the action. The input of ${again && '`retry` and '}\`skip\` is \`[${index}]\`.`,
    ...(heldUntil ? [`Without a decision, the action fails at ${shownTime(heldUntil)}.`] : []),
  ].join(' ');
}

function remark(action: ActionStatus): string {
  const { state, runAt, nextAttemptAt, result, reason, error, steered } = action;
  const by = steered?.at(-1);
  const again = nextAttemptAt && shownTime(nextAttemptAt);
  const standing: Partial<Record<ActionState, unknown[]>> = {
    scheduled: [runAt && `due ${shownTime(runAt)}`],
    retrying: [whyNot(action), again && `next try at ${again} or later`],
    'needs-attention': [whyNot(action), again && `next try at ${again}`],
    failed: [whyNot(action)],
    done: [
      result?.recipients !== undefined && `reached ${result.recipients}`,
      result?.note,
      error && `an earlier try failed: ${error.title ?? error.message}`,
    ],
  };
  return escapeMarkdown([...(standing[state] ?? [reason]), by && `${by.verb} by ${by.by}`].filter(Boolean).join('; '));
}

function when(action: ChainAction): string {
  const { condition } = action;
  return escapeMarkdown(condition ? `${time(action)}, if ${conditionText(condition)}` : time(action));
}

function time({ delaySeconds, dueAt }: ChainAction): string {
  if (dueAt !== undefined) return `at ${shownTime(dueAt)}`;
  return delaySeconds ? `${delaySeconds} s after the event` : 'in order';
}

/** The column `With` omits these fields: other columns show them, or they are too long. */
const notAsked = ['action', 'index', 'comment', 'delaySeconds', 'dueAt', 'body', 'bodyHtml', 'unfilled'];

/** For example `groupIds 501, 502; radiusMiles 25`. */
function asked(action: ChainAction): string {
  const fields = Object.entries(action).filter(
    ([name, value]) => value !== undefined && !isObject(value) && !notAsked.includes(name), // for example, `sent` is an object
  );
  return escapeMarkdown(fields.map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(', ') : value}`).join('; '));
}

/** Escapes texts that Markdown or the Web UI (`{workflowId}`, URLs) would interpret. */
const escapeMarkdown = (text: string) => oneLine(text).replace(/[\\`*_{}[\]<>#|~$&]|:(?=\/\/)/g, '\\$&');

/** With more rows, cells are shorter, so that all rows fit. The last line is blank, because the Web UI cuts off the last line. */
function withTable(head: string, titles: string[], rows: string[][]): string {
  const room = (detailsBytes - jsonBytes(head) - 200) / rows.length;
  const cellBytes = Math.min(600, (room - rowBytes) / (titles.length - 1));
  const line = (cells: string[]) => `| ${cells.map((cell) => `${cell}${gap}`).join(' | ')} |`;
  const cut = rows.map((cells) => line(cells.map((cell) => fitBytes(cell, cellBytes).replace(/\\…$/, '…'))));
  return [...(head ? [head, ''] : []), line(titles), `|${':--|'.repeat(titles.length)}`, ...cut, '', gap].join('\n');
}
