/** `relay companies`: who uses the relay, and with which settings. */

import type { Command } from '@commander-js/extra-typings';
import { companiesResponse, companySchema, type StoredCompany } from '../../contract/company.js';
import { type Answer, path, Refused } from '../api.js';
import { UsageError } from '../exit-codes.js';
import { showList } from '../list.js';
import { example, withParts, yesOption } from '../options.js';
import type { Session } from '../session.js';
import * as settings from '../settings.js';
import { fields } from '../table.js';

export function companies(relay: Command, session: Session): void {
  const companies = relay.command('companies').summary('who uses the relay, and with which settings');

  withParts(companies.command('list', { isDefault: true }))
    .summary('list the companies')
    .addHelpText(...example('relay companies'))
    .action((options) =>
      showList(session, options, {
        path: '/admin/companies',
        field: 'companies',
        schema: companiesResponse,
        columns: { COMPANY: 'companyId', NAME: 'name', 'TIME ZONE': 'timeZone', CHANGED: 'updatedAt' },
        none: 'There is no company yet. Make one: npx relay companies set <companyId> --name <name> --notify-email <address>',
      }),
    );

  companies
    .command('show <companyId>')
    .summary('show the settings of a company')
    .description('Secrets are shown as ***.')
    .addHelpText(...example('relay companies show acme'))
    .action(async (companyId) => {
      const answer = await session.api.ask('GET', path`/admin/companies/${companyId}`, companySchema);
      session.show(answer, fields(answer.body));
    });

  settings
    .withSettings(companies.command('set <companyId>'))
    .summary('make a company, or change its settings')
    .description(
      'What is not named stays as it is; addresses given with --notify-email replace those before. ' +
        'A null in --file removes a setting. ' +
        'Secrets given as options can be seen in the list of processes: --file - keeps them out of it.',
    )
    .option('--name <name>', 'needed for a new company')
    .option('--time-zone <zone>', 'such as Europe/Berlin or +02:00')
    .option('--platform-url <url>', 'where assignments live')
    .option('--platform-token <token>', 'bearer token for it')
    .option('--ticketing-url <url>', 'the ticket system')
    .option('--ticketing-token <token>', 'bearer token for it')
    .option('--mail-from <address>', 'the sender of e-mails')
    .option('--mail-reply-to <address>', 'where replies go')
    .option('--mail-smtp-url <url>', "the company's own mail server")
    .option('--webhook-secret <whsec_…>', 'its webhooks are signed with it; nothing unsigned is taken then')
    .addHelpText(...example('relay companies set acme --name "Acme Field Services" --notify-email office@acme.example'))
    .action(async (companyId, options) => {
      const body = await settings.readSettings(session.terminal, options.file, {
        name: options.name,
        timeZone: options.timeZone,
        webhookSecret: options.webhookSecret,
        notify: settings.notifyOf(options),
        platform: connection(options.platformUrl, options.platformToken),
        ticketing: connection(options.ticketingUrl, options.ticketingToken),
        mail: { from: options.mailFrom, replyTo: options.mailReplyTo, smtpUrl: options.mailSmtpUrl },
      });
      const answer = await changeOrMake(companyId, body);
      const made = answer.status === 201;
      session.show(answer, [
        `Company ${companyId} is ${made ? 'made' : 'changed'}.`,
        '',
        ...fields(answer.body),
        ...(made ? ['', `Next, a rule for it: npx relay rules create ${companyId} --name <name>`] : []),
      ]);
    });

  companies
    .command('delete <companyId>')
    .summary('delete a company with its rules, tokens and keys')
    .addOption(yesOption)
    .addHelpText(...example('relay companies delete acme --yes'))
    .action((companyId, { yes }) =>
      session.delete(
        path`/admin/companies/${companyId}`,
        yes,
        `Delete company ${companyId} with its rules, tokens and keys?`,
        `Company ${companyId} is deleted.`,
      ),
    );

  async function changeOrMake(companyId: string, body: settings.Settings): Promise<Answer<StoredCompany>> {
    const target = path`/admin/companies/${companyId}`;
    try {
      return await session.api.ask('PATCH', target, companySchema, { body, headers: settings.mergePatch });
    } catch (error) {
      if (!(error instanceof Refused && error.problem.status === 404)) throw error;
      if (body.name === undefined) throw new UsageError(`There is no company ${companyId} yet; to make it, give --name`);
      return session.api.ask('PUT', target, companySchema, { body });
    }
  }
}

function connection(baseUrl: string | undefined, token: string | undefined): settings.Settings {
  return { kind: baseUrl && 'http', baseUrl, auth: token === undefined ? undefined : { type: 'bearer', token } };
}
