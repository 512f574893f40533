/** The columns of exports for people: headings in words, and times in the time zone of the company. */

import { chainPage } from '../chain/chain.js';
import { failureWords } from '../chain/failure-words.js';
import { timesIn } from '../chain/timestamp/local.js';
import { outcomeWords } from '../chain/tried-text.js';
import { labelled } from '../chain/words.js';
import type { AuditEntry } from '../contract/audit.js';
import { auditSentence } from '../contract/audit-words.js';
import type { ListedChain } from '../contract/chain-resource.js';
import type { Company } from '../contract/company.js';
import { callerWords } from '../contract/role-words.js';
import type { StoredEvent } from '../contract/rule-event.js';

/** The value of each column, by heading. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => unknown>>;

export interface SheetOf {
  company: Pick<Company, 'companyId' | 'timeZone'>;
  ruleName(relayId: string): string;
  /** The address of the relay, for links to its pages. */
  api: string;
}

/** A spreadsheet reads times such as `2026-07-01 04:30:00` as times, so the heading has the time zone. */
function timesOf({ timeZone }: SheetOf['company']) {
  const at = timesIn(timeZone);
  return { time: (iso = '') => at(iso).slice(0, 19), heading: (words: string) => `${words} (${timeZone})` };
}

export function chainSheet({ company, ruleName, api }: SheetOf): Columns<ListedChain> {
  const { time, heading } = timesOf(company);
  return {
    Assignment: ({ assignmentIds }) => assignmentIds,
    Rule: ({ relayIds }) => relayIds.map(ruleName),
    [heading('Received')]: ({ receivedAt }) => time(receivedAt),
    [heading('Closed')]: ({ closedAt }) => time(closedAt),
    Status: ({ status }) => status.replaceAll('-', ' '),
    Technicians: ({ nobodyFound }) => nobodyFound && 'nobody found',
    Pause: ({ paused }) => paused && 'waits for the end of a pause',
    Problem: ({ failureTypes = [] }) => failureTypes.map(failureWords),
    Page: ({ chainId }) => chainPage(api, { ...company, chainId }),
  };
}

export function eventSheet({ company, ruleName, api }: SheetOf): Columns<Omit<StoredEvent, 'hash'>> {
  const { time, heading } = timesOf(company);
  return {
    [heading('Received')]: ({ receivedAt }) => time(receivedAt),
    Assignment: ({ assignmentId }) => assignmentId,
    Rule: ({ relayId }) => ruleName(relayId),
    Result: ({ outcome }) => outcomeWords[outcome],
    Reason: ({ reason }) => reason && labelled(reason),
    Version: ({ version }) => version,
    'Page of the chain': ({ chainId }) => chainId && chainPage(api, { ...company, chainId }),
    Event: ({ body }) => body,
  };
}

export function auditSheet({ company, ruleName, api }: SheetOf): Columns<AuditEntry> {
  const { time, heading } = timesOf(company);
  return {
    [heading('Time')]: ({ at }) => time(at),
    Who: ({ actor }) => callerWords(actor),
    What: ({ action, details }) => auditSentence(action, details, ruleName),
    Reason: ({ details }) => details.reason,
    'Page of the chain': ({ details: { chainId } }) => chainId && chainPage(api, { ...company, chainId: String(chainId) }),
  };
}
