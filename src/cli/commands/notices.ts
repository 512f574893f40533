/** `relay notices test`: whether notices arrive. */

import { noticeTestResponse } from '../../api/admin/notices.js';
import { path } from '../api.js';
import { defineCommand } from '../command.js';
import { exitCodes } from '../exit-codes.js';

export const testNotices = defineCommand({
  arguments: ['companyId'],
  options: { rule: { type: 'string', value: 'relayId', help: 'whose own contacts get it as well' } },
  summary: 'send a test notice to every contact, and tell where it arrived',
  details: 'It takes the way of real notices, through a worker. Exit code 1 where it did not arrive everywhere.',
  example: 'relay notices test acme --rule 4711',
  nextSteps: { 503: 'See what is not running: npx relay health.' },
  run: async (session, { companyId }, { rule }) => {
    const answer = await session.api.ask('POST', path`/admin/companies/${companyId}/notices/test`, { body: { relayId: rule } });
    const { contacts } = session.api.read(noticeTestResponse, answer);
    session.show(answer, noticeTestResponse, () =>
      contacts.length === 0
        ? [`Nobody would be told. Name somebody: npx relay companies set ${companyId} --notify-email <address>`]
        : contacts.map(
            ({ contact, delivered, error }) => `${contact}: ${delivered ? 'delivered' : `not delivered: ${error ?? ''}`}`,
          ),
    );
    return contacts.length > 0 && contacts.every(({ delivered }) => delivered) ? undefined : exitCodes.refused;
  },
});
