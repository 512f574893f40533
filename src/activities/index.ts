/** All activities, made with what they work with. */

import type { Activities } from './activities.js';
import { awaitDelayed } from './await-delayed.js';
import { checkCondition } from './check-condition.js';
import type { Deps } from './deps.js';
import { notifyFailure } from './notify-failure.js';
import { readPolicy } from './read-policy.js';
import { sendAssignment } from './send-assignment.js';
import { sendEmail } from './send-email.js';
import { updateUdf } from './update-udf.js';

export function createActivities(deps: Deps): Activities {
  return {
    awaitDelayed: awaitDelayed(deps),
    checkCondition: checkCondition(deps),
    notifyFailure: notifyFailure(deps),
    readPolicy: readPolicy(deps),
    sendAssignment: sendAssignment(deps),
    sendEmail: sendEmail(deps),
    updateUdf: updateUdf(deps),
  };
}
