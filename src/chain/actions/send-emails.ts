/** `sendEmails`: one message to each recipient. */

import { z } from 'zod';
import { readRecipients } from '../address.js';
import { cutShort, unsubstituted } from '../text.js';
import { defineAction, text } from './definition.js';

export interface SendEmails {
  action: 'sendEmails';
  /** Addresses as written, display names included, each once. */
  recipients: string[];
  subject: string;
  body: string;
  bodyHtml: string;
}

/** At most so many recipients an action. */
export const maxRecipients = 50;

export const sendEmails = defineAction({
  name: 'sendEmails',
  description: 'E-mails people: one message per recipient, who do not see each other.',
  needsAssignment: false,
  fields: {
    emails: z
      .array(text.max(10_000), 'must be an array of strings, such as ["dispatch@example.com"]')
      .min(1, 'needs at least one element')
      .max(1000)
      .describe('Addresses; an element may be a comma-separated list.'),
    subject: text.describe('Subject line.'),
    body: text.describe('Plain-text body.'),
    bodyHtml: text.describe('HTML body.'),
  },
  read(fields, findings): SendEmails {
    const { recipients, dropped } = readRecipients(fields.emails);
    for (const one of dropped)
      findings.warning('emails', `"${cutShort(one, 80)}" is no e-mail address${recipients.length > 0 ? ' and is left out' : ''}`);
    if (recipients.length === 0) findings.mistake('emails', 'has no valid e-mail address: every recipient is blank or invalid');
    if (recipients.length > maxRecipients)
      findings.problem('emails', `has ${recipients.length} recipients; at most ${maxRecipients} an action are allowed`);
    for (const field of ['subject', 'body', 'bodyHtml'] as const) {
      const left = unsubstituted(fields[field]);
      if (left) findings.warning(field, `${cutShort(left, 80)} was not substituted and is sent as it stands`);
    }
    return { action: 'sendEmails', recipients, subject: fields.subject, body: fields.body, bodyHtml: fields.bodyHtml };
  },
});
