/** The one table of actions. To add one: its file here, its line below, its line in `workflows/effects.ts`, its activity, its docs page. */

import { sendAssignment } from './send-assignment.js';
import { sendEmails } from './send-emails.js';
import { updateUdf } from './update-udf.js';

export const actionDefinitions = [sendAssignment, sendEmails, updateUdf] as const;
