/** Reads the fields of an action, and checks an edit. The check comes before the signal, because a signal returns no answer. */

import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { actionDefinitions } from '../chain/actions.js';
import type { ChainAction } from '../chain/chain.js';
import { type Correction, correct } from '../chain/correct.js';
import type { ActionDefinition } from '../chain/define-action.js';
import { sameAssignment } from '../chain/edits.js';
import { type Fields, fieldsNaming, mergeFields } from '../chain/fields.js';
import { mendAction, newRecipients } from '../chain/mend.js';
import { hasEnded, isUnknown } from '../chain/outcome.js';
import type { Issue } from '../chain/request.js';
import { fieldsOf } from '../chain/sent.js';
import type { ActionResource, ChainResource } from '../contract/chain-resource.js';
import { changesQuery, isAssignmentAlone, type Mend } from '../contract/messages.js';
import { Problem } from '../contract/problem.js';
import type { Store } from '../store/store.js';
import { describeChain, readInput } from './read.js';
import type { AdmitRecipients } from './recipients.js';

const answerTimeoutMs = 4_000;

const changesSchema = z.record(z.string(), z.unknown()).nullable();

type ChainOf = Pick<ChainResource, 'chainId' | 'workflowId'>;

/** Returns the actions as the relay accepted them. The list is empty if there is no such chain. */
export async function readAccepted(client: Client, { workflowId }: Pick<ChainOf, 'workflowId'>): Promise<ChainAction[]> {
  return client.withDeadline(Date.now() + answerTimeoutMs, async () => {
    const description = await describeChain(client, workflowId, 0);
    return description ? (await readInput(client, { workflowId, runId: description.runId })).actions : [];
  });
}

/** @param accepted - actions without edits. @returns `action` without edits, its edits, and the edited action. @throws Problem */
async function readAction(
  client: Client,
  { workflowId, chainId }: ChainOf,
  { index, mends }: ActionResource,
  accepted: readonly ChainAction[],
) {
  const action = accepted.find((action) => action.index === index);
  if (!action?.sent)
    throw new Problem(
      'not-steerable',
      `The fields of action ${index} were not kept when chain ${chainId} was accepted, so nobody can mend it: send the request again.`,
    );
  const asked = () => client.workflow.getHandle(workflowId).query(changesQuery, index);
  const changed = mends && (await client.withDeadline(Date.now() + answerTimeoutMs, asked));
  const changes = (mends && changesSchema.parse(changed)) ?? {};
  const read = mendAction(action, changes);
  return { action, changes, current: read.ok ? read.action : action };
}

/** Returns the fields of an action. If the action was edited, `sent` has the original fields. @throws Problem not-steerable */
export async function readFields(
  client: Client,
  chain: ChainResource,
  asked: ActionResource,
): Promise<{ fields: Fields; sent?: Fields; sameAssignment: number[]; naming: { index: number; field: string }[] }> {
  const accepted = await readAccepted(client, chain);
  const { action, changes, current } = await readAction(client, chain, asked, accepted);
  const sent = fieldsOf(action);
  // An edit of all actions with this assignment waits for the turn of this action.
  const waits = current.assignmentId !== asked.assignmentId && asked.assignmentId !== undefined;
  const waiting = waits ? { platformAssignmentId: asked.assignmentId } : {};
  const others = 'platformAssignmentId' in sent ? sameAssignment(accepted, chain.actions, asked.index) : [];
  const fields = asked.mends || waits ? mergeFields(sent, { ...changes, ...waiting }) : sent;
  const isOpen = (index: number) => chain.actions.some((one) => one.index === index && !hasEnded(one.state));
  const naming = accepted.flatMap((other) => {
    const of = other.index === asked.index ? fields : isOpen(other.index) ? fieldsOf(other) : {};
    return fieldsNaming(asked.assignmentId ?? '', of).map((field) => ({ index: other.index, field }));
  });
  return { fields, ...(asked.mends && { sent }), sameAssignment: others, naming };
}

/** Returns the edit (`changes`) and its new `recipients`. @param accepted - actions without edits. @throws Problem not-steerable */
export async function correctAction(
  client: Client,
  chain: ChainOf,
  asked: ActionResource,
  correction: Correction,
  accepted: readonly ChainAction[],
): Promise<{ before: unknown; after?: unknown; problem?: string; changes?: Fields; recipients?: string[] }> {
  const { action, changes, current } = await readAction(client, chain, asked, accepted);
  const fields = mergeFields(fieldsOf(action), changes);
  const { field } = correction;
  const before = fields[field];
  const corrected = correct(fields, correction);
  if (!corrected.ok) return { before, problem: corrected.error };
  const after = corrected.changes[field];
  if (after === undefined) return { before };
  const read = mendAction(action, { ...changes, ...corrected.changes });
  const wrong = read.ok ? [] : read.problems.map(({ pointer, detail }) => `${pointer} ${detail}`.trim());
  if (isUnknown(asked)) wrong.push('nobody knows whether the last try took effect: mend this action alone');
  if (!read.ok || wrong.length > 0) return { before, after, problem: wrong.join('; ') };
  return { before, after, changes: corrected.changes, recipients: newRecipients(current, read.action) };
}

/** @param admit - checks and counts new recipients. @throws Problem invalid-body, not-confirmed, not-steerable */
export async function assertMendable(
  { client, store, admit }: { client: Client; store: Pick<Store, 'companies'>; admit?: AdmitRecipients | undefined },
  companyId: string,
  chain: ChainResource,
  asked: ActionResource,
  { fields, confirmUnknown, allActions }: Pick<Mend, 'fields' | 'confirmUnknown' | 'allActions'>,
): Promise<void> {
  if (allActions && !isAssignmentAlone(fields)) {
    const detail = 'is only for edits of platformAssignmentId';
    const errors = [{ pointer: '/allActions', detail }];
    throw new Problem('invalid-body', `Nothing was changed. allActions ${detail}.`, { errors });
  }
  if (isUnknown(asked) && !confirmUnknown)
    throw new Problem(
      'not-confirmed',
      `Nothing was changed. Nobody knows whether the last try of action ${asked.index} took effect. ` +
        'The mended action is a new effect, so check the other system first. To run it anyway, send "confirmUnknown": true.',
    );
  const uncounted = 'Nothing was changed: no worker answers, so the added recipients cannot be counted.';
  if (chain.partial && 'emails' in fields && admit) throw new Problem('temporal-unavailable', uncounted);
  // Without a worker, the API does not know earlier edits, so the workflow checks the edit.
  if (chain.partial) return;
  const { action, changes, current } = await readAction(client, chain, asked, await readAccepted(client, chain));
  const read = mendAction(action, { ...changes, ...fields });
  const problems = read.ok ? await obstacles(read.action) : read.problems;
  if (read.ok && problems.length === 0) problems.push(...((await admit?.(companyId, newRecipients(current, read.action))) ?? []));
  if (problems.length === 0) return;
  const errors = problems.map(({ pointer, detail }) => ({ pointer: `/fields${pointer}`, detail }));
  const said = errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ');
  throw new Problem('invalid-body', `Nothing was changed. ${said}`, { errors });

  async function obstacles(mended: ChainAction): Promise<Issue[]> {
    const company = await store.companies.get(companyId);
    const definition: ActionDefinition | undefined = actionDefinitions.find(({ name }) => name === mended.action);
    // Without the values of its late texts, the action has no preview.
    const preview = company && !mended.late && definition?.preview(mended, company.timeZone);
    return preview && 'obstacle' in preview ? [{ pointer: '', detail: preview.obstacle }] : [];
  }
}
