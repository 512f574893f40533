/** `sendEmails`: one message to each recipient. */

import { z } from 'zod';
import { readRecipients } from '../address.js';
import { cutShort, unsubstituted } from '../text.js';
import { defineAction, shortText, text } from './definition.js';

/** For each action. */
export const maxRecipients = 50;

export const sendEmails = defineAction({
  name: 'sendEmails',
  description: 'E-mails people: one message per recipient, who do not see each other.',
  needsAssignment: false,
  system: 'mail',
  fields: {
    emails: z
      .array(shortText(10_000), {
        error: ({ input }) =>
          input === undefined ? 'is required' : 'must be an array of strings, such as ["dispatch@example.com"]',
      })
      .min(1, 'needs at least one element')
      .superRefine((emails, context) => {
        const { length } = readRecipients(emails).recipients;
        if (length > maxRecipients) context.addIssue(`has ${length} recipients; at most ${maxRecipients} an action are allowed`);
      })
      .describe('Addresses; an element may be a comma-separated list.'),
    subject: text.describe('Subject line.'),
    body: text.describe('Plain-text body.'),
    bodyHtml: text.describe('HTML body.'),
  },
  effect: z.object({
    /** Addresses as written, display names included, each once. */
    recipients: z.array(z.string()),
    subject: z.string(),
    body: z.string(),
    bodyHtml: z.string(),
  }),
  read(fields, issues) {
    const { recipients, dropped } = readRecipients(fields.emails);
    for (const one of dropped)
      issues.warning('emails', `"${cutShort(one, 80)}" is no e-mail address${recipients.length > 0 ? ' and is left out' : ''}`);
    if (recipients.length === 0) issues.mistake('emails', 'has no valid e-mail address: every recipient is blank or invalid');
    else
      for (const [index, element] of fields.emails.entries())
        if (element.trim() === '') issues.warning(`emails/${index}`, 'is blank and is left out');
    for (const field of ['subject', 'body', 'bodyHtml'] as const) {
      const left = unsubstituted(fields[field]);
      if (left) issues.warning(field, `${cutShort(left, 80)} was not substituted and is sent as it stands`);
    }
    return { recipients, subject: fields.subject, body: fields.body, bodyHtml: fields.bodyHtml };
  },
});
