/** Has a failure told of together with others for the same reason, unless it is the first of them. */

import { createHash } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { cutShort, fitBytes } from '../chain/text.js';
import type { Activities } from '../contract/activities.js';
import { joinSignal } from '../contract/messages.js';
import { companyKey } from '../contract/search-attributes.js';
import { type Digest, foldedReason, type Member, memberKey, reasonOf } from '../notices/digest.js';
import type { NoticeDigest } from '../workflows/notice-digest.js';
import type { Deps } from './deps.js';

/** A first notice waits no longer than this for Temporal. */
const answerTimeoutMs = 10_000;
/** Attempts to join a digest that is there, before the notice is delivered by itself. */
const joinAttempts = 3;

/** Where there is no digest, or it cannot be reached, each is told of by itself. */
export function joinDigest(deps: Deps): Activities['joinDigest'] {
  return async ({ action, ...failure }) => {
    const { client, log, noticeDigestSeconds: windowSeconds, store } = deps;
    if (windowSeconds === 0) return { tell: true };
    const { companyId, chainId, kind, at, receivedAt } = failure;
    const { index, relayId, assignmentId, heldUntil } = action;
    const rule = await store.rules.get(companyId, relayId);
    const { type, message } = reasonOf(action);
    const { runId } = activityInfo().workflowExecution ?? {};
    const digest: Digest = { companyId, relayId, kind, reason: { type, message: cutShort(message, 1000) }, windowSeconds };
    const member: Member = {
      chainId,
      index,
      relayId,
      receivedAt,
      message: cutShort(message, 500),
      ...(runId && { runId }),
      ...(assignmentId !== undefined && { assignmentId: cutShort(assignmentId, 100) }),
      ...(heldUntil !== undefined && { heldUntil }),
    };
    // A rule with contacts of its own has digests of its own: nobody is told of what concerns others, nor hears of it later for them.
    const workflowId = `relay-digest:${companyId}:${hashOf([kind, foldedReason(action), rule?.notify ? relayId : ''])}`;
    const mark = `${memberKey(member)} ${at}`;
    const handle = client.workflow.getHandle(workflowId);
    const start = () =>
      client.workflow.start<typeof NoticeDigest>('NoticeDigest', {
        workflowId,
        taskQueue: activityInfo().taskQueue,
        args: [digest, member],
        memo: { first: mark },
        typedSearchAttributes: [{ key: companyKey, value: companyId }],
        staticSummary: fitBytes(`${companyId}: ${kind}, ${type}: what fails for the same reason is told of as one`, 350),
        priority: { fairnessKey: companyId },
      });
    let isThere = false;
    const join = async (): Promise<boolean> => {
      for (;;) {
        try {
          await start();
          return true;
        } catch (error) {
          if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
          isThere = true;
        }
        // Whether it was started by an earlier attempt, whose answer was lost.
        if (activityInfo().attempt > 1 && (await handle.describe()).memo?.first === mark) return true;
        try {
          await handle.signal(joinSignal, member);
          return false;
        } catch (error) {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
          isThere = false; // It has closed just now.
        }
      }
    };
    try {
      return { digest: workflowId, tell: await client.withDeadline(Date.now() + answerTimeoutMs, join) };
    } catch (error) {
      // The first is being told of: this one can wait for Temporal to answer again.
      if (isThere && activityInfo().attempt < joinAttempts) throw error;
      log.warn({ err: error, workflowId }, 'a notice cannot be told of together with others, and is delivered by itself');
      return { tell: true };
    }
  };
}

/** Whether a digest tells, or has told, of this recovery together with others. */
export async function tellsOfRecovery({ client, log }: Pick<Deps, 'client' | 'log'>, digest: string): Promise<boolean> {
  try {
    const { memo, status } = await client.withDeadline(Date.now() + answerTimeoutMs, () =>
      client.workflow.getHandle(digest).describe(),
    );
    return memo?.many === true && ['RUNNING', 'COMPLETED', 'CONTINUED_AS_NEW'].includes(status.name);
  } catch (error) {
    log.warn({ err: error, workflowId: digest }, 'a digest of notices cannot be asked');
    return false;
  }
}

function hashOf(facts: readonly string[]): string {
  return createHash('sha256').update(facts.join('\n')).digest('hex').slice(0, 16);
}
