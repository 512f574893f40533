/** Sends one message to one recipient. */

import { createHash } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import { bareAddress, isOfDomains } from '../chain/address.js';
import { type Chain, chainWorkflowId, type EmailContents } from '../chain/chain.js';
import { readInput } from '../chains/read.js';
import type { ActionRef, Activities } from '../contract/activities.js';
import { type Deps, effectActivity } from './effect.js';
import { mistake, notTried } from './failure.js';

export function sendEmail(deps: Deps): Activities['sendEmail'] {
  const contentsOf = contentsReader(deps);
  return effectActivity(deps, 'mail', async (input, company, call) => {
    const { recipient: to, subject, body, bodyHtml } = input;
    const domains = company.mail?.recipientDomains;
    if (domains && !isOfDomains(to, domains))
      throw mistake('ConfigurationMistake', `the company sends e-mail to ${domains.join(', ')} only (mail.recipientDomains)`);
    const isInline = subject !== undefined && body !== undefined && bodyHtml !== undefined;
    const contents = isInline ? { subject, body, bodyHtml } : await contentsOf(input.index);
    const mail = { to, subject: contents.subject, text: contents.body, html: contents.bodyHtml };
    const message = { ...deps.connectors.senderOf(company), ...mail, messageId: messageId(input, to) };
    await deps.connectors.mailerOf(company).send(message, call);
  });
}

/** Workflows whose input is kept, since an e-mail goes to many at once. */
const mostInputs = 10;
const answerTimeoutMs = 5_000;

/** Reads the contents of an e-mail from the input of its workflow. */
function contentsReader({ client }: Pick<Deps, 'client'>): (index: number) => Promise<EmailContents> {
  const inputs = new Map<string, Promise<Chain>>();
  return async (index) => {
    const { workflowExecution: { workflowId, runId } = { workflowId: '', runId: '' } } = activityInfo();
    const input =
      inputs.get(runId) ?? client.withDeadline(Date.now() + answerTimeoutMs, () => readInput(client, { workflowId, runId }));
    inputs.set(runId, input);
    const [oldest = ''] = inputs.keys();
    if (inputs.size > mostInputs) inputs.delete(oldest);
    const { actions } = await input.catch(() => {
      inputs.delete(runId);
      throw notTried('NotTried', 'Temporal does not answer what the e-mail says: see `relay health`');
    });
    const action = actions.find((action) => action.index === index);
    if (action?.action !== 'sendEmails') throw mistake('DataMistake', `action ${index} of ${workflowId} is no e-mail`);
    return action;
  };
}

/** Derived from workflow id, index and recipient, so that a second copy can be told from a second message. */
export function messageId(ref: Pick<ActionRef, 'companyId' | 'chainId' | 'index'>, recipient: string): string {
  const key = [chainWorkflowId(ref), ref.index, bareAddress(recipient)?.toLowerCase() ?? recipient].join('\n');
  return `${createHash('sha256').update(key).digest('hex').slice(0, 40)}@relay.invalid`;
}
