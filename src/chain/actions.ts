/** Defines each action: its request fields, and the effect that these fields describe. To add an action, see docs/developing.md. */

import { z } from 'zod';
import { readRecipients } from './address.js';
import { defineAction, ruledText, shortText, text } from './define-action.js';
import { blankness, cutShort, leftover, type Parsed, unsubstituted } from './text.js';
import { formatTimestamp, parsePattern } from './timestamp/pattern.js';
import { readTimestamp } from './timestamp/read.js';

export const sendAssignment = defineAction({
  name: 'platform_sendAssignment',
  description: 'Sends the assignment to groups of technicians, within a radius if one is given.',
  needsAssignment: true,
  fields: {
    groupId: shortText(1000).optional().describe('One group.'),
    sendToGroups: shortText(10_000).optional().describe('Several groups, separated by commas. The group in groupId is added.'),
    sendRadius: ruledText(256, (radius) =>
      /^\s*(\d{1,9}(\.\d{1,9})?)?\s*$/.test(radius) ? undefined : 'must be a number of miles, such as "25" or "2.5"',
    )
      .optional()
      .describe('Search radius around the assignment, in miles.'),
  },
  verbatim: { sendRadius: 'radiusMiles' },
  effect: z.object({
    /** The list contains no duplicates and no blank ids. */
    groupIds: z.array(z.string()).optional().describe('If absent, the platform decides.'),
    radiusMiles: z.number().optional(),
  }),
  read({ groupId, sendToGroups, sendRadius }, issues): { groupIds?: string[]; radiusMiles?: number } {
    const listed = Object.entries({ groupId: [groupId ?? ''], sendToGroups: sendToGroups?.split(',') ?? [] });
    const ids = listed.flatMap(([field, ids]) => ids.map((id) => ({ field, id: id.trim() })));
    const groupIds = [...new Set(ids.flatMap(({ id }) => (blankness(id) ? [] : id)))];
    const isNamed = groupId !== undefined || sendToGroups !== undefined;
    if (isNamed && groupIds.length === 0) {
      const field = sendToGroups === undefined ? 'groupId' : 'sendToGroups';
      issues.mistake(field, 'has no group: an empty field does not mean "send to everybody"');
    } else
      for (const { field, id } of ids)
        if (unsubstituted(id))
          issues.warning(field, `has "${cutShort(id, 80)}", which the webhook did not fill in and which is left out`);
    const blank = blankness(sendRadius);
    issues.mistake('sendRadius', blank && `${blank} (a number of miles is needed)`);
    return {
      groupIds: isNamed ? groupIds : undefined,
      radiusMiles: sendRadius === undefined || blank ? undefined : Number(sendRadius),
    };
  },
});

export const maxRecipients = 50; // the maximum for each action
const maxEntries = 1000; // the maximum for each action, including blank and invalid addresses
const maxCharacters = 50_000;

export const sendEmails = defineAction({
  name: 'sendEmails',
  description: 'Sends one e-mail to each recipient. Recipients do not see each other.',
  needsAssignment: false,
  fields: {
    emails: z
      .array(shortText(10_000), {
        error: ({ input }) =>
          input === undefined ? 'is required' : 'must be an array of strings, such as ["dispatch@example.com"]',
      })
      .min(1, 'needs at least one element')
      .superRefine((emails, context) => {
        const text = emails.join();
        if (text.length > maxCharacters) return context.addIssue(`must have at most ${maxCharacters} characters altogether`);
        if (text.split(',').length > maxEntries) return context.addIssue(`must have at most ${maxEntries} entries`);
        const { length } = readRecipients(emails).recipients;
        if (length > maxRecipients) context.addIssue(`has ${length} recipients; at most ${maxRecipients} are allowed`);
      })
      .describe('The addresses. An element may contain several addresses, separated by commas.'),
    subject: text.describe('Subject line.'),
    body: text.describe('Plain-text body.'),
    bodyHtml: text.describe('HTML body.'),
  },
  verbatim: { emails: 'recipients', subject: 'subject', body: 'body', bodyHtml: 'bodyHtml' },
  effect: z.object({ recipients: z.array(z.string()), subject: z.string(), body: z.string(), bodyHtml: z.string() }),
  read(fields, issues) {
    const { recipients, dropped } = readRecipients(fields.emails);
    for (const one of dropped)
      issues.warning(
        'emails',
        `has the entry "${cutShort(one, 80)}", which is no e-mail address${recipients.length > 0 ? '; the relay leaves it out' : ''}`,
      );
    if (recipients.length === 0) issues.mistake('emails', 'has no valid e-mail address: every recipient is blank or invalid');
    else
      for (const [index, element] of fields.emails.entries())
        if (element.trim() === '') issues.warning(`emails/${index}`, 'is blank and is left out');
    for (const field of ['subject', 'body', 'bodyHtml'] as const) {
      const left = unsubstituted(fields[field]);
      if (left) issues.warning(field, `has ${left}, which the webhook did not fill in and which is sent unchanged`);
    }
    return { recipients, subject: fields.subject, body: fields.body, bodyHtml: fields.bodyHtml };
  },
});

