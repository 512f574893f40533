/** Checks whether a company's systems answer and accept its credentials. The check changes no data in these systems. */

import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { type Connector, pausableWords } from '../chain/pause.js';
import { counted } from '../chain/text.js';
import { ConnectorError } from '../connectors/call.js';
import type { Activities } from '../contract/activities.js';
import type { Checked, CheckedPart } from '../contract/company.js';
import { contactsOf } from '../contract/notify.js';
import { namedIn } from '../rules/contents.js';
import type { Deps } from './effect.js';

const testShows = 'To check that notices arrive, send a test notice';

export function checkSettings({ store, connectors, inFlight, operatorEmail }: Deps): Activities['checkSettings'] {
  return async ({ companyId, assignmentId, ticketId, ...asked }) => {
    const { company, rules, contents, pauses } = (await store.settings.of(companyId)) ?? {};
    if (!company) return [];
    const call = { timeoutMs: Math.min(activityInfo().startToCloseTimeoutMs - 2_000, 15_000) };
    const seen = async (part: Connector, look: () => Promise<string>): Promise<Checked> => {
      try {
        return { part, works: true, detail: await inFlight.run(companyId, part, look) };
      } catch (error) {
        // InFlight throws an ApplicationFailure if the company has too many calls at the same time.
        if (!(error instanceof ConnectorError || error instanceof ApplicationFailure)) throw error;
        const { title, remedy } = error instanceof ConnectorError ? error.facts : {};
        return { part, works: false, title, remedy, detail: error.message };
      }
    };
    const said = (part: CheckedPart, works: boolean, detail: string): Checked => ({ part, works, detail });
    const contacts = contactsOf(company.notify ?? {});
    const unconfirmed = (await store.contacts.unconfirmed(companyId)).filter(({ contact }) => contacts.includes(contact)).length;
    const open = unconfirmed > 0 ? `. Not confirmed yet: ${unconfirmed} (the first notice has a link to confirm)` : '';
    const enabled = [...(rules?.values() ?? [])].filter(({ enabled }) => enabled);
    const published = enabled.flatMap(({ relayId }) => contents?.get(relayId)?.published ?? []);
    const named = published.map((version) => namedIn(version.contents));
    const all = (what: 'groups' | 'fields') => [...new Set([...(asked[what] ?? []), ...named.flatMap((names) => names[what])])];
    const [groups, fields] = [all('groups'), all('fields')];
    return [
      ...(await Promise.all([
        seen('platform', async () => connectors.platformOf(company).check(call, { assignmentId, groups })),
        seen('ticketing', async () => connectors.ticketingOf(company).check(call, { ticketId, fields })),
        seen('mail', async () => connectors.mailerOf(company).check(call)),
      ])),
      contacts.length > 0
        ? said('contacts', true, `notices go to ${counted(contacts.length, 'contact')}${open}. ${testShows}`)
        : said('contacts', operatorEmail !== undefined, 'nobody in the company gets notices about failures: add a contact'),
      enabled.length > 0
        ? said('rules', true, `${counted(enabled.length, 'rule')} enabled`)
        : said('rules', false, 'no rule can be used: create a rule or enable one'),
      ...(pauses ?? []).map(({ what }) => said('pauses', false, `${pausableWords[what]} is paused: the steps wait`)),
    ];
  };
}
