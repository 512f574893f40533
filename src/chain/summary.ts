/** What the Temporal Web UI shows of a chain without opening a payload: one-line summaries and a small table. */

import type { Chain, ChainAction } from './chain.js';
import type { ActionStatus } from './outcome.js';
import { cutShort } from './text.js';

/** `2 sendEmails: tell the manager`: an action in one line, at most 200 characters. */
export function actionTitle(action: Pick<ActionStatus, 'index' | 'action' | 'comment'>): string {
  return cutShort(`${action.index} ${action.action}${action.comment ? `: ${action.comment.replaceAll(/\s+/g, ' ')}` : ''}`);
}

/** A workflow's static summary: at most 400 bytes in the Web UI, so at most 130 characters. */
export function chainSummary(chain: Pick<Chain, 'companyId'>, actions: readonly ChainAction[]): string {
  const assignments = [...new Set(actions.flatMap(({ assignmentId }) => assignmentId ?? []))];
  const about = assignments.length > 0 ? `, assignment ${assignments.join(', ')}` : '';
  return cutShort(`${chain.companyId}: ${actions.length === 1 ? '1 action' : `${actions.length} actions`}${about}`, 130);
}

/** The actions as they stand, as a Markdown table. */
export function actionTable(actions: readonly ActionStatus[]): string {
  const cell = (text: string) => cutShort(text, 120).replaceAll(/[\s|]+/g, ' ');
  const rows = actions.map((action) => {
    const remark = action.reason ?? action.error?.message ?? (action.runAt && !action.endedAt ? `due ${action.runAt}` : '');
    return `| ${action.index} | ${action.action} | ${cell(action.comment ?? '')} | ${action.state} | ${cell(remark)} |`;
  });
  return ['| # | Action | Comment | State | Remark |', '|---|---|---|---|---|', ...rows].join('\n');
}
