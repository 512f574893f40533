/** Sends one message to one recipient. */

import { createHash } from 'node:crypto';
import { bareAddress } from '../chain/address.js';
import { chainWorkflowId } from '../chain/chain.js';
import type { ActionRef, Activities } from '../contract/activities.js';
import { effectCall, readActionContext } from './action-context.js';
import type { Deps } from './deps.js';
import { effectFailure } from './failure.js';
import { effectResult } from './result.js';

export function sendEmail(deps: Deps): Activities['sendEmail'] {
  return async (input) => {
    const setting = await readActionContext(deps, input, 'mail');
    if ('skipped' in setting) return effectResult(setting);
    const { company, rule } = setting;
    try {
      const { from, replyTo } = deps.connectors.senderOf(company);
      const message = {
        to: input.recipient,
        subject: input.subject,
        text: input.body,
        html: input.bodyHtml,
        messageId: messageId(input, input.recipient),
        from,
        ...(replyTo !== undefined && { replyTo }),
      };
      await deps.connectors.mailerOf(company).send(message, effectCall(input));
    } catch (error) {
      throw effectFailure('MailError', error, input, { once: rule.onUnknown === 'hold' });
    }
    return effectResult();
  };
}

/** Derived from workflow id, index and recipient, so that a second copy can be told from a second message. */
export function messageId(ref: Pick<ActionRef, 'companyId' | 'chainId' | 'index'>, recipient: string): string {
  const key = [chainWorkflowId(ref), ref.index, bareAddress(recipient)?.toLowerCase() ?? recipient].join('\n');
  return `${createHash('sha256').update(key).digest('hex').slice(0, 40)}@relay.invalid`;
}
