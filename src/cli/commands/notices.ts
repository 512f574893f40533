/** `relay notices test`: whether notices arrive. */

import type { Command } from '@commander-js/extra-typings';
import { noticeTestResponse } from '../../contract/notify.js';
import { path } from '../api.js';
import { exitCodes } from '../exit-codes.js';
import { example } from '../options.js';
import type { Session } from '../session.js';

export function notices(relay: Command, session: Session): void {
  relay
    .command('notices')
    .summary('whether notices arrive')
    .command('test <companyId>')
    .summary('send a test notice to every contact, and tell where it arrived')
    .description('It takes the way of real notices, through a worker. Exit code 1 where it did not arrive everywhere.')
    .option('--rule <relayId>', 'whose own contacts get it as well')
    .addHelpText(...example('relay notices test acme --rule 4711'))
    .action(async (companyId, { rule }) => {
      const answer = await session.api.ask('POST', path`/admin/companies/${companyId}/notices/test`, noticeTestResponse, {
        body: { relayId: rule },
        nextStep: ({ status }) => (status === 503 ? 'See what is not running: npx relay health.' : undefined),
      });
      const { contacts } = answer.body;
      const nobody = `Nobody would be told. Name somebody: npx relay companies set ${companyId} --notify-email <address>`;
      const lines = contacts.map(
        ({ contact, delivered, error }) => `${contact}: ${delivered ? 'delivered' : `not delivered: ${error ?? ''}`}`,
      );
      session.show(answer, contacts.length === 0 ? [nobody] : lines);
      if (contacts.length === 0 || contacts.some(({ delivered }) => !delivered)) session.exitCode = exitCodes.refused;
    });
}
