/** `ticket_updateUDF`: sets a user-defined field of a ticket. */

import { blankness, cutShort, isBlank, unsubstituted } from '../text.js';
import { parsePattern } from '../timestamp/index.js';
import { defineAction, ruledText, shortText, text } from './definition.js';

export interface UpdateUdf {
  action: 'ticket_updateUDF';
  ticketId: string;
  field: string;
  value: string;
  /** The Java timestamp pattern to write the value in; absent: as it is. */
  dateFormat?: string;
}

export const updateUdf = defineAction({
  name: 'ticket_updateUDF',
  description: 'Sets a user-defined field of a ticket in the external ticketing system.',
  needsAssignment: false,
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
  read(fields, findings): UpdateUdf {
    for (const field of ['externalSystemTicketId', 'cfName'] as const) {
      if (isBlank(fields[field])) findings.mistake(field, blankness(fields[field]));
    }
    const left = unsubstituted(fields.cfValue);
    if (left) findings.mistake('cfValue', `contains ${cutShort(left, 80)}, which was not substituted`);
    const format = fields.cfTargetDateFormat;
    if (format !== undefined && isBlank(format)) findings.mistake('cfTargetDateFormat', blankness(format));
    else if (format !== undefined) {
      const parsed = parsePattern(format);
      for (const warning of parsed.ok ? parsed.warnings : []) findings.warning('cfTargetDateFormat', warning);
    }
    return {
      action: 'ticket_updateUDF',
      ticketId: fields.externalSystemTicketId.trim(),
      field: fields.cfName,
      value: fields.cfValue,
      ...(format !== undefined && { dateFormat: format }),
    };
  },
});
