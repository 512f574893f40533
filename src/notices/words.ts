/** The words of notices about a rule, of digests, and of test notices. chain-words.ts has the words of notices about actions. */

import { chainPage, chainUrl, refusalPage } from '../chain/chain.js';
import { pauseText } from '../chain/pause.js';
import { capital, counted, cutShort, oneLine } from '../chain/text.js';
import { timesIn } from '../chain/timestamp/local.js';
import { forWebhooks, mistakeText, sentence } from '../chain/words.js';
import { actionOf } from '../contract/causes.js';
import type { DigestNotice, Joined, MissingPropertyNotice, Notice, PausedNotice, RejectedNotice } from '../contract/notices.js';
import { isQuota, needsConfirmation, type RejectionReason } from '../contract/problem.js';
import { isForTechnicians, refusalWords } from '../contract/rejection.js';
import { chainWords, manyWords, oneWithoutKey, throughWords } from './chain-words.js';
import { framed, type Line, type NoticeContext, type RenderedNotice, relay, type Words } from './frame.js';
import { quietWords, weeklyWords } from './quiet-words.js';

/** @throws RangeError if a notice about a chain names an action that is not in the chain. */
export const renderNotice = (notice: Notice | DigestNotice, context: NoticeContext): RenderedNotice =>
  framed(notice.kind === 'digest' ? digestWords(notice, context) : wordsOf(notice, context), notice, context);

const signInHint = 'The link opens the relay, where you sign in.';

/** The notice as an entry of a digest. */
export function joinedOf(notice: Notice, context: NoticeContext): Omit<Joined, 'noticeKey' | 'causeId' | 'count'> {
  const words = wordsOf(notice, context);
  const { headline, about = context.ruleName, type = notice.kind } = words;
  const [wrong] = words.wrong;
  const { url } = words.links?.[0] ?? { url: context.links.api };
  const { relayId = '', at } = notice;
  return {
    relayId,
    kind: type,
    at,
    title: cutShort(oneLine(`${headline}${about && ` (${about})`}`), 300),
    wrong: wrong && cutShort(oneLine(wrong), 500).replace(/\.$/, ''),
    url,
    held: heldOf(notice),
  };
}

function heldOf(notice: Notice): Joined['held'] {
  if (notice.kind !== 'needs-attention') return undefined;
  const { companyId, chainId, index, at } = notice;
  return { companyId, chainId, index, at, heldUntil: actionOf(notice).heldUntil };
}

function digestWords({ companyId, joined, at }: DigestNotice, context: NoticeContext): Words {
  const count = joined.reduce((sum, { count }) => sum + count, 0);
  const withoutKey = oneWithoutKey(context);
  const sections: Record<string, Line[]> = { [withoutKey]: [], 'Needs attention': [], Others: [] };
  for (const { title, wrong, count, url, held, kind } of joined) {
    const times = count > 1 ? ` (${count} notices, this is the first)` : '';
    const decide = held && context.holdLink?.(held);
    const label = `${title}${times}${wrong === undefined ? '' : `. ${wrong}`}`;
    const section = kind.startsWith('needs-attention') ? 'Needs attention' : 'Others';
    sections[decide === undefined ? section : withoutKey]?.push({ label, url: decide ?? url });
  }
  return {
    headline: `${counted(count, 'notice')} about ${counted(joined.length, 'problem')}`,
    about: context.companyName,
    title: `${counted(count, 'notice')} about ${counted(joined.length, 'problem')}`,
    place: [timesIn(context.timeZone)(at)],
    wrong: ['There were too many notices to send each one separately. The list below has the first notice about each problem.'],
    links: [{ label: 'Open all problems', url: `${context.links.api}/companies/${companyId}` }],
    hint: signInHint,
    sections,
    operator: [relay(`causes list ${companyId}`, context), relay(`bulk retry ${companyId}`, context)],
    facts: {
      notices: count,
      causes: joined.map(({ causeId, kind, title, wrong, count, relayId, at, url, held }) => ({
        ...{ causeId, type: `relay.${kind}`, text: title, wrong, count, relayId, at, url },
        chainId: held?.chainId,
        index: held?.index,
      })),
    },
  };
}

