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
import { changesQuery, isAssignmentAlone, isMendTooLong, type Mend } from '../contract/messages.js';
import { Problem } from '../contract/problem.js';
import type { Store } from '../store/store.js';
import { describeChain, readInput } from './read.js';
import type { AdmitRecipients } from './recipients.js';

export const answerTimeoutMs = 4_000;

const changesSchema = z.record(z.string(), z.unknown()).nullable();

/** Returns the edited fields of an action, also of an edit that waits for the turn of the action. */
export const readChanges = async (client: Client, workflowId: string, index: number) =>
  changesSchema.parse(await client.workflow.getHandle(workflowId).query(changesQuery, index, true)) ?? {};

/** Whether a person has edited an action. An edit of several actions waits for the turn of each of the other actions. */
export const isEdited = (actions: readonly Pick<ActionResource, 'mends' | 'steered'>[]) =>
  actions.some(({ mends, steered }) => mends || steered?.some(({ verb }) => verb === 'mend'));

type Edit = Pick<Mend, 'fields' | 'allActions' | 'others'>;
type ChainOf = Pick<ChainResource, 'chainId' | 'workflowId'> & { actions: readonly ActionResource[] };

/** Returns the actions as the relay accepted them. The list is empty if there is no such chain. */
export async function readAccepted(client: Client, { workflowId }: Pick<ChainOf, 'workflowId'>): Promise<ChainAction[]> {
  return client.withDeadline(Date.now() + answerTimeoutMs, async () => {
    const description = await describeChain(client, workflowId, 0);
    return description ? (await readInput(client, { workflowId, runId: description.runId })).actions : [];
  });
}

/** @param accepted - actions without edits. @returns `action` without edits, its edits, the edited action and its fields. @throws Problem */
async function readAction(
  client: Client,
  { workflowId, chainId, actions }: ChainOf,
  { index }: ActionResource,
  accepted: readonly ChainAction[],
) {
  const action = accepted.find((action) => action.index === index);
  if (!action?.sent)
    throw new Problem(
      'not-steerable',
      `The fields of action ${index} were not kept when chain ${chainId} was accepted, so nobody can change them: send the request again.`,
    );
  const asked = () => readChanges(client, workflowId, index);
  const changes = isEdited(actions) ? await client.withDeadline(Date.now() + answerTimeoutMs, asked) : {};
  const read = mendAction(action, changes);
  return { action, changes, current: read.ok ? read.action : action, fields: mergeFields(fieldsOf(action), changes) };
}

/** Reads this action and all other actions that have not ended, because an edit of the assignment id can change their texts. */
async function readOpen(client: Client, chain: ChainOf, asked: ActionResource, accepted: readonly ChainAction[]) {
  const isKept = (index: number) => accepted.some((action) => action.index === index && action.sent);
  const open = chain.actions.filter(({ index, state }) => index === asked.index || (!hasEnded(state) && isKept(index)));
  return Promise.all(open.map((one) => readAction(client, chain, one, accepted)));
}

/** Returns the fields of an action. If the action was edited, `sent` has the original fields. @throws Problem not-steerable */
export async function readFields(client: Client, chain: ChainOf, asked: ActionResource, kept?: readonly ChainAction[]) {
  const accepted = kept ?? (await readAccepted(client, chain));
  const open = await readOpen(client, chain, asked, accepted);
  const own = open.find(({ action }) => action.index === asked.index);
  const sent = own ? fieldsOf(own.action) : {};
  const others = 'platformAssignmentId' in sent ? sameAssignment(accepted, chain.actions, asked.index) : [];
  const naming = namesIn(open, idsOf(asked, accepted));
  return { fields: own?.fields ?? {}, ...(asked.mends && { sent }), sameAssignment: others, naming };
}

/** The current assignment id of the action and, because texts can still have it, the id before the first edit. */
function idsOf({ index, assignmentId = '' }: ActionResource, accepted: readonly ChainAction[]) {
  return [assignmentId, accepted.find((action) => action.index === index)?.assignmentId ?? ''] as const;
}
type Ids = ReturnType<typeof idsOf>;

/** Returns the texts that contain one of the ids. In the returned texts, `to` replaces the ids. */
function renamed([id, before]: Ids, fields: Fields, to?: string): Fields {
  const changed = fieldsNaming(id, fields, to);
  return { ...changed, ...fieldsNaming(before, { ...fields, ...changed }, to) };
}

/** Returns the places of these ids in texts. */
const namesIn = (actions: Awaited<ReturnType<typeof readOpen>>, ids: Ids) =>
  actions.flatMap(({ action, fields }) =>
    Object.keys(renamed(ids, fields)).map((field) => ({
      ...{ index: action.index, field },
      ...(!isRenamed(action, field) && { fixed: true as const }),
    })),
  );

/**
 * Finds texts of other actions with the assignment id that `asked` had before its first edit. `open`: in actions that have not
 * ended. `used`: in actions that ended after `asked` started.
 */
export async function readOldNames(client: Client, chain: ChainOf, asked: ActionResource) {
  const accepted = await readAccepted(client, chain);
  const [now, before] = idsOf(asked, accepted);
  if (now === before) return { open: [], used: [] };
  const ranLater = ({ state, endedAt = '' }: ActionResource) => state === 'done' && endedAt > (asked.startedAt ?? '');
  const others = chain.actions.filter((other) => other.index !== asked.index && (!hasEnded(other.state) || ranLater(other)));
  const read = await Promise.all(others.map((one) => readAction(client, chain, one, accepted)));
  const names = namesIn(read, [before, '']);
  const isOpen = ({ index }: { index: number }) => others.some((other) => other.index === index && !hasEnded(other.state));
  return { open: names.filter(isOpen), used: names.filter((name) => !isOpen(name)) };
}

