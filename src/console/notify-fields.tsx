/** The contacts of a company or a rule: as form fields, and as a merge patch. */

import type { Notify } from '../contract/notify.js';
import { Field } from './parts.js';

export function NotifyFields({ notify, of }: { notify: Notify | undefined; of: string }) {
  return (
    <fieldset>
      <legend>Who gets a notice if something in this {of} fails</legend>
      <Field label="E-mail addresses" hint="One per line.">
        {(ids) => <textarea {...ids} name="emails" rows={2} defaultValue={notify?.emails?.join('\n') ?? ''} />}
      </Field>
      <Field label="Webhook" hint="The path is secret. *** keeps the stored one.">
        {(ids) => <input {...ids} name="webhookUrl" defaultValue={notify?.webhookUrl ?? ''} autocomplete="off" />}
      </Field>
      <p>
        <label class="row">
          <input type="checkbox" name="linksInWebhooks" defaultChecked={notify?.linksInWebhooks ?? false} />
          Messages to the webhook have links that retry or skip an action. Everybody who reads them can use the links.
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
