/** What the Temporal Web UI shows of a chain without opening a payload: one-line summaries and a small table. */

import type { Chain, ChainAction } from './chain.js';
import type { ActionStatus } from './outcome.js';
import { fitBytes, oneLine } from './text.js';

/** Temporal takes summaries of 400 bytes and details of 20,000, as payloads: less than that leaves room for the payload's metadata. */
const summaryBytes = 350;
const detailsBytes = 19_900;

/** `2 sendEmails: tell the manager`: an action in one line, short enough for a summary that says a few words more. */
export function actionTitle(action: Pick<ActionStatus, 'index' | 'action' | 'comment'>): string {
  const comment = oneLine(action.comment ?? '');
  return fitBytes(`${action.index} ${action.action}${comment && `: ${comment}`}`, summaryBytes - 50);
}

/** A workflow's static summary. */
export function chainSummary(chain: Pick<Chain, 'companyId'>, actions: readonly ChainAction[]): string {
  const assignments = [...new Set(actions.flatMap(({ assignmentId }) => assignmentId ?? []))];
  const about = assignments.length > 0 ? `, assignment ${oneLine(assignments.join(', '))}` : '';
  return fitBytes(`${chain.companyId}: ${actions.length === 1 ? '1 action' : `${actions.length} actions`}${about}`, summaryBytes);
}

/** The actions as they stand, as a Markdown table; the more they are, the shorter the comment and the remark of each. */
export function actionTable(actions: readonly ActionStatus[]): string {
  const cellBytes = Math.min(240, (detailsBytes / actions.length - 70) / 2);
  const cell = (text: string) => fitBytes(oneLine(text.replaceAll('|', ' ')), cellBytes);
  const rows = actions.map((action) => {
    const remark = action.reason ?? action.error?.message ?? (action.runAt && !action.endedAt ? `due ${action.runAt}` : '');
    return `| ${action.index} | ${action.action} | ${cell(action.comment ?? '')} | ${action.state} | ${cell(remark)} |`;
  });
  return ['| # | Action | Comment | State | Remark |', '|---|---|---|---|---|', ...rows].join('\n');
}
