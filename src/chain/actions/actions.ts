/** The table of actions. docs/developing.md says what else a new one needs. */

import { sendAssignment } from './send-assignment.js';
import { sendEmails } from './send-emails.js';
import { updateUdf } from './update-udf.js';

export const actionDefinitions = [sendAssignment, sendEmails, updateUdf] as const;

/** What an action does, read from its own fields. */
export type ActionEffect = NonNullable<ReturnType<(typeof actionDefinitions)[number]['parse']>>;
