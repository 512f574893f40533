/** `platform_sendAssignment`: sends the assignment to groups of workers. */

import { z } from 'zod';
import { blankness, cutShort, isBlank } from '../text.js';
import { defineAction, ruledText, shortText } from './definition.js';

const effect = z.object({
  /** The union of `groupId` and `sendToGroups`, in order, without duplicates or blanks. */
  groupIds: z.array(z.string()).optional().describe('Absent: the platform decides.'),
  radiusMiles: z.number().optional(),
});
export type SendAssignment = z.infer<typeof effect>;

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
  effect,
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
