/** All activities of a worker. Metrics count every attempt. The log and the traces record every attempt at an effect. */

import type { Activities } from '../contract/activities.js';
import { awaitDelayed } from './await-delayed.js';
import { checkCondition } from './check-condition.js';
import { checkSettings } from './check-settings.js';
import { doEffects } from './do-effects.js';
import type { Deps } from './effect.js';
import { InFlight } from './in-flight.js';
import { mendAction } from './mend-action.js';
import { deliverNotice, notifyFailure } from './notify-failure.js';
import { observed, observedEffects } from './observed.js';
import { readPauses, readPolicy } from './read-settings.js';
import { sendAssignment } from './send-assignment.js';
import { sendEmail } from './send-email.js';
import { steerChains } from './steer-chains.js';
import { updateUdf } from './update-udf.js';

export function createActivities(options: Omit<Deps, 'inFlight'>): Activities {
  const deps = { ...options, inFlight: new InFlight(options) };
  const effects = observedEffects(deps, {
    sendAssignment: sendAssignment(deps),
    updateUdf: updateUdf(deps),
    sendEmail: sendEmail(deps),
  });
  const others = observed(deps, {
    awaitDelayed: awaitDelayed(deps),
    checkCondition: checkCondition(deps),
    checkSettings: checkSettings(deps),
    deliverNotice: deliverNotice(deps),
    mendAction,
    notifyFailure: notifyFailure(deps),
    readPauses: readPauses(deps),
    readPolicy: readPolicy(deps),
    steerChains: steerChains(deps),
  });
  return { ...effects, ...others, doEffects: doEffects(effects) };
}