export const updateUdf = defineAction({
  name: 'ticket_updateUDF',
  description: 'Sets a user-defined field of a ticket in the external ticketing system.',
  needsAssignment: false,
  fields: {
    externalSystemTicketId: shortText(256).describe('The ticket in the external system.'),
    cfName: shortText(256).describe('Name of the user-defined field.'),
    cfValue: text.describe('New value.'),
    cfTargetDateFormat: ruledText(256, (format) => parsePattern(format).error)
      .optional()
      .describe('A Java timestamp pattern. The relay formats the timestamp in cfValue with this pattern.'),
  },
  verbatim: { externalSystemTicketId: 'ticketId', cfName: 'field', cfValue: 'value', cfTargetDateFormat: 'dateFormat' },
  effect: z.object({
    ticketId: z.string(),
    field: z.string(),
    value: z.string().describe("The value to write. A timestamp is already formatted, in the company's time zone."),
  }),
  read(fields, issues): { ticketId: string; field: string; value: string; dateFormat?: string } {
    for (const field of ['externalSystemTicketId', 'cfName', 'cfTargetDateFormat'] as const)
      issues.mistake(field, blankness(fields[field]));
    issues.mistake('cfValue', leftover(fields.cfValue));
    const { cfTargetDateFormat: dateFormat } = fields;
    const warnings = dateFormat === undefined || unsubstituted(dateFormat) ? [] : parsePattern(dateFormat).warnings;
    for (const warning of warnings ?? []) issues.warning('cfTargetDateFormat', warning);
    return { ticketId: fields.externalSystemTicketId.trim(), field: fields.cfName, value: fields.cfValue, dateFormat };
  },
  preview({ ticketId, field, ...written }, timeZone) {
    const value = fieldValue(written, timeZone);
    return value.ok ? { effect: { ticketId, field, value: value.text } } : { obstacle: value.error };
  },
});

/** Returns the value as text. If `dateFormat` is set, reads a timestamp and writes it with this Java pattern in the time zone. */
export function fieldValue(field: { value: string; dateFormat?: string }, timeZone: string): Parsed<{ text: string }> {
  if (field.dateFormat === undefined) return { ok: true, text: field.value };
  const parsed = parsePattern(field.dateFormat);
  if (!parsed.ok) return { ok: false, error: `cfTargetDateFormat ${parsed.error}` };
  const timestamp = readTimestamp(field.value, timeZone);
  if (!timestamp.ok) return { ok: false, error: `cfValue ${timestamp.error}` };
  try {
    return { ok: true, text: formatTimestamp(parsed.pattern, timestamp.epochMillis, timeZone) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { ok: false, error: `cfTargetDateFormat cannot write ${cutShort(field.value, 80)}: ${error.message}` };
  }
}

export const actionDefinitions = [sendAssignment, sendEmails, updateUdf] as const;

export type ActionEffect = NonNullable<ReturnType<(typeof actionDefinitions)[number]['parse']>>;
