/** One line about a chain, an action, a timer or an activity, as the Temporal Web UI shows it without opening a payload. */

import type { ActionStatus } from './action-status.js';
import type { Chain, ChainAction } from './chain.js';
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
  const comment = oneLine(action.comment ?? '');
  return fitBytes(`${action.index} ${action.action}${comment && `: ${comment}`}`, summaryBytes - 50);
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
