import { fieldValue } from '../chain/actions.js';
import type { Activities } from '../contract/activities.js';
import { type Deps, effectActivity } from './effect.js';
import { mistake } from './failure.js';

export function updateUdf(deps: Deps): Activities['updateUdf'] {
  return effectActivity(deps, 'ticketing', async ({ action }, company, call) => {
    const value = fieldValue(action, company.timeZone);
    if (!value.ok) throw mistake('DataMistake', value.error);
    await deps.connectors.ticketingOf(company).updateField(action.ticketId, { name: action.field, value: value.text }, call);
  });
}
