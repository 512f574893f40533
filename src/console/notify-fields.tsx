/** Shows the contacts of a company or a rule as form fields, and converts these fields to a merge patch. */

import type { Notify } from './types.js';
import { FormFields } from './ui/index.js';

const linksWords = 'The notices to this webhook also contain links. Everybody who reads a notice can retry or skip a step.';
const webhookWords = 'The relay also sends the notices to this address, for example to a chat.';
const maskWords = ' The page shows *** for the secret part of the address. Leave *** unchanged to keep this part.';
const ofRule = ' The contacts of the company get these notices too, even if this field is empty.';

export function NotifyFields({ notify = {}, of }: { notify?: Notify | undefined; of: string }) {
  const { emails = [], webhookUrl, linksInWebhooks = false } = notify;
  const hint = `Write one address per line.${of === 'rule' ? ofRule : ''}`;
  const fields = {
    emails: { label: 'E-mail addresses', hint, rows: 2, first: emails.join('\n') },
    webhookUrl: {
      label: 'Webhook for notices',
      hint: webhookWords + (webhookUrl ? maskWords : ''),
      first: webhookUrl,
      autocomplete: 'off',
    },
    linksInWebhooks: { label: linksWords, checked: linksInWebhooks },
  } as const;
  return (
    <fieldset>
      <legend>Who gets the notices of this {of}</legend>
      <FormFields of={fields} />
    </fieldset>
  );
}

export function notifyPatch({ emails = '', webhookUrl, linksInWebhooks: links }: Record<string, string>) {
  const addresses = emails.split(/[\s,;]+/).filter(Boolean);
  return { emails: addresses.length > 0 ? addresses : null, webhookUrl: webhookUrl || null, linksInWebhooks: links === 'on' };
}
