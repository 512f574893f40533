/**
 * The table of actions. To add one: its file here, its type in `chain.ts`, its activity, its line in the workflows' table, tests,
 * docs.
 */

import { sendAssignment } from './send-assignment.js';
import { sendEmails } from './send-emails.js';
import { updateUdf } from './update-udf.js';

export const actionDefinitions = [sendAssignment, sendEmails, updateUdf] as const;
