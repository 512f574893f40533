/** `relay companies`: who uses the relay, and with which settings. */

import { z } from 'zod';
import { type Api, path, Refused } from '../api.js';
import { defineCommand } from '../command.js';
import { UsageError } from '../exit-codes.js';
import { listOptions, showList } from '../list.js';
import { confirmOptions } from '../session.js';
import { fileOption, notifyOf, notifyOptions, readSettings, type Settings, section, withGiven } from '../settings.js';
import { fields } from '../table.js';
import { momentText } from '../time.js';

const company = z.looseObject({ companyId: z.string(), name: z.string(), timeZone: z.string(), updatedAt: z.string() });

/** Every setting, in the order of the API. */
const settings = z.looseObject({ companyId: z.string() });

export const listCompanies = defineCommand({
  arguments: [],
  options: listOptions,
  summary: 'list the companies',
  example: 'relay companies',
  run: async (session, _, options) => {
    await showList(
      session,
      {
        path: '/admin/companies',
        field: 'companies',
        item: company,
        columns: [
          { heading: 'COMPANY', cell: ({ companyId }) => companyId },
          { heading: 'NAME', cell: ({ name }) => name },
          { heading: 'TIME ZONE', cell: ({ timeZone }) => timeZone },
          { heading: 'CHANGED', cell: ({ updatedAt }) => momentText(updatedAt) },
        ],
        none: 'There is no company yet. Make one: npx relay companies set <companyId> --name <name> --notify-email <address>',
      },
      options,
    );
  },
});

export const showCompany = defineCommand({
  arguments: ['companyId'],
  summary: 'show the settings of a company',
  details: 'Secrets are shown as ***.',
  example: 'relay companies show acme',
  run: async (session, { companyId }) => {
    session.show(await session.api.ask('GET', path`/admin/companies/${companyId}`), settings, (shown) => fields(shown));
  },
});

export const setCompany = defineCommand({
  arguments: ['companyId'],
  options: {
    name: { type: 'string', value: 'name', help: 'needed for a new company' },
    'time-zone': { type: 'string', value: 'zone', help: 'such as Europe/Berlin or +02:00' },
    ...notifyOptions,
    'platform-url': { type: 'string', value: 'url', help: 'where assignments live' },
    'platform-token': { type: 'string', value: 'token', help: 'bearer token for it' },
    'ticketing-url': { type: 'string', value: 'url', help: 'the ticket system' },
    'ticketing-token': { type: 'string', value: 'token', help: 'bearer token for it' },
    'mail-from': { type: 'string', value: 'address', help: 'the sender of e-mails' },
    'mail-reply-to': { type: 'string', value: 'address', help: 'where replies go' },
    'mail-smtp-url': { type: 'string', value: 'url', help: "the company's own mail server" },
    'webhook-secret': {
      type: 'string',
      value: 'whsec_…',
      help: 'its webhooks are signed with it; nothing unsigned is taken then',
    },
    ...fileOption,
  },
  summary: 'make a company, or change its settings',
  details: [
    'What is not named stays as it is; addresses given with --notify-email replace those before. A null in --file removes a setting.',
    'Secrets given as options can be seen in the list of processes: --file - keeps them out of it.',
  ].join('\n'),
  example:
    'relay companies set acme --name "Acme Field Services" --notify-email office@acme.example --platform-url https://platform.acme.example/api',
  run: async (session, { companyId }, options) => {
    const file = await readSettings(session.terminal, options.file);
    const current = await currentSettings(session.api, companyId);
    const name = options.name ?? file.name ?? current?.name;
    if (name === undefined) throw new UsageError(`There is no company ${companyId} yet; to make it, give --name`);
    const overlay = (part: string, given: Settings, fresh?: Settings) => section(part, given, file, current ?? {}, fresh);
    const body = {
      ...withGiven(file, { name, timeZone: options['time-zone'], webhookSecret: options['webhook-secret'] }),
      ...overlay('notify', notifyOf(options)),
      ...overlay('platform', connection(options['platform-url'], options['platform-token']), { kind: 'http' }),
      ...overlay('ticketing', connection(options['ticketing-url'], options['ticketing-token']), { kind: 'http' }),
      ...overlay('mail', { from: options['mail-from'], replyTo: options['mail-reply-to'], smtpUrl: options['mail-smtp-url'] }),
    };
    const answer = await session.api.ask('PUT', path`/admin/companies/${companyId}`, { body });
    session.show(answer, settings, (shown) => [
      `Company ${companyId} is ${answer.status === 201 ? 'made' : 'changed'}.`,
      '',
      ...fields(shown),
      ...(answer.status === 201 ? ['', `Next, a rule for it: npx relay rules create ${companyId} --name <name>`] : []),
    ]);
  },
});

export const deleteCompany = defineCommand({
  arguments: ['companyId'],
  options: confirmOptions,
  summary: 'delete a company with its rules, tokens and keys',
  example: 'relay companies delete acme --yes',
  run: async (session, { companyId }, { yes }) => {
    const target = path`/admin/companies/${companyId}`;
    await session.confirm(yes, `Delete company ${companyId} with its rules, tokens and keys?`);
    await session.api.ask('DELETE', target);
    session.print([`Company ${companyId} is deleted.`]);
  },
});

function connection(baseUrl: string | undefined, token: string | undefined): Settings {
  return { baseUrl, auth: token === undefined ? undefined : { type: 'bearer', token } };
}

/** @returns undefined where there is no such company. */
async function currentSettings(api: Api, companyId: string): Promise<Settings | undefined> {
  try {
    return api.read(settings, await api.ask('GET', path`/admin/companies/${companyId}`));
  } catch (error) {
    if (error instanceof Refused && error.problem.status === 404) return undefined;
    throw error;
  }
}
