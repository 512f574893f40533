import { createHash } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import { z } from 'zod';
import type { ActionStatus } from '../chain/action-status.js';
import { addressOf, isOfDomains } from '../chain/address.js';
import { type Chain, type ChainAction, chainWorkflowId, type EmailContents } from '../chain/chain.js';
import { problemsText } from '../chain/edits.js';
import type { Fields } from '../chain/fields.js';
import { mendAction } from '../chain/mend.js';
import type { ActionRef, Activities } from '../contract/activities.js';
import { domainsRule } from '../contract/company.js';
import { changesQuery, lateQuery } from '../contract/messages.js';
import { readInput } from '../temporal/read.js';
import { type Deps, effectActivity } from './effect.js';
import { mistake, notTried } from './failure.js';
import { filled } from './late.js';

export function sendEmail(deps: Deps): Activities['sendEmail'] {
  const contentsOf = contentsReader(deps);
  return effectActivity(deps, 'mail', deps.connectors.mailerOf, async (mailer, input, company, call) => {
    const { recipient: to, subject, body, bodyHtml } = input;
    const domains = company.mail?.recipientDomains;
    if (domains && !isOfDomains(to, domains)) throw mistake('ConfigurationMistake', domainsRule(domains));
    const isInline = subject !== undefined && body !== undefined && bodyHtml !== undefined;
    const contents = isInline ? { subject, body, bodyHtml } : await contentsOf(input);
    const mail = { to, subject: contents.subject, text: contents.body, html: contents.bodyHtml };
    const message = { ...deps.connectors.senderOf(company), ...mail, messageId: messageId(input, to) };
    await mailer.send(message, call);
  });
}

const mostInputs = 10; // the size of each cache, which helps because one e-mail may go to many recipients
const answerTimeoutMs = 5_000;

/** Reads an e-mail from the input of its workflow, fills in its late texts, and queries the workflow for its edits. */
function contentsReader({ client }: Pick<Deps, 'client'>): (email: ActionRef) => Promise<EmailContents> {
  const inputs = new Map<string, Promise<Chain>>();
  const changes = new Map<string, Promise<Fields | null>>();
  const late = new Map<string, Promise<Pick<ActionStatus, 'late'> | null>>();
  return async (email) => {
    const { index, mends } = email;
    const { workflowExecution: { workflowId, runId } = { workflowId: '', runId: '' } } = activityInfo();
    const { actions } = await asked(inputs, runId, () => readInput(client, { workflowId, runId }));
    const action = actions.find((action) => action.index === index);
    if (action?.action !== 'sendEmails') throw mistake('DataMistake', `action ${index} of ${workflowId} is no e-mail`);
    if (mends === undefined) return action.late ? withValues(action, email) : action;
    const query = () => client.workflow.getHandle(workflowId, runId).query(changesQuery, index);
    const changed = await asked(changes, `${runId}/${index}/${mends}`, query);
    if (!action.late) return contentsSchema.parse({ ...action, ...changed });
    const mended = mendAction(action, changed ?? {});
    if (!mended.ok) throw mistake('DataMistake', problemsText(mended.problems));
    return mended.action.late ? withValues(mended.action, email) : contentsSchema.parse(mended.action);
  };

  async function withValues(action: ChainAction, email: ActionRef): Promise<EmailContents> {
    const { workflowId, runId } = activityInfo().workflowExecution ?? { workflowId: '', runId: '' };
    const { index, mends } = email;
    const query = () => client.workflow.getHandle(workflowId, runId).query(lateQuery, index);
    const known = async () => (await asked(late, `${runId}/${index}/${mends}`, query))?.late?.values;
    return contentsSchema.parse(filled(action, email.values ?? (await known())));
  }

  async function asked<Answer>(answers: Map<string, Promise<Answer>>, of: string, ask: () => Promise<Answer>): Promise<Answer> {
    const answer = answers.get(of) ?? client.withDeadline(Date.now() + answerTimeoutMs, ask);
    answers.set(of, answer);
    const [oldest = ''] = answers.keys();
    if (answers.size > mostInputs) answers.delete(oldest);
    return answer.catch(() => {
      answers.delete(of);
      throw notTried('NotTried', 'Temporal does not return the contents of the e-mail (for the operator: `relay health`)');
    });
  }
}

const text = z.coerce.string();
const contentsSchema = z.object({ subject: text, body: text, bodyHtml: text });

/** The Message-ID. Attempts with the same workflow id, action, recipient and number of edits have the same Message-ID. */
export function messageId(ref: Pick<ActionRef, 'companyId' | 'chainId' | 'index' | 'mends'>, recipient: string): string {
  const key = [chainWorkflowId(ref), ref.index, addressOf(recipient), ...(ref.mends ? [`m${ref.mends}`] : [])].join('\n');
  return `${createHash('sha256').update(key).digest('hex').slice(0, 40)}@relay.invalid`;
}
