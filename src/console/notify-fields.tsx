/** The contacts of a company or a rule in a form, and as a merge patch. */

import type { Notify } from '../contract/notify.js';
import { Field } from './parts.js';

export function NotifyFields({ notify, of }: { notify: Notify | undefined; of: string }) {
  return (
    <fieldset>
      <legend>Who is told when something of this {of} fails</legend>
      <Field label="E-mail addresses" hint="One a line.">
        {(ids) => <textarea {...ids} name="emails" rows={2} defaultValue={notify?.emails?.join('\n') ?? ''} />}
      </Field>
      <Field label="Webhook" hint="Its path is a secret: what is shown as *** stays as it is.">
        {(ids) => <input {...ids} name="webhookUrl" defaultValue={notify?.webhookUrl ?? ''} autocomplete="off" />}
      </Field>
    </fieldset>
  );
}

/** What the form changes, as a merge patch; `null` removes. */
export function notifyPatch({ emails = '', webhookUrl = '' }: Record<string, string>) {
  const addresses = emails.split(/[\s,;]+/).filter((address) => address !== '');
  return { emails: addresses.length > 0 ? addresses : null, webhookUrl: webhookUrl || null };
}

export function contactsText({ emails = [], webhookUrl }: Notify = {}): string {
  return [...emails, ...(webhookUrl ? [webhookUrl] : [])].join(', ');
}