function wordsOf(notice: Notice, context: NoticeContext): Words {
  if (notice.kind === 'many') return manyWords(notice, context);
  if (notice.kind === 'through') return throughWords(notice, context);
  if (notice.kind === 'rejected') return rejectedWords(notice, context);
  if (notice.kind === 'missing-property') return missingWords(notice, context);
  if (notice.kind === 'paused') return pausedWords(notice, context);
  if (notice.kind === 'quiet') return quietWords(notice, context);
  if (notice.kind === 'weekly') return weeklyWords(notice, context);
  if (notice.kind !== 'test') return chainWords(notice, context);
  return {
    headline: `Test: notices of ${context.companyName} arrive here`,
    about: '',
    title: 'This is a test',
    place: [`Requested ${timesIn(context.timeZone)(notice.at)}`],
    wrong: ['Nothing is wrong, and you do not need to do anything.'],
    facts: {},
  };
}

/** A notice shows at most this many mistakes, and the number of further mistakes. */
const shownMistakes = 20;

const newestToken = 'put the newest token of the rule into the settings of the webhook.';

const moreLimits = 'Find out why the limit is reached. If the limit is too low, ask the operator for a higher limit.';

const remedies: Record<RejectionReason, string> = {
  'invalid-chain':
    'Open the request, correct the steps, and send the request again. If the mistake comes from the settings of the webhook, correct ' +
    'these settings, too.',
  'idempotency-key': 'Make the webhook send one key for each event, in the header Idempotency-Key or webhook-id.',
  'idempotency-key-reused':
    'Make the webhook send a new key for each event. If two events have the same key, only the first event runs.',
  'token-expired': `If your webhook sent the request, ${newestToken} If not, somebody else has the old token. It does not work any more.`,
  'token-revoked': `If your webhook sent the request, ${newestToken} If not, somebody else has the revoked token. It does not work any more.`,
  'rule-disabled': 'Enable the rule, or turn the webhook off.',
  signature:
    'The token is right, but the signature is missing or wrong. If your webhook sent the request, make the webhook sign all ' +
    'requests with the right key. If not, somebody else has the token: create a new token, then revoke the old token.',
  'rate-limited': 'Make the webhook send fewer requests in a minute, or ask the operator for a higher limit.',
  'actions-per-day': moreLimits,
  'recipients-per-day': moreLimits,
  'malformed-body':
    'Open the request. If the page proposes steps, check them, correct them if necessary, and send them. Otherwise, drop the request.',
  'not-actions': 'Make the webhook send a list of steps: [{"action": …}].',
  'body-too-large': 'Make the webhook send smaller requests. The page shows only the first 256 KiB of this request.',
  'unsupported-body': 'Make the webhook send JSON in UTF-8.',
  'wrong-token':
    'Ask the person who set up the webhook to check the token (relayAccessToken) of each step. Each rule has its own tokens. If all ' +
    'tokens in the template of the webhook are right, somebody probably wrote a step (“{"action": …”) into a text of a ticket. In this ' +
    'case, remove the field with this text from the template.',
  'event-unreadable':
    'Open the request: its page shows the mistake. Ask the person who set up the webhook to correct it. If the page proposes a corrected ' +
    'event, check this event and send it. If the page proposes no event, wait until the webhook is corrected. Then send the event again from the platform.',
  'event-refused': 'Correct the rule and publish it, or correct the event. Then send the event again.',
  'lists-refused':
    "Make the webhook send its event to the rule's “Address for your platform”. If the webhook must send a list, open “How the rule accepts events” on the page of the rule. Then choose “run the steps” for “If a webhook sends a list of steps”.",
  'open-chains': `Retry, skip or cancel the steps that need attention. ${moreLimits}`,
};

