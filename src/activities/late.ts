/** Reads the values of late texts for an action, and fills them in. The workflow keeps the values for every later try. */

import { activityInfo } from '@temporalio/activity';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { LateValues } from '../chain/action-status.js';
import { maxRecipients } from '../chain/actions.js';
import { readRecipients } from '../chain/address.js';
import type { ChainAction } from '../chain/chain.js';
import { filledText, type LateQuestion, mostLateCharacters, readValues, unread } from '../chain/late.js';
import { withLate } from '../chain/mend.js';
import { counted } from '../chain/text.js';
import type { ActionRef } from '../contract/activities.js';
import type { Company } from '../contract/company.js';
import { lateQuery } from '../contract/messages.js';
import { Rejection } from '../contract/problem.js';
import { admitRecipients } from '../temporal/recipients.js';
import type { Deps } from './effect.js';
import { mistake, notTried, useOrdinary } from './failure.js';

const answerTimeoutMs = 5_000;
const mostRuns = 20; // the activity queries at most this number of earlier runs

/** Reads the values, and counts new recipients. @throws ApplicationFailure DataMistake, or ConfigurationMistake (daily limit) */
export async function readLate(
  deps: Counting,
  { companyId }: Pick<Company, 'companyId'>,
  { paths, emails }: LateQuestion,
  assignment: unknown,
): Promise<LateValues> {
  const read = readValues(paths, assignment);
  if (!read.ok) throw mistake('DataMistake', read.error);
  const { values } = read;
  const recipients = emails && readRecipients(emails.map((text) => filledText('emails', text, values))).recipients;
  const late = { values, ...(recipients && { recipients }) };
  const { length } = JSON.stringify(late);
  const tooLong = `${length} characters, but at most ${mostLateCharacters} are allowed`;
  if (length > mostLateCharacters)
    throw mistake('DataMistake', `the values of the assignment are too long: ${paths.join(', ')} (${tooLong})`);
  // The API has already counted the recipients that do not depend on the assignment.
  if (emails && recipients) await admit(deps, companyId, recipients, readRecipients(emails.map(unread)).recipients.length);
  return late;
}

type Counting = Pick<Deps, 'store' | 'recipientsPerDay'>;

async function admit({ store, recipientsPerDay }: Counting, companyId: string, recipients: string[], known: number) {
  const { length } = recipients;
  if (length === 0) throw mistake('DataMistake', 'emails has no valid e-mail address: every recipient is blank or invalid');
  if (length > maxRecipients)
    throw mistake('DataMistake', `emails has ${counted(length, 'recipient')}; at most ${maxRecipients} are allowed`);
  // Ignore an error: if the database does not answer, the limit uses the counts of this process.
  await store.usage.settle([companyId]).catch(() => {});
  try {
    const [issue] = await admitRecipients(store, recipientsPerDay)(companyId, recipients, length - known);
    if (issue) throw mistake('DataMistake', `emails ${issue.detail}`);
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    const remedy = 'Retry the step after midnight UTC, or ask the operator for a higher limit';
    throw mistake('ConfigurationMistake', error.detail, { title: 'The daily limit of e-mail recipients is reached', remedy });
  }
}

/** Returns the values that a run before a reset has read, so that a second try has the same contents. @throws ApplicationFailure UseOrdinary (if local), NotTried */
export async function valuesBeforeReset(
  { client }: { client: Client },
  { index, mends }: ActionRef,
  { firstRunId }: { firstRunId: string },
): Promise<LateValues | undefined> {
  const { workflowExecution: { workflowId, runId } = { workflowId: '', runId: '' }, isLocal } = activityInfo();
  if (runId === firstRunId) return undefined;
  if (isLocal) throw useOrdinary('the workflow was reset, and an earlier run may have read the values', true);
  const look = async () => {
    let left = mostRuns;
    for await (const earlier of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
      if (earlier.runId === runId) continue;
      const query = client.workflow.getHandle(workflowId, earlier.runId).query(lateQuery, index);
      const kept = await query.catch((error: unknown) => {
        if (error instanceof WorkflowNotFoundError) return undefined; // Temporal has deleted this run.
        throw error;
      });
      if (kept?.late && kept.mends?.length === mends) return kept.late;
      left -= 1;
      if (left === 0) break;
    }
    return undefined;
  };
  return client.withDeadline(Date.now() + answerTimeoutMs, look).catch(() => {
    throw notTried('NotTried', 'Temporal does not return the values of the assignment (for the operator: `relay health`)');
  });
}

/** @returns the action with its values. @throws ApplicationFailure DataMistake */
export function filled<Action extends ChainAction>(action: Action, values: LateValues['values'] | undefined): Action {
  if (!action.late) return action;
  const read = withLate(action, values ?? {});
  if (!read.ok) throw mistake('DataMistake', read.error);
  return read.action as Action;
}
