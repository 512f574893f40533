/** A notice about a rule rather than about a chain: a request that was refused, a condition that asks for what is not there, actions that wait for a pause. */

import { chainUrl } from '../chain/chain.js';
import { pauseText } from '../chain/pause.js';
import type { Pause } from '../chain/pause-schema.js';
import type { Issue } from '../chain/request.js';
import { shownTime } from '../chain/summary.js';
import { cutShort, oneLine } from '../chain/text.js';
import type { RejectionReason } from '../contract/rejected-request.js';
import { urlOption } from './chain-notice.js';
import { type NoticeText, noticeText, type Section } from './notice-text.js';

interface AboutRule {
  companyId: string;
  relayId: string;
  /** When it happened; ISO 8601, UTC. */
  at: string;
}

/** A request of the rule was refused. */
export interface RejectedNotice extends AboutRule {
  kind: 'rejected';
  rejectedId: string;
  reason: RejectionReason;
  /** What was wrong, at its place in the request; at least one. */
  mistakes: Issue[];
}

/** A condition of the rule asks for a property that the assignment does not have. */
export interface MissingPropertyNotice extends AboutRule {
  kind: 'missing-property';
  chainId: string;
  index: number;
  assignmentId: string;
  /** `location.zipp`. */
  path: string;
}

/** Actions of the rule wait for the end of a pause, which began at `at`. */
export interface PausedNotice extends AboutRule, Omit<Pause, 'since'> {
  kind: 'paused';
}

export type RuleNotice = RejectedNotice | MissingPropertyNotice | PausedNotice;

/** What such a notice does not carry and its reader needs. */
export interface RuleNoticeContext {
  companyName: string;
  ruleName: string;
  /** Address of the API. */
  apiUrl: string;
}

/** Puts a notice about a rule into words. */
export function renderRuleNotice(notice: RuleNotice, context: RuleNoticeContext): NoticeText {
  const words = wordsOf(notice, context);
  const subject = cutShort(oneLine(`[relay] ${words.headline} (${context.ruleName})`), 180);
  const sections: Section[] = [
    { lines: [words.sentence] },
    { title: 'What was wrong', lines: words.wrong },
    {
      title: 'Where',
      lines: [
        `Company: ${oneLine(context.companyName)} (${notice.companyId})`,
        `Rule: ${oneLine(context.ruleName)} (${notice.relayId})`,
        `Happened: ${shownTime(notice.at)}`,
        ...words.where,
      ],
    },
    { title: 'To put it right', lines: words.whatToDo },
    { title: 'How often you hear of it', lines: [words.often] },
  ];
  return noticeText(subject, sections, {
    type: `relay.${notice.kind}`,
    text: subject,
    company: { companyId: notice.companyId, name: context.companyName },
    rule: { relayId: notice.relayId, name: context.ruleName },
    ...notice,
  });
}

interface Words {
  headline: string;
  sentence: string;
  wrong: string[];
  where: Section['lines'];
  whatToDo: string[];
  often: string;
}

function wordsOf(notice: RuleNotice, context: RuleNoticeContext): Words {
  switch (notice.kind) {
    case 'rejected':
      return rejectedWords(notice, context);
    case 'missing-property':
      return missingWords(notice, context);
    case 'paused':
      return pausedWords(notice, context);
  }
}

/** Mistakes beyond these are only counted. */
const shownMistakes = 20;

const headlines: Record<RejectionReason, string> = {
  'invalid-chain': 'Refused: the chain is invalid',
  'idempotency-key': 'Refused: unusable idempotency key',
  'idempotency-key-reused': 'Refused: idempotency key used again',
  'token-expired': 'Refused: the token was rotated',
  'token-revoked': 'Refused: the token was revoked',
  'rule-disabled': 'Refused: the rule is disabled',
  signature: 'Refused: the signature is missing or wrong',
  'rate-limited': 'Refused: too many requests',
};

const remedies: Record<RejectionReason, string> = {
  'invalid-chain': 'Mend the actions in the settings of the webhook.',
  'idempotency-key': 'Let the webhook send one key, in Idempotency-Key or in webhook-id, and a new one for each event.',
  'idempotency-key-reused': 'Let the webhook send a new key for each event: with this one, only the first event runs.',
  'token-expired': 'Put the newest token of the rule into the settings of the webhook.',
  'token-revoked':
    'Put the newest token of the rule into the settings of the webhook. Whoever else has this one is refused as well.',
  'rule-disabled': 'Enable the rule, or switch the webhook off.',
  signature: 'Let the webhook sign with the webhookSecret of the company, or remove the secret if it cannot sign.',
  'rate-limited': 'Spread the events out, or ask the operator for a higher rate.',
};

function rejectedWords({ companyId, rejectedId, reason, mistakes }: RejectedNotice, { apiUrl }: RuleNoticeContext): Words {
  const more = mistakes.length - shownMistakes;
  const url = urlOption(apiUrl);
  const again = `npx relay rejected resend ${companyId} ${rejectedId}${url}`;
  return {
    headline: headlines[reason],
    sentence: 'A request of this rule was refused. Nothing of it has run.',
    wrong: [
      ...mistakes.slice(0, shownMistakes).map(({ pointer, detail }) => oneLine(`${pointer || 'the request'} ${detail}`)),
      ...(more > 0 ? [`and ${more} more`] : []),
    ],
    where: [{ label: 'Rejected request, with a token', url: `${apiUrl}/co/${companyId}/rejected/${rejectedId}` }],
    whatToDo: [
      remedies[reason],
      'The refused requests are kept for a while. To see them:',
      `npx relay rejected list ${companyId}${url}`,
      ...(reason === 'invalid-chain'
        ? [
            'What is invalid stays invalid when it is sent again: take the request from the address above, mend it, and send that.',
          ]
        : ['To run this one after all, with its delays counted from then:', again]),
    ],
    often: 'Further requests with the same mistake are kept too; you are told once an hour.',
  };
}

function missingWords(notice: MissingPropertyNotice, { apiUrl }: RuleNoticeContext): Words {
  const { index, assignmentId, path } = notice;
  return {
    headline: `No such property: ${path}`,
    sentence: `A condition of this rule asks for ${path}, which the assignment does not have.`,
    wrong: [
      `${path}: no such property of assignment ${oneLine(assignmentId)}, asked for by action ${index}.`,
      'What is not there equals nothing: == does not hold, != does.',
    ],
    where: [{ label: 'Chain resource, with a token', url: chainUrl(apiUrl, notice) }],
    whatToDo: [
      'Compare the name in actionCondition with the assignment as the platform shows it; capital letters count. If not every assignment has the property, there is nothing to mend.',
    ],
    often: 'You are told once a day for this rule and property.',
  };
}

function pausedWords({ companyId, at, what, until, reason }: PausedNotice, { apiUrl }: RuleNoticeContext): Words {
  const pause = { what, since: at, ...(until !== undefined && { until }), ...(reason !== undefined && { reason }) };
  return {
    headline: 'Paused: actions wait',
    sentence: 'Actions of this rule wait, because the operator has paused what they need. Nothing of them is lost.',
    wrong: [
      pauseText(pause),
      'When the pause is over they go on by themselves, in their order, their conditions looked at anew.',
    ],
    where: [{ label: 'Waiting chains, with a token', url: `${apiUrl}/co/${companyId}/chains?paused=true` }],
    whatToDo: ['Nothing has to be done. To see what waits:', `npx relay chains list ${companyId} --paused${urlOption(apiUrl)}`],
    often: 'You are told once for this rule and pause.',
  };
}
