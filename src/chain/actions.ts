/** The actions: what a request says of each, and the effect that is read from it. docs/developing.md says what a new one needs. */

import { z } from 'zod';
import { defineAction, ruledText, shortText, text } from './action-definition.js';
import { readRecipients } from './address.js';
import { blankness, cutShort, isBlank, unsubstituted } from './text.js';
import { formatTimestamp, parsePattern } from './timestamp/pattern.js';
import { readTimestamp } from './timestamp/read.js';

const assignmentEffect = z.object({
  /** The union of `groupId` and `sendToGroups`, in order, without duplicates or blanks. */
  groupIds: z.array(z.string()).optional().describe('Absent: the platform decides.'),
  radiusMiles: z.number().optional(),
});
export type SendAssignment = z.infer<typeof assignmentEffect>;

export const sendAssignment = defineAction({
  name: 'platform_sendAssignment',
  description: 'Sends the assignment to groups of workers, within a radius if one is given.',
  needsAssignment: true,
  system: 'platform',
  fields: {
    groupId: shortText(1000).optional().describe('One group.'),
    sendToGroups: shortText(10_000).optional().describe('Several groups, separated by commas. Together with groupId: the union.'),
    sendRadius: ruledText((radius) =>
      /^\s*(\d{1,9}(\.\d{1,9})?)?\s*$/.test(radius) ? undefined : 'must be a number of miles, such as "25" or "2.5"',
    )
      .optional()
      .describe('Search radius around the assignment, in miles.'),
  },
  effect: assignmentEffect,
  read(fields, issues) {
    const sent: SendAssignment = {};
    if (fields.groupId !== undefined || fields.sendToGroups !== undefined) {
      const listed = { groupId: [fields.groupId ?? ''], sendToGroups: (fields.sendToGroups ?? '').split(',') };
      const ids = Object.values(listed).flatMap((ids) => ids.map((id) => id.trim()));
      sent.groupIds = [...new Set(ids.filter((id) => !isBlank(id)))];
      if (sent.groupIds.length === 0) {
        const field = fields.sendToGroups === undefined ? 'groupId' : 'sendToGroups';
        issues.mistake(field, 'names no group: a blank list is never "send to everybody"');
      } else {
        for (const [field, ids] of Object.entries(listed))
          for (const id of ids.filter((id) => id.trim() !== '' && isBlank(id)))
            issues.warning(field, `"${cutShort(id.trim(), 80)}" was not substituted and is left out`);
      }
    }
    if (fields.sendRadius !== undefined) {
      if (isBlank(fields.sendRadius))
        issues.mistake('sendRadius', `${blankness(fields.sendRadius)}: a number of miles is needed`);
      else sent.radiusMiles = Number(fields.sendRadius);
    }
    return sent;
  },
});

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

const fieldEffect = z.object({
  ticketId: z.string(),
  field: z.string(),
  value: z.string().describe("As it would be written: a timestamp already in its format and in the company's time zone."),
});
/** `dateFormat` is the Java timestamp pattern to write the value in; absent: as it is. */
export interface UpdateUdf extends z.infer<typeof fieldEffect> {
  dateFormat?: string;
}

export const updateUdf = defineAction({
  name: 'ticket_updateUDF',
  description: 'Sets a user-defined field of a ticket in the external ticketing system.',
  needsAssignment: false,
  system: 'ticketing',
  fields: {
    externalSystemTicketId: shortText(256).describe('The ticket in the external system.'),
    cfName: shortText(256).describe('Name of the user-defined field.'),
    cfValue: text.describe('New value.'),
    cfTargetDateFormat: ruledText((format) => parsePattern(format).error)
      .max(256, 'must have at most 256 characters')
      .optional()
      .describe('Java timestamp pattern in which a timestamp in cfValue is written.'),
  },
  effect: fieldEffect,
  read(fields, issues): UpdateUdf {
    for (const field of ['externalSystemTicketId', 'cfName'] as const) {
      if (isBlank(fields[field])) issues.mistake(field, blankness(fields[field]));
    }
    const left = unsubstituted(fields.cfValue);
    if (left) issues.mistake('cfValue', `contains ${cutShort(left, 80)}, which was not substituted`);
    const format = fields.cfTargetDateFormat;
    if (format !== undefined && isBlank(format)) issues.mistake('cfTargetDateFormat', blankness(format));
    else if (format !== undefined) {
      const parsed = parsePattern(format);
      for (const warning of parsed.ok ? parsed.warnings : []) issues.warning('cfTargetDateFormat', warning);
    }
    return {
      ticketId: fields.externalSystemTicketId.trim(),
      field: fields.cfName,
      value: fields.cfValue,
      ...(format !== undefined && { dateFormat: format }),
    };
  },
  preview(effect, timeZone) {
    const value = fieldValue(effect, timeZone);
    if ('error' in value) return { obstacle: value.error };
    return { effect: { ticketId: effect.ticketId, field: effect.field, value: value.text } };
  },
});

/** The text to write: the value as it is, or its timestamp as the pattern says, in the zone. */
export function fieldValue(
  { value, dateFormat }: Pick<UpdateUdf, 'value' | 'dateFormat'>,
  timeZone: string,
): { text: string } | { error: string } {
  if (dateFormat === undefined) return { text: value };
  const pattern = parsePattern(dateFormat);
  if (!pattern.ok) return { error: `cfTargetDateFormat ${pattern.error}` };
  const timestamp = readTimestamp(value, timeZone);
  if (!timestamp.ok) return { error: `cfValue ${timestamp.error}` };
  try {
    return { text: formatTimestamp(pattern.pattern, timestamp.epochMillis, timeZone) };
  } catch (error) {
    if (error instanceof RangeError) return { error: `cfTargetDateFormat cannot write ${cutShort(value, 80)}: ${error.message}` };
    throw error;
  }
}

export const actionDefinitions = [sendAssignment, sendEmails, updateUdf] as const;

/** What an action does, read from its own fields. */
export type ActionEffect = NonNullable<ReturnType<(typeof actionDefinitions)[number]['parse']>>;
