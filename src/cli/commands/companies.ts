/** `relay companies`: who uses the relay, and with which settings. */

import { companiesResponse, companySchema, type StoredCompany } from '../../contract/company.js';
import { type Answer, path, Refused } from '../api.js';
import { type Commands, command, readSettings, type Settings, withParts, withSettings, yesOption } from '../options.js';
import { UsageError } from '../terminal.js';
import { fields } from '../text.js';

export const companies: Commands = (relay, session) => {
  const companies = relay.command('companies').summary('who uses the relay, and with which settings');
  const pathOf = (companyId: string) => path`/admin/companies/${companyId}`;

  withParts(command(companies, 'list', '', 'list the companies')).action((options) =>
    session.list(options, {
      path: '/admin/companies',
      field: 'companies',
      schema: companiesResponse,
      columns: { COMPANY: 'companyId', NAME: 'name', 'TIME ZONE': 'timeZone', CHANGED: 'updatedAt' },
      none: 'There is no company yet. Make one: npx relay companies set <companyId> --name <name> --notify-email <address>',
    }),
  );

  command(companies, 'show <companyId>', 'acme', 'show the settings of a company')
    .description('Secrets are shown as ***.')
    .action((companyId) => session.show(session.api.ask('GET', pathOf(companyId), companySchema), fields));

  const signed = 'its webhooks are signed with it; nothing unsigned is taken then';
  const example = 'acme --name "Acme Field Services" --notify-email office@acme.example';
  withSettings(command(companies, 'set <companyId>', example, 'make a company, or change its settings'))
    .description(
      'What is not named stays as it is; addresses given with --notify-email replace those before. ' +
        'A null in --file removes a setting. ' +
        'Secrets given as options can be seen in the list of processes: --file - keeps them out of it.',
    )
    .option('--name <name>', 'needed for a new company', (name) => ({ name }))
    .option('--time-zone <zone>', 'such as Europe/Berlin or +02:00', (timeZone) => ({ timeZone }))
    .option('--platform-url <url>', 'where assignments live', (baseUrl) => ({ platform: { kind: 'http', baseUrl } }))
    .option('--platform-token <token>', 'bearer token for it', (token) => ({ platform: { auth: { type: 'bearer', token } } }))
    .option('--ticketing-url <url>', 'the ticket system', (baseUrl) => ({ ticketing: { kind: 'http', baseUrl } }))
    .option('--ticketing-token <token>', 'bearer token for it', (token) => ({ ticketing: { auth: { type: 'bearer', token } } }))
    .option('--mail-from <address>', 'the sender of e-mails', (from) => ({ mail: { from } }))
    .option('--mail-reply-to <address>', 'where replies go', (replyTo) => ({ mail: { replyTo } }))
    .option('--mail-smtp-url <url>', "the company's own mail server", (smtpUrl) => ({ mail: { smtpUrl } }))
    .option('--reuse-id', 'make it although a company of this id was deleted')
    .option('--webhook-secret <whsec_…>', signed, (webhookSecret) => ({ webhookSecret }))
    .action(async (companyId, { reuseId, ...options }) => {
      const answer = await changeOrMake(companyId, await readSettings(session.terminal, options), reuseId);
      const made = answer.status === 201;
      await session.show(answer, (company) => [
        `Company ${companyId} is ${made ? 'made' : 'changed'}.`,
        '',
        ...fields(company),
        ...(made ? ['', `Next, a rule for it: npx relay rules create ${companyId} --name <name>`] : []),
      ]);
    });

  command(companies, 'delete <companyId>', 'acme --yes', 'delete a company with its rules, tokens and keys')
    .addOption(yesOption)
    .action((companyId, { yes }) =>
      session.delete(pathOf(companyId), yes, `company ${companyId} with its rules, tokens and keys`),
    );

  async function changeOrMake(companyId: string, body: Settings, reuseId?: true): Promise<Answer<StoredCompany>> {
    try {
      return await session.api.ask('PATCH', pathOf(companyId), companySchema, { body });
    } catch (error) {
      if (!(error instanceof Refused && error.problem.status === 404)) throw error;
      if (body.name === undefined) throw new UsageError(`There is no company ${companyId} yet; to make it, give --name`);
      return session.api.ask('PUT', pathOf(companyId), companySchema, { body, query: { reuseId } });
    }
  }
};
