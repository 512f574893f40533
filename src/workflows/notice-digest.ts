/**
 * Many actions of a company that fail for the same reason in a short time. The first is told of at once, by its own chain; this workflow, started with it,
 * tells of those that follow as one, and once more when all of them are through. Chains reach it by the signals `join` and `over`.
 */

import {
  condition,
  log,
  makeContinueAsNewFunc,
  proxyActivities,
  setHandler,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../contract/activities.js';
import { joinSignal, overSignal } from '../contract/messages.js';
import { type Digest, Ledger, type LedgerState, type Member } from '../notices/digest.js';
import type { DigestNews } from '../notices/digest-notice.js';
import { Errands } from './errands.js';
import { delivery } from './notices.js';

/** Those of which nobody says that they are over are waited for a day longer than they are held. */
const dayMs = 24 * 3600 * 1000;

/** @param first - the member that is told of by its own chain. */
export async function NoticeDigest(digest: Digest, first: Member, before?: LedgerState): Promise<void> {
  const holds = digest.kind === 'needs-attention';
  const ledger = before ? new Ledger(holds, before) : Ledger.of(holds, first);
  let joins = 0;
  const many = () => ledger.members > 1;
  setHandler(joinSignal, (member) => {
    if (typeof member?.chainId !== 'string') return log.warn('a signal had no effect: join, which is no member');
    const before = many();
    ledger.join(member);
    joins += 1;
    // Chains whose action recovers see by it that this workflow tells of that.
    if (!before && many()) upsertMemo({ many: true });
  });
  setHandler(overSignal, (key, ended) => ledger.over(key, ended));

  const telling = new Errands();
  const say = (news: DigestNews) => telling.start(() => tell(digest, news));
  /** Those that join meanwhile do not wait for a contact that cannot be reached. @returns whether there is nothing more to tell. */
  const allTold = async () => {
    await condition(() => !telling.open || ledger.untold);
    return !ledger.untold;
  };

  const isFull = () => workflowInfo().continueAsNewSuggested;
  const isThrough = () => holds && many() && ledger.open === 0;
  for (;;) {
    await untilQuiet(
      digest,
      () => joins,
      () => isThrough() || isFull(),
    );
    if (isFull()) {
      await telling.finished();
      // What was upserted would be lost without.
      return makeContinueAsNewFunc<typeof NoticeDigest>({ memo: { ...workflowInfo().memo } })(digest, first, ledger.state);
    }
    if (ledger.untold) {
      say({ kind: 'many', ...ledger.take() });
      continue;
    }
    if (!holds || !many()) {
      if (await allTold()) return; // The chain of the only one tells of its end.
      continue;
    }
    const left = Date.parse(ledger.heldUntil ?? first.receivedAt) + dayMs - Date.now();
    const changed = await condition(() => ledger.open === 0 || ledger.untold || isFull(), Math.max(left, 1000), {
      summary: 'until all are through',
    });
    if (changed && ledger.untold) say({ kind: 'many', ...ledger.take() });
    else if (!isFull()) {
      const { through, ...news } = ledger.takeEnded();
      if (through > 0) say({ kind: 'through', through, open: ledger.open, ...news });
      if (await allTold()) return;
    }
  }
}

/** Waits until no more join for a third of the window, at most twice the window. */
async function untilQuiet({ windowSeconds }: Digest, joins: () => number, enough: () => boolean): Promise<void> {
  const end = Date.now() + windowSeconds * 2000;
  for (let seen = -1; seen !== joins() && Date.now() < end; ) {
    seen = joins();
    if (await condition(enough, (windowSeconds * 1000) / 3, { summary: 'until no more join' })) return;
  }
}

/** Never rejects. */
async function tell(digest: Digest, news: DigestNews): Promise<void> {
  const { notifyDigest } = proxyActivities<Activities>({ ...delivery, summary: `tells people: ${news.kind}` });
  try {
    await notifyDigest({ ...news, digest, at: new Date().toISOString() });
  } catch (error) {
    log.error('a notice about many chains reached nobody within a day', { kind: news.kind, error });
  }
}
