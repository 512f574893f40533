/** A notice in words: here those about a rule, and tests; those about what chains did are in chain-words.ts. */

import { refusalPage } from '../chain/chain.js';
import { pauseText } from '../chain/pause.js';
import { oneLine } from '../chain/text.js';
import { shownTime } from '../chain/web-ui.js';
import type { MissingPropertyNotice, Notice, PausedNotice, RejectedNotice } from '../contract/notices.js';
import { isQuota, needsConfirmation, type RejectionReason } from '../contract/problem.js';
import { chainWords, manyWords, throughWords } from './chain-words.js';
import { chainPlaces, framed, type NoticeContext, type RenderedNotice, relay, type Words } from './frame.js';

/** @throws RangeError where a notice about a chain names an action that the chain does not have. */
export function renderNotice(notice: Notice, context: NoticeContext): RenderedNotice {
  return framed(wordsOf(notice, context), notice, context);
}

function wordsOf(notice: Notice, context: NoticeContext): Words {
  switch (notice.kind) {
    case 'many':
      return manyWords(notice, context);
    case 'through':
      return throughWords(notice, context);
    case 'rejected':
      return rejectedWords(notice, context);
    case 'missing-property':
      return missingWords(notice, context);
    case 'paused':
      return pausedWords(notice, context);
    case 'test':
      return {
        headline: `Test: notices of ${context.companyName} arrive here`,
        about: '',
        sentence: 'This is a test. Nothing is wrong, and nothing has to be done.',
        sections: { Where: [`Asked for: ${shownTime(notice.at)}`] },
        facts: {},
      };
    default:
      return chainWords(notice, context);
  }
}

/** Mistakes beyond these are only counted. */
const shownMistakes = 20;

const newestToken = 'Put the newest token of the rule into the settings of the webhook.';

const moreLimits = 'Look where so many come from; if they are meant, ask the operator for higher limits.';

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
  'token-expired': {
    why: 'the token was rotated',
    remedy: `If it is your webhook: ${newestToken} If not, somebody else has the old token.`,
  },
  'token-revoked': {
    why: 'the token was revoked',
    remedy: `Somebody uses a token that is dead. If it is your webhook: ${newestToken} If not, somebody else has the old token.`,
  },
  'rule-disabled': { why: 'the rule is disabled', remedy: 'Enable the rule, or switch the webhook off.' },
  signature: {
    why: 'the signature is missing or wrong',
    remedy:
      'Somebody has a token of yours and does not sign with the webhookSecret of the company. If it is your webhook: let it sign. ' +
      'If not, somebody else has the token: rotate it.',
  },
  'rate-limited': { why: 'too many requests', remedy: 'Spread the events out, or ask the operator for a higher rate.' },
  'actions-per-day': { why: 'no actions left today', remedy: moreLimits },
  'recipients-per-day': { why: 'no e-mail recipients left today', remedy: moreLimits },
  'open-chains': { why: 'too many open chains', remedy: `Retry, skip or cancel what is open and held. ${moreLimits}` },
};

function rejectedWords(notice: RejectedNotice, context: NoticeContext): Words {
  const { companyId, rejectedId, reason, mistakes, at } = notice;
  const { why, remedy } = refusals[reason];
  const more = mistakes.length - shownMistakes;
  const page = refusalPage(context.links.api, companyId, rejectedId);
  const invalid = 'What is invalid stays invalid when it is sent again: mend it and send it on its page.';
  const resend = [
    'To run this one after all, with its delays counted from then:',
    relay(`rejected resend ${companyId} ${rejectedId}`, context),
  ];
  const look = [
    'Look at what it would have done before you believe it:',
    relay(`rejected show ${companyId} ${rejectedId}`, context),
  ];
  return {
    headline: `Refused: ${why}`,
    sentence: 'A request of this rule was refused. Nothing of it has run.',
    sections: {
      'What was wrong': [
        ...mistakes.slice(0, shownMistakes).map(({ pointer, detail }) => oneLine(`${pointer || 'the request'} ${detail}`)),
        ...(more > 0 ? [`and ${more} more`] : []),
      ],
      Where: [
        `Happened: ${shownTime(at)}`,
        { label: 'Its page, with a key', url: page },
        { label: 'Rejected request, with a token', url: `${context.links.api}/co/${companyId}/rejected/${rejectedId}` },
      ],
      'To put it right': [
        remedy,
        'The refused requests are kept for a while. To see them:',
        relay(`rejected list ${companyId}`, context),
        ...(reason === 'invalid-chain' ? [invalid] : needsConfirmation(notice) ? look : resend),
      ],
      'How often you hear of it': [
        `Further requests with the same mistake are kept too; you are told once ${isQuota(reason) ? 'a day' : 'an hour'}.`,
      ],
    },
  };
}

function missingWords(notice: MissingPropertyNotice, { links }: NoticeContext): Words {
  const { index, assignmentId, path, at } = notice;
  return {
    headline: `No such property: ${path}`,
    sentence: `A condition of this rule asks for ${path}, which the assignment does not have.`,
    sections: {
      'What was wrong': [
        `${path}: no such property of assignment ${oneLine(assignmentId)}, asked for by action ${index}.`,
        'What is not there equals nothing: == does not hold, != does.',
      ],
      Where: [`Happened: ${shownTime(at)}`, ...chainPlaces(links, notice)],
      'To put it right': [
        'Compare the name in actionCondition with the assignment as the platform shows it; capital letters count. ' +
          'If not every assignment has the property, there is nothing to mend.',
      ],
      'How often you hear of it': ['You are told once a day for this rule and property.'],
    },
  };
}

function pausedWords(notice: PausedNotice, context: NoticeContext): Words {
  const { companyId, at } = notice;
  const waiting = `${context.links.api}/co/${companyId}/chains?paused=true`;
  return {
    headline: 'Paused: actions wait',
    sentence: 'Actions of this rule wait, because the operator has paused what they need. Nothing of them is lost.',
    sections: {
      'What was wrong': [
        pauseText({ ...notice, since: at }),
        'When the pause is over they go on by themselves, in their order, their conditions looked at anew.',
      ],
      Where: [`Happened: ${shownTime(at)}`, { label: 'Waiting chains, with a token', url: waiting }],
      'To put it right': ['Nothing has to be done. To see what waits:', relay(`chains list ${companyId} --paused`, context)],
      'How often you hear of it': ['You are told once for this rule and pause.'],
    },
  };
}
