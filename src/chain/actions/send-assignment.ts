/** `platform_sendAssignment`: sends the assignment to groups of workers. */

import { isBlank } from '../text.js';
import { defineAction, text } from './definition.js';

export interface SendAssignment {
  action: 'platform_sendAssignment';
  /** The union of `groupId` and `sendToGroups`, in order, without duplicates or blanks; absent: the platform decides. */
  groupIds?: string[];
  radiusMiles?: number;
}

export const sendAssignment = defineAction({
  name: 'platform_sendAssignment',
  description: 'Sends the assignment to groups of workers, within a radius if one is given.',
  needsAssignment: true,
  fields: {
    groupId: text.max(1000).optional().describe('One group.'),
    sendToGroups: text.max(10_000).optional().describe('Several groups, separated by commas. Together with groupId: the union.'),
    sendRadius: text.max(50).optional().describe('Search radius around the assignment, in miles.'),
  },
  read(fields, findings): SendAssignment {
    const task: SendAssignment = { action: 'platform_sendAssignment' };
    if (fields.groupId !== undefined || fields.sendToGroups !== undefined) {
      const listed = [fields.groupId ?? '', ...(fields.sendToGroups ?? '').split(',')].map((id) => id.trim());
      task.groupIds = [...new Set(listed.filter((id) => !isBlank(id)))];
      const field = fields.sendToGroups === undefined ? 'groupId' : 'sendToGroups';
      if (task.groupIds.length === 0) findings.mistake(field, 'names no group: a blank list is never "send to everybody"');
      else
        for (const id of listed.filter((id) => id !== '' && isBlank(id)))
          findings.warning(field, `${id} was not substituted and is left out`);
    }
    if (fields.sendRadius !== undefined) {
      const radius = fields.sendRadius.trim();
      if (isBlank(radius))
        findings.mistake(
          'sendRadius',
          `is ${radius === '' ? 'blank' : `"${radius}", not substituted`}: a number of miles is needed`,
        );
      else if (!/^\d+(\.\d+)?$/.test(radius)) findings.problem('sendRadius', 'must be a number of miles, such as "25" or "2.5"');
      else task.radiusMiles = Number(radius);
    }
    return task;
  },
});
