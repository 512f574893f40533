/** Shows the contacts of a company or a rule as form fields, and converts these fields to a merge patch. */

import type { Notify } from '../contract/notify.js';
import { Area, Entry } from './ui/fields.js';

export function NotifyFields({ notify, of }: { notify: Notify | undefined; of: string }) {
  return (
    <fieldset>
      <legend>Who gets notices about problems with this {of}</legend>
      <Area
        label="E-mail addresses"
        hint="Write one address per line."
        name="emails"
        rows={2}
        defaultValue={notify?.emails?.join('\n') ?? ''}
      />
      <Entry
        label="Webhook"
        hint="*** stands for the secret part of the address. Leave *** to keep this part."
        name="webhookUrl"
        defaultValue={notify?.webhookUrl ?? ''}
        autocomplete="off"
      />
      <p>
        <label class="row">
          <input type="checkbox" name="linksInWebhooks" defaultChecked={notify?.linksInWebhooks ?? false} />
          Put links for decisions (retry, skip) into messages to the webhook. Everybody who reads the messages can use the links.
        </label>
      </p>
    </fieldset>
  );
}

export function notifyPatch({ emails = '', webhookUrl = '', linksInWebhooks }: Record<string, string>) {
  const addresses = emails.split(/[\s,;]+/).filter((address) => address !== '');
  return {
    emails: addresses.length > 0 ? addresses : null,
    webhookUrl: webhookUrl || null,
    linksInWebhooks: linksInWebhooks === 'on',
  };
}

export function contactsText({ emails = [], webhookUrl }: Notify = {}): string {
  return [...emails, ...(webhookUrl ? [webhookUrl] : [])].join(', ');
}
