/** The words of notices about a rule: a request that was refused, a property that is not there, actions that wait for a pause. */

import { pauseText } from '../chain/pause.js';
import { oneLine } from '../chain/text.js';
import type { MissingPropertyNotice, PausedNotice, RejectedNotice, RuleNotice } from '../contract/notices.js';
import type { RejectionReason } from '../contract/rejected-request.js';
import { chainLink, type NoticeContext, relay, type Words } from './words.js';

/** Mistakes beyond these are only counted. */
const shownMistakes = 20;

const refusals: Record<RejectionReason, string> = {
  'invalid-chain': 'the chain is invalid',
  'idempotency-key': 'unusable idempotency key',
  'idempotency-key-reused': 'idempotency key used again',
  'token-expired': 'the token was rotated',
  'token-revoked': 'the token was revoked',
  'rule-disabled': 'the rule is disabled',
  signature: 'the signature is missing or wrong',
  'rate-limited': 'too many requests',
};

const newestToken = 'Put the newest token of the rule into the settings of the webhook.';

const remedies: Record<RejectionReason, string> = {
  'invalid-chain': 'Mend the actions in the settings of the webhook.',
  'idempotency-key': 'Let the webhook send one key, in Idempotency-Key or in webhook-id, and a new one for each event.',
  'idempotency-key-reused': 'Let the webhook send a new key for each event: with this one, only the first event runs.',
  'token-expired': newestToken,
  'token-revoked': `${newestToken} Whoever else has this one is refused as well.`,
  'rule-disabled': 'Enable the rule, or switch the webhook off.',
  signature: 'Let the webhook sign with the webhookSecret of the company, or remove the secret if it cannot sign.',
  'rate-limited': 'Spread the events out, or ask the operator for a higher rate.',
};

interface RuleWords extends Pick<Words, 'headline' | 'sentence' | 'links'> {
  wrong: string[];
  remedy: string[];
  often: string;
}

export function ruleWords(notice: RuleNotice, context: NoticeContext): Words {
  const { wrong, remedy, often, ...words } = wordsOf(notice, context);
  return {
    ...words,
    about: context.ruleName,
    relayId: notice.relayId,
    sections: [{ title: 'What was wrong', lines: wrong }],
    end: [
      { title: 'To put it right', lines: remedy },
      { title: 'How often you hear of it', lines: [often] },
    ],
    facts: notice,
  };
}

function wordsOf(notice: RuleNotice, context: NoticeContext): RuleWords {
  switch (notice.kind) {
    case 'rejected':
      return rejectedWords(notice, context);
    case 'missing-property':
      return missingWords(notice, context);
    case 'paused':
      return pausedWords(notice, context);
  }
}

function rejectedWords({ companyId, rejectedId, reason, mistakes }: RejectedNotice, context: NoticeContext): RuleWords {
  const more = mistakes.length - shownMistakes;
  const again =
    reason === 'invalid-chain'
      ? ['What is invalid stays invalid when it is sent again: take the request from the address above, mend it, and send that.']
      : [
          'To run this one after all, with its delays counted from then:',
          relay(`rejected resend ${companyId} ${rejectedId}`, context),
        ];
  return {
    headline: `Refused: ${refusals[reason]}`,
    sentence: 'A request of this rule was refused. Nothing of it has run.',
    wrong: [
      ...mistakes.slice(0, shownMistakes).map(({ pointer, detail }) => oneLine(`${pointer || 'the request'} ${detail}`)),
      ...(more > 0 ? [`and ${more} more`] : []),
    ],
    links: [{ label: 'Rejected request, with a token', url: `${context.apiUrl}/co/${companyId}/rejected/${rejectedId}` }],
    remedy: [
      remedies[reason],
      'The refused requests are kept for a while. To see them:',
      relay(`rejected list ${companyId}`, context),
      ...again,
    ],
    often: 'Further requests with the same mistake are kept too; you are told once an hour.',
  };
}

function missingWords(notice: MissingPropertyNotice, context: NoticeContext): RuleWords {
  const { index, assignmentId, path } = notice;
  return {
    headline: `No such property: ${path}`,
    sentence: `A condition of this rule asks for ${path}, which the assignment does not have.`,
    wrong: [
      `${path}: no such property of assignment ${oneLine(assignmentId)}, asked for by action ${index}.`,
      'What is not there equals nothing: == does not hold, != does.',
    ],
    links: [chainLink(notice, context)],
    remedy: [
      'Compare the name in actionCondition with the assignment as the platform shows it; capital letters count. ' +
        'If not every assignment has the property, there is nothing to mend.',
    ],
    often: 'You are told once a day for this rule and property.',
  };
}

function pausedWords({ companyId, at, what, until, reason }: PausedNotice, context: NoticeContext): RuleWords {
  return {
    headline: 'Paused: actions wait',
    sentence: 'Actions of this rule wait, because the operator has paused what they need. Nothing of them is lost.',
    wrong: [
      pauseText({ what, since: at, until, reason }),
      'When the pause is over they go on by themselves, in their order, their conditions looked at anew.',
    ],
    links: [{ label: 'Waiting chains, with a token', url: `${context.apiUrl}/co/${companyId}/chains?paused=true` }],
    remedy: ['Nothing has to be done. To see what waits:', relay(`chains list ${companyId} --paused`, context)],
    often: 'You are told once for this rule and pause.',
  };
}
