/** `ticket_updateUDF`: sets a user-defined field of a ticket. */

import { z } from 'zod';
import { blankness, cutShort, isBlank, unsubstituted } from '../text.js';
import { formatTimestamp, parsePattern } from '../timestamp/pattern.js';
import { readTimestamp } from '../timestamp/read.js';
import { defineAction, ruledText, shortText, text } from './definition.js';

const shownEffect = z.object({
  ticketId: z.string(),
  field: z.string(),
  value: z.string().describe("As it would be written: a timestamp already in its format and in the company's time zone."),
});
/** `dateFormat` is the Java timestamp pattern to write the value in; absent: as it is. */
export interface UpdateUdf extends z.infer<typeof shownEffect> {
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
    cfTargetDateFormat: ruledText((format) => {
      const parsed = parsePattern(format);
      return parsed.ok ? undefined : parsed.error;
    })
      .max(256, 'must have at most 256 characters')
      .optional()
      .describe('Java timestamp pattern in which a timestamp in cfValue is written.'),
  },
  effect: shownEffect,
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
