import { fieldValue } from '../chain/actions.js';
import type { Activities } from '../contract/activities.js';
import { type Deps, effectActivity } from './effect.js';
import { mistake } from './failure.js';
import { filled } from './late.js';

export function updateUdf(deps: Deps): Activities['updateUdf'] {
  return effectActivity(deps, 'ticketing', deps.connectors.ticketingOf, (ticketing, input, { timeZone }, call) => {
    const action = filled(input.action, input.values);
    const { ticketId, field: name, value, dateFormat } = action;
    const read = fieldValue(action, timeZone);
    if (!read.ok) throw mistake('DataMistake', read.error);
    return ticketing.setField({ ticketId, name, text: read.text, value, hasPattern: dateFormat !== undefined, timeZone }, call);
  });
}
