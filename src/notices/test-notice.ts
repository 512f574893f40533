/** The notice that somebody asked for in order to see whether it arrives. */

import { shownTime } from '../chain/summary.js';
import { oneLine } from '../chain/text.js';
import { type NoticeText, noticeText } from './notice-text.js';

export interface TestNotice {
  companyId: string;
  /** Whose contacts get it beside the company's. */
  relayId?: string;
  /** ISO 8601, UTC. */
  at: string;
}

/** What became of it at one contact. */
export interface ContactResult {
  /** As a NoticeChannel shows it. */
  contact: string;
  delivered: boolean;
  error?: string;
}

export function renderTestNotice({ companyId, relayId, at }: TestNotice, companyName: string): NoticeText {
  const subject = oneLine(`[relay] Test: notices of ${companyName} arrive here`);
  return noticeText(
    subject,
    [
      { lines: ['This is a test. Nothing is wrong, and nothing has to be done.'] },
      {
        title: 'Where',
        lines: [
          `Company: ${oneLine(companyName)} (${companyId})`,
          ...(relayId === undefined ? [] : [`Rule: ${relayId}`]),
          `Asked for: ${shownTime(at)}`,
        ],
      },
    ],
    { type: 'relay.test', text: subject, at, company: { companyId, name: companyName }, ...(relayId && { rule: { relayId } }) },
  );
}
