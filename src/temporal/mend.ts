/** The fields of an action, and whether they can be mended so: said before the signal, which nobody answers. */

import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { actionDefinitions } from '../chain/actions.js';
import type { ChainAction } from '../chain/chain.js';
import { type Correction, correct } from '../chain/correct.js';
import type { ActionDefinition } from '../chain/define-action.js';
import { type Fields, mergeFields } from '../chain/fields.js';
import { mendAction, newRecipients } from '../chain/mend.js';
import { isUnknown } from '../chain/outcome.js';
import type { Issue } from '../chain/request.js';
import { fieldsOf } from '../chain/sent.js';
import type { ActionResource, ChainResource } from '../contract/chain-resource.js';
import { changesQuery, type Mend } from '../contract/messages.js';
import { Problem } from '../contract/problem.js';
import type { Store } from '../store/store.js';
import { readInput } from './read.js';

const answerTimeoutMs = 4_000;

const changesSchema = z.record(z.string(), z.unknown()).nullable();

export type AdmitRecipients = (companyId: string, recipients: readonly string[]) => Promise<Issue[]>;

type ChainOf = Pick<ChainResource, 'chainId' | 'workflowId'>;

/** The action as it was accepted, what was changed since, and as it stands. @throws Problem */
async function readAction(client: Client, { workflowId, chainId }: ChainOf, { index, mends }: ActionResource) {
  const handle = client.workflow.getHandle(workflowId);
  return client.withDeadline(Date.now() + answerTimeoutMs, async () => {
    const { runId } = await handle.describe();
    const { actions } = await readInput(client, { workflowId, runId });
    const action = actions.find((action) => action.index === index);
    if (!action?.sent)
      throw new Problem(
        'not-steerable',
        `The fields of action ${index} were not kept when chain ${chainId} was accepted, so it cannot be mended: send the request again.`,
      );
    const changes = (mends && changesSchema.parse(await handle.query(changesQuery, index))) ?? {};
    const read = mendAction(action, changes);
    return { action, changes, current: read.ok ? read.action : action };
  });
}

/** `sent`: where it was mended, the fields as they had been sent. @throws Problem not-steerable */
export async function readFields(
  client: Client,
  chain: ChainResource,
  asked: ActionResource,
): Promise<{ fields: Fields; sent?: Fields }> {
  const { action, changes } = await readAction(client, chain, asked);
  const sent = fieldsOf(action);
  return asked.mends ? { fields: mergeFields(sent, changes), sent } : { fields: sent };
}

/**
 * What a correction makes of a field: `changes` where it is to be mended so, with how many recipients that are new.
 * @throws Problem not-steerable
 */
export async function correctAction(
  client: Client,
  chain: ChainOf,
  asked: ActionResource,
  correction: Correction,
): Promise<{ before: unknown; after: unknown; problem?: string; changes?: Fields; recipients?: number }> {
  const { action, changes, current } = await readAction(client, chain, asked);
  const fields = mergeFields(fieldsOf(action), changes);
  const corrected = correct(fields, correction);
  const { field } = correction;
  const shown = { before: fields[field], after: corrected[field] };
  if (shown.after === undefined) return shown;
  const read = mendAction(action, { ...changes, ...corrected });
  const wrong = read.ok ? [] : read.problems.map(({ pointer, detail }) => `${pointer} ${detail}`);
  if (isUnknown(asked)) wrong.push('whether the last try took effect is not known: mend it by itself');
  if (!read.ok || wrong.length > 0) return { ...shown, problem: wrong.join('; ') };
  return { ...shown, changes: corrected, recipients: newRecipients(current, read.action).length };
}

/**
 * @param admit - says what is wrong with recipients that are new, and counts them where nothing is.
 * @throws Problem invalid-body, not-confirmed, not-steerable; what `admit` throws
 */
export async function assertMendable(
  { client, store, admit }: { client: Client; store: Pick<Store, 'companies'>; admit?: AdmitRecipients | undefined },
  companyId: string,
  chain: ChainResource,
  asked: ActionResource,
  { fields, confirmUnknown }: Pick<Mend, 'fields' | 'confirmUnknown'>,
): Promise<void> {
  if (isUnknown(asked) && !confirmUnknown)
    throw new Problem(
      'not-confirmed',
      `Nothing was changed. Whether the last try of action ${asked.index} took effect is not known, and the mended action is another effect: ` +
        'look first; then, if it is to be done all the same, send "confirmUnknown": true.',
    );
  // Without a worker nobody knows what was mended before: the workflow decides.
  if (chain.partial) return;
  const { action, changes, current } = await readAction(client, chain, asked);
  const read = mendAction(action, { ...changes, ...fields });
  const problems = read.ok ? await obstacles(read.action) : read.problems;
  if (read.ok && problems.length === 0) problems.push(...((await admit?.(companyId, newRecipients(current, read.action))) ?? []));
  if (problems.length === 0) return;
  const errors = problems.map(({ pointer, detail }) => ({ pointer: `/fields${pointer}`, detail }));
  const said = errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ');
  throw new Problem('invalid-body', `Nothing was changed. ${said}`, { errors });

  /** What would keep it from being tried in the company's time zone. */
  async function obstacles(mended: ChainAction): Promise<Issue[]> {
    const company = await store.companies.get(companyId);
    const definition: ActionDefinition | undefined = actionDefinitions.find(({ name }) => name === mended.action);
    const preview = company && definition?.preview(mended, company.timeZone);
    return preview && 'obstacle' in preview ? [{ pointer: '', detail: preview.obstacle }] : [];
  }
}
