/** One notice for many actions that failed for the same reason, and one when they are through. */

import type { Batch, Digest, LedgerState } from './digest.js';
import { type NoticeText, noticeText } from './notice-text.js';
import { cutShort, oneLine } from './text.js';

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
}

const words = {
  'needs-attention': { headline: 'Needs attention', sentence: 'held: they could not go on, for the same reason.' },
  failed: { headline: 'Failed', sentence: 'with an action that failed, for the same reason. What is left of them goes on.' },
  'partly-failed': { headline: 'Partly failed', sentence: 'with an e-mail that did not reach everybody, for the same reason.' },
  'gave-up': { headline: 'Given up', sentence: 'failed: they were held, and nobody decided in time.' },
  recovered: { headline: 'Recovered', sentence: 'through.' },
} as const;

export function renderDigestNotice(notice: DigestNotice, { companyName, apiUrl }: DigestNoticeContext): NoticeText {
  const { digest, at } = notice;
  const { companyId, reason } = digest;
  const why = {
    title: 'What was wrong',
    lines: [`${reason.message} (${reason.type})`, 'Ids and numbers differ from one to the other.'],
  };
  const filter = digest.kind === 'needs-attention' ? `reason=${encodeURIComponent(reason.type)}` : 'status=failed';
  const where = {
    title: 'Where',
    lines: [
      `Company: ${oneLine(companyName)} (${companyId})`,
      `Happened: ${at}`,
      `All of them: ${apiUrl}/co/${companyId}/chains?${filter}&since=${encodeURIComponent(notice.since)}`,
    ],
  };
  const subjectOf = (headline: string, count: number) =>
    cutShort(oneLine(`[relay] ${headline}: ${chains(count)}, ${reason.type} (${companyName})`), 180);
  const json = (subject: string) => ({
    type: notice.kind === 'many' ? `relay.${digest.kind}.many` : 'relay.recovered.many',
    text: subject,
    at,
    company: { companyId, name: companyName },
    reason,
    since: notice.since,
    ...(notice.kind === 'many'
      ? { count: notice.count, actions: notice.actions, first: notice.first }
      : { count: notice.through, ended: notice.ended, open: notice.open }),
  });

  if (notice.kind === 'through') {
    const { through } = notice;
    const subject = subjectOf('Recovered', through);
    const tally = Object.entries(notice.ended).map(([state, count]) => `${state}: ${count}`);
    return noticeText(
      subject,
      [
        { lines: [`${chains(through)} that had failed for the same reason ${through === 1 ? 'is' : 'are'} through.`] },
        { title: 'How the actions stand', lines: [...tally, ...(notice.open > 0 ? [`not known: ${notice.open}`] : [])] },
        { ...why, title: 'What had been wrong' },
        where,
      ],
      json(subject),
    );
  }
  const { count, actions, first } = notice;
  const { headline, sentence } = words[digest.kind];
  const subject = subjectOf(headline, count);
  return noticeText(
    subject,
    [
      { lines: [`${chains(count)}${actions > count ? ` (${actions} actions)` : ''} ${sentence}`] },
      why,
      where,
      {
        title: first.length < count ? `The first ${first.length}` : 'Which',
        lines: first.map(({ chainId, assignmentId }) => {
          const about = assignmentId ? `Assignment ${oneLine(cutShort(assignmentId, 60))}` : 'Chain';
          return `${about}: ${apiUrl}/co/${companyId}/chains/${chainId}`;
        }),
      },
      { title: 'To put it right', lines: whatToDo(digest, notice) },
    ],
    json(subject),
  );
}

function chains(count: number): string {
  return count === 1 ? '1 chain' : `${count} chains`;
}

function whatToDo({ kind, companyId, reason }: Digest, { since }: Pick<Batch, 'since'>): string[] {
  switch (kind) {
    case 'needs-attention':
      return [
        'Mend what was wrong, then retry them all (it counts first, and asks):',
        `npx relay bulk retry ${companyId} --reason ${reason.type} --since ${since}`,
        'You are told once when all of them are through.',
      ];
    case 'partly-failed':
      return ['While a chain is open, retry its e-mail: it goes to those without a copy.'];
    default:
      return ['Do by hand what was not done, or send the requests again once the cause is mended.'];
  }
}