function rejectedWords(notice: RejectedNotice, context: NoticeContext): Words {
  const { companyId, rejectedId, reason, mistakes, at, mistake, inADay = 1, notKept } = notice;
  const [why, remedy] = [refusalWords[reason].replace(/^./, (first) => first.toLowerCase()), remedies[reason]];
  const more = mistakes.length - shownMistakes;
  const details = [
    ...mistakes
      .slice(0, shownMistakes)
      .map(({ pointer, detail }) =>
        mistake === undefined
          ? mistakeText({ pointer, detail: detail.replace(/ Nothing has run\.$/, '') }, whole(detail))
          : sentence(detail),
      ),
    ...(more > 0 ? [`And ${counted(more, 'more mistake')}.`] : []),
  ];
  const command = (verb: string) => relay(`rejected ${verb} ${companyId} ${rejectedId}`, context);
  const isSafe = reason !== 'invalid-chain' && mistake === undefined && !needsConfirmation(notice);
  return {
    headline: notKept === undefined ? `Refused: ${why}` : `Refused and not kept: ${why}`,
    title: `A request was refused: ${why}`,
    place: [timesIn(context.timeZone)(at)],
    wrong: [
      ...(isForTechnicians(reason) ? [] : details),
      ...(inADay > 1 ? [`${inADay} requests of this rule had this mistake within a day.`] : []),
      notKept === undefined
        ? 'Nothing has run.'
        : `The storage for refused requests of this rule is full. In the last day, the relay could not keep ${notKept > 0 ? counted(notKept, 'request') : 'some requests'}. To make space, send stored requests again, or drop them.`,
    ],
    toDo: [remedy],
    links: [{ label: 'Open the request', url: refusalPage(context.links.api, companyId, rejectedId) }],
    hint: `${signInHint} There you can read the request and decide about it.`,
    sections: {
      [forWebhooks]: isForTechnicians(reason) ? details : [],
      'How often you get this notice': [
        `For the same mistake, you get at most one notice ${isQuota(reason) ? 'a day' : 'an hour'}. You can see all refused requests in the relay.`,
      ],
    },
    ids: `Refused request ${rejectedId}`,
    operator: [
      command(isSafe ? 'resend' : 'show'),
      relay(`rejected list ${companyId}`, context),
      { label: 'The request in the API (you need a token)', url: `${context.links.api}/co/${companyId}/rejected/${rejectedId}` },
    ],
  };
}

const whole = (detail: string) => (/^[A-Z]/.test(detail) ? '' : 'The request');

function missingWords(notice: MissingPropertyNotice, { links, timeZone }: NoticeContext): Words {
  const { index, assignmentId, path, at, chainId } = notice;
  return {
    headline: `No such property: ${path}`,
    title: `An assignment has no property ${path}`,
    place: [`Assignment ${assignmentId}`, timesIn(timeZone)(at)],
    wrong: [
      `The condition of step ${index + 1} uses ${path}, but assignment ${oneLine(assignmentId)} has no such property.`,
      'If an assignment does not have the property, a step with “is” (==) does not run. A step with “is not” (!=) always runs.',
    ],
    toDo: [
      'Compare the name in “Only if” with the name on the platform: capital and small letters must be the same. ' +
        'If only some assignments have the property, you do not need to do anything.',
    ],
    links: [{ label: 'Open the chain', url: chainPage(links.api, notice) }],
    hint: signInHint,
    sections: { 'How often you get this notice': ['You get this notice once a day for this rule and property.'] },
    ids: `Chain ${chainId}, step ${index + 1}`,
    operator: [{ label: 'The chain in the API (you need a token)', url: chainUrl(links.api, notice) }],
  };
}

function pausedWords(notice: PausedNotice, context: NoticeContext): Words {
  const { companyId, at } = notice;
  const { timeZone, links } = context;
  return {
    headline: 'Paused: steps wait',
    title: 'Steps of this rule wait until a pause ends',
    place: [timesIn(timeZone)(at)],
    wrong: [
      capital(sentence(pauseText({ ...notice, since: at }, timesIn(timeZone)))),
      'Nothing is lost. When the pause ends, the steps run automatically. A step with a condition runs only if the condition is true at that time.',
    ],
    toDo: ['You do not need to do anything.'],
    links: [{ label: 'Open the waiting chains', url: `${links.api}/companies/${companyId}/chains?paused=true` }],
    hint: signInHint,
    sections: { 'How often you get this notice': ['You get this notice once for this rule during this pause.'] },
    operator: [relay(`chains list ${companyId} --paused`, context)],
  };
}
