/** Sets a user-defined field of a ticket, a timestamp in the wanted format and the company's zone. */

import type { UpdateUdf } from '../chain/actions/update-udf.js';
import { cutShort } from '../chain/text.js';
import { formatTimestamp, parsePattern, readTimestamp } from '../chain/timestamp/index.js';
import type { Activities } from './activities.js';
import type { Deps } from './deps.js';
import { effectFailure, mistake } from './failure.js';
import { effectResult } from './result.js';
import { effectCall, readSetting } from './setting.js';

export function updateUdf(deps: Deps): Activities['updateUdf'] {
  return async (input) => {
    const setting = await readSetting(deps, input);
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

/** The text to write: the value as it is, or its timestamp as the pattern says, in the zone. */
export function fieldValue(
  { value, dateFormat }: Pick<UpdateUdf, 'value' | 'dateFormat'>,
  timeZone: string,
): { text: string } | { error: string } {
  if (dateFormat === undefined) return { text: value };
  const pattern = parsePattern(dateFormat);
  if (!pattern.ok) return { error: `cfTargetDateFormat ${pattern.error}` };
  const timestamp = readTimestamp(value, timeZone);
  if (!timestamp.ok) return { error: `cfValue ${timestamp.error}` };
  try {
    return { text: formatTimestamp(pattern.pattern, timestamp.epochMillis, timeZone) };
  } catch (error) {
    if (error instanceof RangeError) return { error: `cfTargetDateFormat cannot write ${cutShort(value, 80)}: ${error.message}` };
    throw error;
  }
}
