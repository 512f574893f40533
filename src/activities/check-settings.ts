/** Whether a company's systems answer and take its credentials, without changing anything there. */

import { activityInfo } from '@temporalio/activity';
import { ConnectorError } from '../connectors/call.js';
import type { Activities } from '../contract/activities.js';
import type { Checked, CheckedPart } from '../contract/company.js';
import { contactsOf } from '../notices/channels.js';
import type { Deps } from './effect.js';

export function checkSettings({ store, connectors, operatorEmail }: Deps): Activities['checkSettings'] {
  return async ({ companyId, assignmentId }) => {
    const { company, rules, pauses } = (await store.settings.of(companyId)) ?? {};
    if (!company) return [];
    const call = { timeoutMs: Math.min(activityInfo().startToCloseTimeoutMs - 2_000, 15_000) };
    const seen = async (part: CheckedPart, look: () => Promise<string>): Promise<Checked> => {
      try {
        return { part, works: true, detail: await look() };
      } catch (error) {
        if (!(error instanceof ConnectorError)) throw error;
        return { part, works: false, detail: error.message };
      }
    };
    const said = (part: CheckedPart, works: boolean, detail: string): Checked => ({ part, works, detail });
    const contacts = contactsOf(company.notify ?? {});
    const enabled = [...(rules?.values() ?? [])].filter(({ enabled }) => enabled);
    return [
      ...(await Promise.all([
        seen('platform', async () => connectors.platformOf(company).check(call, assignmentId)),
        seen('ticketing', async () => connectors.ticketingOf(company).check(call)),
        seen('mail', async () => connectors.mailerOf(company).check(call)),
      ])),
      contacts.length > 0
        ? said('contacts', true, `${contacts.length} to tell when something fails; a test notice shows whether it arrives`)
        : said('contacts', operatorEmail !== undefined, 'nobody of the company is told when something fails: set notify'),
      enabled.length > 0
        ? said('rules', true, `${enabled.length} can be used`)
        : said('rules', false, 'none can be used: make or enable one'),
      ...(pauses ?? []).map(({ what }) => said('pauses', false, `${what} is paused: what needs it waits`)),
    ];
  };
}
