/** All activities of a worker. Every attempt is counted in the metrics. */

import type { Activities } from '../contract/activities.js';
import { awaitDelayed } from './await-delayed.js';
import { checkCondition } from './check-condition.js';
import type { Deps } from './deps.js';
import { joinDigest } from './join-digest.js';
import { notifyDigest } from './notify-digest.js';
import { notifyFailure } from './notify-failure.js';
import { notifyRule } from './notify-rule.js';
import { readPauses } from './read-pauses.js';
import { readPolicy } from './read-policy.js';
import { sendAssignment } from './send-assignment.js';
import { sendEmail } from './send-email.js';
import { steerChains } from './steer-chains.js';
import { testNotice } from './test-notice.js';
import { updateUdf } from './update-udf.js';

export function createActivities(deps: Deps): Activities {
  return deps.metrics.count<Activities>({
    awaitDelayed: awaitDelayed(deps),
    checkCondition: checkCondition(deps),
    joinDigest: joinDigest(deps),
    notifyDigest: notifyDigest(deps),
    notifyFailure: notifyFailure(deps),
    notifyRule: notifyRule(deps),
    readPauses: readPauses(deps),
    readPolicy: readPolicy(deps),
    sendAssignment: sendAssignment(deps),
    sendEmail: sendEmail(deps),
    steerChains: steerChains(deps),
    testNotice: testNotice(deps),
    updateUdf: updateUdf(deps),
  });
}