/** An edit of several actions changes no recipients, and no text that gets values when its action runs. */
const isRenamed = ({ late = {} }: ChainAction, field: string) => field !== 'emails' && !(field in late);

/** Extends an edit of the assignment id to all open actions with this assignment, and to their texts that contain the id. */
export async function renameTexts(
  client: Client,
  chain: ChainOf,
  asked: ActionResource,
  { fields }: Pick<Mend, 'fields'>,
  kept?: readonly ChainAction[],
) {
  const to = String(fields.platformAssignmentId);
  const accepted = kept ?? (await readAccepted(client, chain));
  const same = sameAssignment(accepted, chain.actions, asked.index);
  const ids = idsOf(asked, accepted);
  const edits = (await readOpen(client, chain, asked, accepted)).map(({ action, fields }) => {
    const texts = Object.entries(renamed(ids, fields, to)).filter(([field]) => isRenamed(action, field));
    const id = same.includes(action.index) && { platformAssignmentId: to };
    return { index: action.index, fields: { ...id, ...Object.fromEntries(texts) } };
  });
  const [own] = edits.filter(({ index }) => index === asked.index);
  const others = edits.filter(({ index, fields }) => index !== asked.index && Object.keys(fields).length > 0);
  const all = { fields: { ...own?.fields, ...fields }, allActions: true, others };
  if (!isMendTooLong(all.fields, others)) return all;
  throw new Problem(
    'invalid-body',
    'Nothing was changed. The texts are too long to change together. Change them one by one, without `texts`.',
  );
}

/** Returns the edit (`edit`) and its new `recipients`. @param accepted - actions without edits. @throws Problem not-steerable */
export async function correctAction(
  client: Client,
  chain: ChainOf,
  asked: ActionResource,
  correction: Correction,
  accepted: readonly ChainAction[],
): Promise<{ before: unknown; after?: unknown; problem?: string; edit?: Edit; recipients?: string[] }> {
  const { action, changes, current, fields } = await readAction(client, chain, asked, accepted);
  const { field } = correction;
  const before = fields[field];
  const corrected = correct(fields, correction);
  if (!corrected.ok) return { before, problem: corrected.error };
  const after = corrected.changes[field];
  if (after === undefined) return { before };
  const read = mendAction(action, { ...changes, ...corrected.changes });
  const wrong = read.ok ? [] : read.problems.map(({ pointer, detail }) => `${pointer} ${detail}`.trim());
  if (isUnknown(asked)) wrong.push('nobody knows whether the last try worked: edit this step on the page of its chain');
  if (!read.ok || wrong.length > 0) return { before, after, problem: wrong.join('; ') };
  const edit = { fields: corrected.changes };
  const all = correction.texts ? await renameTexts(client, chain, asked, edit, accepted) : edit;
  return { before, after, edit: all, recipients: newRecipients(current, read.action) };
}

/** @param admit - checks and counts new recipients. @throws Problem invalid-body, not-confirmed, not-steerable */
export async function assertMendable(
  { client, store, admit }: { client: Client; store: Pick<Store, 'companies'>; admit?: AdmitRecipients | undefined },
  companyId: string,
  chain: ChainResource,
  asked: ActionResource,
  { fields, confirmUnknown, allActions, others }: Edit & Pick<Mend, 'confirmUnknown'>,
): Promise<void> {
  if (allActions && !others && !isAssignmentAlone(fields)) {
    const detail = 'is only for edits of platformAssignmentId';
    const errors = [{ pointer: '/allActions', detail }];
    throw new Problem('invalid-body', `Nothing was changed. allActions ${detail}.`, { errors });
  }
  if (isUnknown(asked) && !confirmUnknown)
    throw new Problem(
      'not-confirmed',
      `Nothing was changed. Nobody knows whether the last try of action ${asked.index} worked. ` +
        'The mended action could cause a second effect, so check the other system first. To run it anyway, send "confirmUnknown": true.',
    );
  const uncounted = 'Nothing was changed: no worker process answers, so the relay cannot count the added recipients.';
  if (chain.partial && 'emails' in fields && admit) throw new Problem('temporal-unavailable', uncounted);
  // Without a worker, the API does not know earlier edits, so the workflow checks the edit.
  if (chain.partial) return;
  const { action, changes, current } = await readAction(client, chain, asked, await readAccepted(client, chain));
  const read = mendAction(action, { ...changes, ...fields });
  const problems = read.ok ? await obstacles(read.action) : read.problems;
  if (read.ok && problems.length === 0) problems.push(...((await admit?.(companyId, newRecipients(current, read.action))) ?? []));
  if (problems.length === 0) return;
  const errors = problems.map(({ pointer, detail }) => ({ pointer: `/fields${pointer}`, detail }));
  const said = problems.map(({ pointer, detail }) => `${pointer ? `/fields${pointer}` : 'The step'} ${detail}`).join('; ');
  throw new Problem('invalid-body', `Nothing was changed. ${said}`, { errors });

  async function obstacles(mended: ChainAction): Promise<Issue[]> {
    const company = await store.companies.get(companyId);
    const definition: ActionDefinition | undefined = actionDefinitions.find(({ name }) => name === mended.action);
    // Without the values of its late texts, the action has no preview.
    const preview = company && !mended.late && definition?.preview(mended, company.timeZone);
    return preview && 'obstacle' in preview ? [{ pointer: '', detail: preview.obstacle }] : [];
  }
}
