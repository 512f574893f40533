/** Sets a user-defined field of a ticket, a timestamp in the wanted format and the company's zone. */

import { fieldValue } from '../chain/actions/update-udf.js';
import type { Activities } from '../contract/activities.js';
import { effectCall, readActionContext } from './action-context.js';
import type { Deps } from './deps.js';
import { effectFailure, mistake } from './failure.js';
import { effectResult } from './result.js';

export function updateUdf(deps: Deps): Activities['updateUdf'] {
  return async (input) => {
    const setting = await readActionContext(deps, input, 'ticketing');
    if ('skipped' in setting) return effectResult(setting);
    const { ticketId, field } = input.action;
    const value = fieldValue(input.action, setting.company.timeZone);
    if ('error' in value) throw mistake('DataMistake', value.error);
    try {
      await deps.connectors
        .ticketingOf(setting.company)
        .updateField(ticketId, { name: field, value: value.text }, effectCall(input));
    } catch (error) {
      throw effectFailure('TicketingError', error, input, { once: setting.rule.onUnknown === 'hold' });
    }
    return effectResult();
  };
}
