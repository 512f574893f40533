/** `relay companies`: who uses the relay, and with which settings. */

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
import { type Commands, command, readSettings, type Settings, withParts, withSettings, yesOption } from '../options.js';
import { exitCodes, UsageError } from '../terminal.js';
import { fields, momentText } from '../text.js';

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

  command(companies, 'check <companyId>', 'acme --assignment 1001', 'see whether the settings of a company work')
    .description('A worker looks. Nothing is sent and nothing is changed. Exit code 1 where something does not work.')
    .option('--assignment <assignmentId>', 'one that the platform has')
    .action(async (companyId, { assignment }) => {
      const answer = await session.api.ask('POST', `${pathOf(companyId)}/check`, checkResponse, {
        body: { assignmentId: assignment },
        nextStep: ({ status }) => (status === 503 ? 'See what is not running: npx relay health.' : undefined),
      });
      if (answer.body.checked.some(({ works }) => !works)) session.exitCode = exitCodes.refused;
      await session.show(answer, ({ checked }) =>
        checked.map(({ part, works, detail }) => `${works ? 'works' : 'DOES NOT WORK'}  ${part}: ${detail}`),
      );
    });

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
    .option(
      '--notice-links <on|off>',
      'whether a notice has links by which its contact retries or skips without a key',
      readSwitch,
    )
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

  command(companies, 'delete <companyId>', 'acme --yes', 'delete a company with all that is stored of it')
    .description('Not while it has open chains, unless they are to be cancelled. Tells what Temporal still keeps of it.')
    .option('--cancel-chains', 'cancel its open chains')
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
        ...(bulkId === undefined ? [] : [`Its chains are being cancelled: npx relay bulk show ${bulkId}`]),
        ...remainsLines(remains),
        `To erase what has closed: npx relay companies erase ${companyId}`,
      ]);
    });

  command(companies, 'erase <companyId>', 'acme --yes', 'erase what Temporal keeps of a deleted company')
    .description(
      'The histories of its chains, delayed actions, notices and bulks that have closed. It can be stopped and begun again at ' +
        'any time. Exit code 1 where something is left.',
    )
    .addOption(yesOption)
    .action(async (companyId, { yes }) => {
      const { api } = session;
      await session.confirm(yes, `Erase what Temporal keeps of company ${companyId}?`);
      for (let total = 0; ; ) {
        const answer = await api.ask('POST', path`/admin/companies/${companyId}/erase`, erasedResponse);
        const { erased, remains } = answer.body;
        total += erased;
        if (erased > 0 && remains && remains.closed > 0) {
          session.note(`${total} runs erased, ${remains.closed} left`);
          continue;
        }
        if (remains) session.exitCode = exitCodes.refused;
        const left = remains ? [...remainsLines(remains), 'Begin again when what is open has closed.'] : ['Nothing is left.'];
        return session.show(answer, () => [`${total} runs erased.`, ...left]);
      }
    });

  async function changeOrMake(companyId: string, body: Settings, reuseId?: true): Promise<Answer<StoredCompany>> {
    try {
      return await session.api.ask('PATCH', pathOf(companyId), companySchema, { body });
    } catch (error) {
      if (!(error instanceof Refused && error.problem.status === 404)) throw error;
      if (body.name === undefined) throw new UsageError(`There is no company ${companyId} yet; to make it, give --name`);
      return session.api.ask('PUT', pathOf(companyId), madeCompanyResponse, { body, query: { reuseId } });
    }
  }
};

function readSwitch(text: string): { noticeLinks: boolean } {
  if (text !== 'on' && text !== 'off') throw new UsageError('--notice-links must be on or off');
  return { noticeLinks: text === 'on' };
}

function remainsLines({ open, closed, retentionDays, until }: Remains): string[] {
  const days = retentionDays === 1 ? '1 day' : `${retentionDays} days`;
  return [
    `Temporal keeps ${closed} closed and ${open} open runs of it. What is closed now is gone by ${momentText(until)}: after ${days}.`,
  ];
}
