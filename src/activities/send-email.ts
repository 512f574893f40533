/** Sends one message to one recipient. */

import { createHash } from 'node:crypto';
import { bareAddress, isOfDomains } from '../chain/address.js';
import { chainWorkflowId } from '../chain/chain.js';
import type { ActionRef, Activities } from '../contract/activities.js';
import { type Deps, effectActivity } from './effect.js';
import { mistake } from './failure.js';

export function sendEmail(deps: Deps): Activities['sendEmail'] {
  return effectActivity(deps, 'mail', async (input, company, call) => {
    const { recipient: to, subject, body: text, bodyHtml: html } = input;
    const domains = company.mail?.recipientDomains;
    if (domains && !isOfDomains(to, domains))
      throw mistake('ConfigurationMistake', `the company sends e-mail to ${domains.join(', ')} only (mail.recipientDomains)`);
    const message = { ...deps.connectors.senderOf(company), to, subject, text, html, messageId: messageId(input, to) };
    await deps.connectors.mailerOf(company).send(message, call);
  });
}

/** Derived from workflow id, index and recipient, so that a second copy can be told from a second message. */
export function messageId(ref: Pick<ActionRef, 'companyId' | 'chainId' | 'index'>, recipient: string): string {
  const key = [chainWorkflowId(ref), ref.index, bareAddress(recipient)?.toLowerCase() ?? recipient].join('\n');
  return `${createHash('sha256').update(key).digest('hex').slice(0, 40)}@relay.invalid`;
}
