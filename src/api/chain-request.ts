/**
 * The body of a chain's POST, for the OpenAPI document: what is read is read by chain/request.ts, which says more about mistakes.
 */

import { z } from 'zod';
import emailSendEmail from '../../examples/email-send-email.json' with { type: 'json' };
import twoGroups from '../../examples/two-groups.json' with { type: 'json' };
import widenThenAlert from '../../examples/widen-then-alert.json' with { type: 'json' };
import { actionDefinitions } from '../chain/actions/actions.js';
import { commonFields, maxActions } from '../chain/request.js';

/** One schema for each action, of the fields that every action has and its own. */
const actionRequests = actionDefinitions.map(({ name, description, needsAssignment, fields }) => {
  const { platformAssignmentId } = commonFields;
  const assignment = needsAssignment
    ? platformAssignmentId.unwrap().describe(platformAssignmentId.description ?? '')
    : platformAssignmentId;
  const action = z.literal(name).describe('The name of this action.');
  return z.object({ ...commonFields, action, platformAssignmentId: assignment, ...fields }).meta({ id: name, description });
});

export const chainRequest = z
  .array(z.union(actionRequests))
  .min(1)
  .max(maxActions)
  .meta({
    id: 'ChainRequest',
    description:
      'The actions, in the order in which they run. Values are strings; a JSON number or boolean is read as its text. A field ' +
      'that is not known is ignored with a warning, one that looks like a misspelt one is refused.',
  });

export const chainExamples = {
  'widen-then-alert': {
    summary: 'Send with growing radius and growing delays, then alert the manager if nobody was found.',
    value: widenThenAlert,
  },
  'email-send-email': { summary: 'An e-mail, then a send, then an e-mail, strictly in this order.', value: emailSendEmail },
  'two-groups': { summary: 'One group now, another half an hour later.', value: twoGroups },
};
