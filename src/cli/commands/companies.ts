/** `relay companies`: the companies and their settings. */

import {
  checkResponse,
  companiesResponse,
  companySchema,
  deletedCompanyResponse,
  erasedResponse,
  madeCompanyResponse,
  type Remains,
  type StoredCompany,
} from '../../contract/company.js';
import { type Answer, path, Refused } from '../api.js';
import {
  type Commands,
  command,
  readCount,
  readSettings,
  readSwitch,
  type Settings,
  withParts,
  withSettings,
  yesOption,
} from '../options.js';
import { exitCodes, UsageError } from '../terminal.js';
import { fields, momentText } from '../text.js';

export const companies: Commands = (relay, session) => {
  const companies = relay.command('companies').summary('the companies and their settings');
  const pathOf = (companyId: string) => path`/admin/companies/${companyId}`;

  withParts(command(companies, 'list', '', 'list the companies')).action((options) =>
    session.list(options, {
      path: '/admin/companies',
      field: 'companies',
      schema: companiesResponse,
      columns: { COMPANY: 'companyId', NAME: 'name', 'TIME ZONE': 'timeZone', CHANGED: 'updatedAt' },
      none: 'There is no company yet. Create one: npx relay companies set <companyId> --name <name> --notify-email <address>',
    }),
  );

  command(companies, 'show <companyId>', 'acme', 'show the settings of a company')
    .description('Secrets are shown as ***.')
    .action((companyId) => session.show(session.api.ask('GET', pathOf(companyId), companySchema), fields));

  command(companies, 'check <companyId>', 'acme --assignment 1001', 'check whether the settings of a company work')
    .description(
      'A worker checks the settings. The check sends and changes nothing. The exit code is 1 if a setting does not work.',
    )
    .option('--assignment <assignmentId>', 'an assignment that exists on the platform')
    .option('--group <group...>', 'groups of workers that must exist on the platform')
    .option('--ticket <ticketId>', 'a ticket that exists in the ticket system')
    .option('--field <name...>', 'fields of tickets that must exist in the ticket system')
    .action(async (companyId, { assignment, group, ticket, field }) => {
      const answer = await session.api.ask('POST', `${pathOf(companyId)}/check`, checkResponse, {
        body: { assignmentId: assignment, groups: group, ticketId: ticket, fields: field },
        nextStep: ({ status }) => (status === 503 ? 'Check what does not run: npx relay health.' : undefined),
      });
      if (answer.body.checked.some(({ works }) => !works)) session.exitCode = exitCodes.refused;
      await session.show(answer, ({ checked }) =>
        checked.flatMap(({ part, works, title = '', remedy = '', detail }) => {
          const head = `${works ? 'works' : 'DOES NOT WORK'}  ${part}: `;
          return title ? [head + title, `  What to do: ${remedy}`, `  ${detail}`] : [head + detail];
        }),
      );
    });

  const switched = (text: string) => ({ noticeLinks: readSwitch('--notice-links', text) });
  const digest = (text: string) => ({ weeklyDigest: readSwitch('--weekly-digest', text) });
  const corrected = (text: string) => ({ noticeEdits: readSwitch('--notice-edits', text) });
  const history = (days: string) => ({ historyDays: readCount('--history-days')(days) });
  const platform = (platform: object) => ({ platform });
  const ticketing = (ticketing: object) => ({ ticketing });
  const bearer = (token: string) => ({ type: 'bearer', token });
  const signed = 'the secret that signs requests of the company; with this secret, the relay refuses unsigned requests';
  const example = 'acme --name "Acme Field Services" --notify-email office@acme.example';
  withSettings(command(companies, 'set <companyId>', example, 'create a company, or change its settings'))
    .description(
      'Omitted settings stay the same. --notify-email replaces all addresses. A null in --file removes a setting. ' +
        'Other users of this machine can see the options of a command: use --file - to hide secrets.',
    )
    .option('--name <name>', 'the name of the company; required for a new company', (name) => ({ name }))
    .option('--time-zone <zone>', 'the time zone of the company, such as Europe/Berlin or +02:00', (timeZone) => ({ timeZone }))
    .option('--notice-links <on|off>', 'whether notices have links to retry or skip without a key', switched)
    .option('--weekly-digest <on|off>', 'whether the e-mail contacts get a digest of each week', digest)
    .option('--history-days <days>', 'the number of days that a closed chain stays in lists; default: 400', history)
    .option('--notice-edits <on|off>', 'whether links in notices also let readers correct ids, values and the radius', corrected)
    .option('--platform-url <url>', 'the address of the assignment platform', (baseUrl) => platform({ kind: 'http', baseUrl }))
    .option('--platform-token <token>', 'the bearer token for the platform', (token) => platform({ auth: bearer(token) }))
    .option('--ticketing-url <url>', 'the address of the ticket system', (baseUrl) => ticketing({ kind: 'http', baseUrl }))
    .option('--ticketing-token <token>', 'the bearer token for the ticket system', (token) => ticketing({ auth: bearer(token) }))
    .option('--mail-from <address>', 'the From address of e-mails', (from) => ({ mail: { from } }))
    .option('--mail-reply-to <address>', 'the Reply-To address of e-mails', (replyTo) => ({ mail: { replyTo } }))
    .option('--mail-smtp-url <url>', "the address of the company's own mail server", (smtpUrl) => ({ mail: { smtpUrl } }))
    .option('--reuse-id', 'create the company even if an earlier company with this id was deleted')
    .option('--webhook-secret <whsec_…>', signed, (webhookSecret) => ({ webhookSecret }))
    .action(async (companyId, { reuseId, ...options }) => {
      const answer = await changeOrMake(companyId, await readSettings(session.terminal, options), reuseId);
      const made = answer.status === 201;
      await session.show(answer, (company) => [
        `Company ${companyId} is ${made ? 'created' : 'changed'}.`,
        '',
        ...fields(company),
        ...(made ? ['', `Next, create a rule: npx relay rules create ${companyId} --name <name>`] : []),
      ]);
    });

  command(companies, 'delete <companyId>', 'acme --yes', 'delete a company with all its stored data')
    .description('If the company has open chains, use --cancel-chains. The answer says which data Temporal still has.')
    .option('--cancel-chains', 'also cancel the open chains of the company')
    .addOption(yesOption)
    .action(async (companyId, { cancelChains, yes }) => {
      const { api } = session;
      const what = `company ${companyId} with its rules, tokens and keys`;
      await session.confirm(yes, `Delete ${what}${cancelChains ? ', and cancel its open chains' : ''}?`);
      const answer = await api.ask('DELETE', pathOf(companyId), deletedCompanyResponse.optional(), { query: { cancelChains } });
      const { body } = answer;
      if (!body) return session.print([`Deleted: ${what}.`]);
      await session.show({ ...answer, body }, ({ remains, bulkId }) => [
        `Deleted: ${what}.`,
        ...(bulkId === undefined ? [] : [`The chains of the company are being cancelled: npx relay bulk show ${bulkId}`]),
        ...remainsLines(remains),
        `Erase the closed runs: npx relay companies erase ${companyId}`,
      ]);
    });

  command(companies, 'erase <companyId>', 'acme --yes', 'erase the data of a deleted company in Temporal')
    .description(
      'Erases the closed workflow runs of the company: its chains, delayed actions, notices and bulk orders. You can stop the ' +
        'command and start it again at any time. The exit code is 1 if a run is left.',
    )
    .addOption(yesOption)
    .action(async (companyId, { yes }) => {
      const { api } = session;
      await session.confirm(yes, `Erase the data of company ${companyId} in Temporal?`);
      for (let total = 0; ; ) {
        const answer = await api.ask('POST', path`/admin/companies/${companyId}/erase`, erasedResponse);
        const { erased, remains } = answer.body;
        total += erased;
        if (erased > 0 && remains && remains.closed > 0) {
          session.note(`${total} runs erased, ${remains.closed} left`);
          continue;
        }
        if (remains) session.exitCode = exitCodes.refused;
        const left = remains
          ? [...remainsLines(remains), 'Run the command again when the open runs have closed.']
          : ['Nothing is left.'];
        return session.show(answer, () => [`${total} runs erased.`, ...left]);
      }
    });

  async function changeOrMake(companyId: string, body: Settings, reuseId?: true): Promise<Answer<StoredCompany>> {
    try {
      return await session.api.ask('PATCH', pathOf(companyId), companySchema, { body });
    } catch (error) {
      if (!(error instanceof Refused && error.problem.status === 404)) throw error;
      if (body.name === undefined) throw new UsageError(`There is no company ${companyId} yet; to create it, add --name`);
      return session.api.ask('PUT', pathOf(companyId), madeCompanyResponse, { body, query: { reuseId } });
    }
  }
};

function remainsLines({ open, closed, retentionDays, until }: Remains): string[] {
  const days = retentionDays === 1 ? '1 day' : `${retentionDays} days`;
  return [
    `Temporal still has ${closed} closed and ${open} open runs of the company. It deletes a closed run after ${days}, the last run by ${momentText(until)}.`,
  ];
}
