/** The words of notices about a rule: a request that was refused, a property that is not there, actions that wait for a pause. */

import { pauseText } from '../chain/pause.js';
import { oneLine } from '../chain/text.js';
import { shownTime } from '../chain/web-ui.js';
import type { RejectedNotice, RuleNotice } from '../contract/notices.js';
import type { RejectionReason } from '../contract/problem.js';
import { chainLink, concerned, type NoticeContext, relay, type Words } from './words.js';

/** Mistakes beyond these are only counted. */
const shownMistakes = 20;

const newestToken = 'Put the newest token of the rule into the settings of the webhook.';

/** Why a request was refused, and what to do. */
const refusals: Record<RejectionReason, { why: string; remedy: string }> = {
  'invalid-chain': { why: 'the chain is invalid', remedy: 'Mend the actions in the settings of the webhook.' },
  'idempotency-key': {
    why: 'unusable idempotency key',
    remedy: 'Let the webhook send one key, in Idempotency-Key or in webhook-id, and a new one for each event.',
  },
  'idempotency-key-reused': {
    why: 'idempotency key used again',
    remedy: 'Let the webhook send a new key for each event: with this one, only the first event runs.',
  },
  'token-expired': { why: 'the token was rotated', remedy: newestToken },
  'token-revoked': { why: 'the token was revoked', remedy: `${newestToken} Whoever else has this one is refused as well.` },
  'rule-disabled': { why: 'the rule is disabled', remedy: 'Enable the rule, or switch the webhook off.' },
  signature: {
    why: 'the signature is missing or wrong',
    remedy: 'Let the webhook sign with the webhookSecret of the company, or remove the secret if it cannot sign.',
  },
  'rate-limited': { why: 'too many requests', remedy: 'Spread the events out, or ask the operator for a higher rate.' },
};

export function ruleWords(notice: RuleNotice, context: NoticeContext): Words {
  const { headline, sentence, wrong, link, remedy, often } = partsOf(notice, context);
  return {
    headline,
    about: context.ruleName,
    sentence,
    sections: {
      'What was wrong': wrong,
      Where: [...concerned(notice, context), `Happened: ${shownTime(notice.at)}`, link],
      'To put it right': remedy,
      'How often you hear of it': [often],
    },
    facts: notice,
  };
}

function partsOf(notice: RuleNotice, context: NoticeContext) {
  const { kind, companyId, at } = notice;
  switch (kind) {
    case 'rejected':
      return rejectedWords(notice, context);
    case 'missing-property': {
      const { index, assignmentId, path } = notice;
      return {
        headline: `No such property: ${path}`,
        sentence: `A condition of this rule asks for ${path}, which the assignment does not have.`,
        wrong: [
          `${path}: no such property of assignment ${oneLine(assignmentId)}, asked for by action ${index}.`,
          'What is not there equals nothing: == does not hold, != does.',
        ],
        link: chainLink(notice, context),
        remedy: [
          'Compare the name in actionCondition with the assignment as the platform shows it; capital letters count. ' +
            'If not every assignment has the property, there is nothing to mend.',
        ],
        often: 'You are told once a day for this rule and property.',
      };
    }
    case 'paused':
      return {
        headline: 'Paused: actions wait',
        sentence: 'Actions of this rule wait, because the operator has paused what they need. Nothing of them is lost.',
        wrong: [
          pauseText({ ...notice, since: at }),
          'When the pause is over they go on by themselves, in their order, their conditions looked at anew.',
        ],
        link: { label: 'Waiting chains, with a token', url: `${context.links.api}/co/${companyId}/chains?paused=true` },
        remedy: ['Nothing has to be done. To see what waits:', relay(`chains list ${companyId} --paused`, context)],
        often: 'You are told once for this rule and pause.',
      };
  }
}

function rejectedWords({ companyId, rejectedId, reason, mistakes }: RejectedNotice, context: NoticeContext) {
  const { why, remedy } = refusals[reason];
  const more = mistakes.length - shownMistakes;
  const again =
    reason === 'invalid-chain'
      ? ['What is invalid stays invalid when it is sent again: take the request from the address above, mend it, and send that.']
      : [
          'To run this one after all, with its delays counted from then:',
          relay(`rejected resend ${companyId} ${rejectedId}`, context),
        ];
  return {
    headline: `Refused: ${why}`,
    sentence: 'A request of this rule was refused. Nothing of it has run.',
    wrong: [
      ...mistakes.slice(0, shownMistakes).map(({ pointer, detail }) => oneLine(`${pointer || 'the request'} ${detail}`)),
      ...(more > 0 ? [`and ${more} more`] : []),
    ],
    link: { label: 'Rejected request, with a token', url: `${context.links.api}/co/${companyId}/rejected/${rejectedId}` },
    remedy: [
      remedy,
      'The refused requests are kept for a while. To see them:',
      relay(`rejected list ${companyId}`, context),
      ...again,
    ],
    often: 'Further requests with the same mistake are kept too; you are told once an hour.',
  };
}
