/** One notice for many actions that failed for the same reason, and one when they are through. */

import { type Chain, chainUrl } from '../chain/chain.js';
import { shownTime } from '../chain/summary.js';
import { cutShort, oneLine } from '../chain/text.js';
import { urlOption } from './chain-notice.js';
import type { Batch, Digest, LedgerState, Member } from './digest.js';
import { type NoticeText, noticeText, type Section } from './notice-text.js';

/** What there is to tell of them. */
export type DigestNews =
  | ({ kind: 'many' } & Batch)
  | ({ kind: 'through' /** Actions of which nobody knows. */; open: number } & Pick<LedgerState, 'ended' | 'through' | 'since'>);

export type DigestNotice = DigestNews & {
  digest: Digest;
  /** When it was told; ISO 8601, UTC. */
  at: string;
};

export interface DigestNoticeContext {
  companyName: string;
  /** Address of the API. */
  apiUrl: string;
  /** A chain in Temporal's Web UI. */
  webUi(chain: Pick<Chain, 'companyId' | 'chainId'>, runId?: string): string | undefined;
}

const words = {
  'needs-attention': { headline: 'Needs attention', sentence: 'held, for the same reason.' },
  failed: { headline: 'Failed', sentence: 'with an action that failed, for the same reason. What is left of them goes on.' },
  'partly-failed': { headline: 'Partly failed', sentence: 'with an e-mail that did not reach everybody, for the same reason.' },
  'gave-up': { headline: 'Given up', sentence: 'failed: held for the same reason, and nobody decided in time.' },
  recovered: { headline: 'Recovered', sentence: 'through.' },
} as const;

/** So few actions are retried one by one. */
const fewActions = 3;

export function renderDigestNotice(notice: DigestNotice, context: DigestNoticeContext): NoticeText {
  const { digest, at } = notice;
  const { companyId, reason } = digest;
  const count = notice.kind === 'many' ? notice.count : notice.through;
  const headline = notice.kind === 'many' ? words[digest.kind].headline : words.recovered.headline;
  const subject = cutShort(oneLine(`[relay] ${headline}: ${chains(count)}, ${reason.type} (${context.companyName})`), 180);
  return noticeText(subject, notice.kind === 'many' ? many(notice, context) : through(notice, context), {
    type: notice.kind === 'many' ? `relay.${digest.kind}.many` : 'relay.recovered.many',
    text: subject,
    at,
    company: { companyId, name: context.companyName },
    reason,
    since: notice.since,
    count,
    ...(notice.kind === 'many' ? { actions: notice.actions, first: notice.first } : { ended: notice.ended, open: notice.open }),
  });
}

function many(notice: DigestNotice & { kind: 'many' }, context: DigestNoticeContext): Section[] {
  const { digest, count, actions, first } = notice;
  const [shown] = first;
  const held = first.flatMap(({ heldUntil }) => heldUntil ?? []).sort();
  return [
    { lines: [`${chains(count)}${actions > count ? ` (${actions} actions)` : ''} ${words[digest.kind].sentence}`] },
    {
      title: 'What was wrong',
      lines: [
        `${shown?.message ?? digest.reason.message} (${digest.reason.type})`,
        ...(count > 1 ? ['Ids and numbers differ from one to the other.'] : []),
      ],
    },
    {
      title: 'What happens now',
      lines: held[0]
        ? [`Without a decision they fail, the first at ${shownTime(held[0])}; what stands behind them is not run.`]
        : [],
    },
    { title: 'To put it right', lines: whatToDo(notice, context) },
    {
      title: first.length < count ? `The first ${first.length}` : 'Which',
      lines: first.map((member) => {
        const { index, assignmentId } = member;
        const about = assignmentId ? `Assignment ${oneLine(cutShort(assignmentId, 60))}` : 'Chain';
        return { label: `${about}, action ${index}`, url: urlOf(digest, member, context) };
      }),
    },
    where(notice, context, [
      {
        label: 'All of them, with a token',
        url: `${context.apiUrl}/co/${digest.companyId}/chains?${filterOf(notice)}&since=${encodeURIComponent(notice.since)}`,
      },
    ]),
  ];
}

function through(notice: DigestNotice & { kind: 'through' }, context: DigestNoticeContext): Section[] {
  const { digest, ended, open, through } = notice;
  const tally = Object.entries(ended).map(([state, count]) => `${state}: ${count}`);
  return [
    { lines: [`${chains(through)} that had failed for the same reason ${through === 1 ? 'is' : 'are'} through.`] },
    { title: 'How the actions stand', lines: [...tally, ...(open > 0 ? [`not known: ${open}`] : [])] },
    { title: 'What had been wrong', lines: [`${digest.reason.message} (${digest.reason.type})`] },
    where(notice, context),
  ];
}

function where({ digest, at }: DigestNotice, { companyName }: DigestNoticeContext, more: Section['lines'] = []): Section {
  const company = `Company: ${oneLine(companyName)} (${digest.companyId})`;
  return { title: 'Where', lines: [company, `Happened: ${shownTime(at)}`, ...more] };
}

/** People's browsers open the Web UI; the API wants a token. */
function urlOf({ companyId }: Digest, { chainId, runId }: Member, { apiUrl, webUi }: DigestNoticeContext): string {
  const chain = { companyId, chainId };
  return webUi(chain, runId) ?? chainUrl(apiUrl, chain);
}

function filterOf({ digest }: DigestNotice): string {
  const reason = `reason=${encodeURIComponent(digest.reason.type)}`;
  return digest.kind === 'needs-attention' ? `status=needs-attention&${reason}` : `status=failed&${reason}`;
}

function chains(count: number): string {
  return count === 1 ? '1 chain' : `${count} chains`;
}

function whatToDo(
  { digest, actions, count, first, since }: DigestNotice & { kind: 'many' },
  { apiUrl }: DigestNoticeContext,
): string[] {
  const { kind, companyId, reason } = digest;
  const url = urlOption(apiUrl);
  const each = first.map(({ chainId, index }) => `npx relay retry ${companyId} ${chainId} ${index}${url}`);
  const few = actions <= fewActions && first.length === actions;
  const all = (status: string) => `npx relay bulk retry ${companyId}${status} --reason ${reason.type} --since ${since}${url}`;
  switch (kind) {
    case 'needs-attention':
      return [
        few ? 'Mend what was wrong, then retry:' : 'Mend what was wrong, then retry them all (it counts first, and asks):',
        ...(few ? each : [all('')]),
        ...(count > 1 ? ['You are told once when all of them are through.'] : []),
      ];
    case 'partly-failed':
      return ['Send it to those without a copy, also when the chain has closed:', ...each];
    default:
      return [
        few
          ? 'Mend what was wrong, then retry, also when the chain has closed. What was not run because of it follows:'
          : 'Mend what was wrong, then retry those that have closed (it counts first, and asks). What was not run because of it follows:',
        ...(few ? each : [all(' --status failed')]),
      ];
  }
}
