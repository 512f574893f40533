/** `relay rules`: the rules of a company. */

import { z } from 'zod';
import { path } from '../api.js';
import { defineCommand } from '../command.js';
import { UsageError } from '../exit-codes.js';
import { listOptions, showList } from '../list.js';
import type { Session } from '../session.js';
import { confirmOptions } from '../session.js';
import { fileOption, notifyOf, notifyOptions, readSettings, section, withGiven } from '../settings.js';
import { fields } from '../table.js';
import { momentText } from '../time.js';

const notify = z.looseObject({ emails: z.array(z.string()).optional() }).optional();
const rule = z.looseObject({
  relayId: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  onFailure: z.string(),
  onUnknown: z.string(),
  updatedAt: z.string(),
});

/** Every setting, in the order of the API. */
const settings = z.looseObject({ relayId: z.string() });

const ruleOptions = {
  name: { type: 'string', value: 'name', help: 'what people call it' },
  'on-failure': { type: 'string', value: 'hold|continue', help: 'what becomes of the actions after one that fails' },
  'on-unknown': { type: 'string', value: 'resend|hold', help: 'when nobody can say whether an effect took place' },
  ...notifyOptions,
  ...fileOption,
} as const;

export const listRules = defineCommand({
  arguments: ['companyId'],
  options: listOptions,
  summary: 'list the rules of a company',
  example: 'relay rules list acme',
  run: async (session, { companyId }, options) => {
    await showList(
      session,
      {
        path: path`/admin/companies/${companyId}/rules`,
        field: 'rules',
        item: rule,
        columns: [
          { heading: 'RULE', cell: ({ relayId }) => relayId },
          { heading: 'NAME', cell: ({ name }) => name },
          { heading: 'ENABLED', cell: ({ enabled }) => (enabled ? 'yes' : { text: 'no', tone: 'warning' }) },
          { heading: 'ON FAILURE', cell: ({ onFailure }) => onFailure },
          { heading: 'ON UNKNOWN', cell: ({ onUnknown }) => onUnknown },
          { heading: 'CHANGED', cell: ({ updatedAt }) => momentText(updatedAt) },
        ],
        none: `Company ${companyId} has no rule yet. Make one: npx relay rules create ${companyId} --name <name>`,
      },
      options,
    );
  },
});

export const showRule = defineCommand({
  arguments: ['companyId', 'relayId'],
  summary: 'show a rule',
  example: 'relay rules show acme 4711',
  run: async (session, { companyId, relayId }) => {
    session.show(await session.api.ask('GET', pathOf(companyId, relayId)), settings, (shown) => fields(shown));
  },
});

export const createRule = defineCommand({
  arguments: ['companyId'],
  options: {
    ...ruleOptions,
    'relay-id': { type: 'string', value: 'digits', help: 'an id that is in use elsewhere, to take it over' },
    token: { type: 'string', value: 'token', help: 'its token, so that existing webhooks keep working' },
  },
  summary: 'make a rule, and show its token, once',
  example: 'relay rules create acme --name "Alert the office" --notify-email office@acme.example',
  run: async (session, { companyId }, options) => {
    const { api } = session;
    const file = await readSettings(session.terminal, options.file);
    // Asked first: once the token is made, nothing may keep it from being shown.
    const company = api.read(companyOfRule, await api.ask('GET', path`/admin/companies/${companyId}`));
    const body = {
      ...withGiven(file, { ...changeOf(options), relayId: options['relay-id'], relayAccessToken: options.token }),
      ...section('notify', notifyOf(options), file, {}),
    };
    const answer = await api.ask('POST', path`/admin/companies/${companyId}/rules`, { body });
    session.show(answer, createdRule, (made) => {
      const isGiven = body.relayAccessToken === made.relayAccessToken;
      const shown = isGiven ? { ...made, relayAccessToken: '<RELAY_ACCESS_TOKEN>' } : made;
      return [
        `Rule ${made.relayId} of company ${companyId} is made.`,
        '',
        ...fields({ relayId: made.relayId, relayAccessToken: isGiven ? '(as given)' : made.relayAccessToken }),
        '',
        ...(isGiven ? [] : ['This is the only time that the token is shown.']),
        `A first chain, which sends one e-mail${isGiven ? '; put the token in' : ''}:`,
        '',
        firstChain(`${api.address.url}${path`/co/${companyId}/relay`}`, shown, company.notify?.emails?.[0]),
        ...(company.webhookSecret === undefined ? [] : ['', unsigned]),
      ];
    });
  },
});

const companyOfRule = z.object({ notify, webhookSecret: z.string().optional() });
const createdRule = z.object({ relayId: z.string(), relayAccessToken: z.string(), notify });
const unsigned = 'The company takes only what is signed: `npx relay send --webhook-secret` signs it.';

/** A line to paste into a shell. */
function firstChain(url: string, rule: z.infer<typeof createdRule>, contact = 'you@example.com'): string {
  const { relayId, relayAccessToken, notify } = rule;
  const action = {
    action: 'sendEmails',
    relayId,
    relayAccessToken,
    emails: [notify?.emails?.[0] ?? contact],
    subject: 'The relay works',
    body: `Sent by rule ${relayId}.`,
    bodyHtml: `<p>Sent by rule ${relayId}.</p>`,
  };
  return `curl -i ${quoted(url)} -H 'Content-Type: application/json' -d ${quoted(JSON.stringify([action]))}`;
}

export const setRule = defineCommand({
  arguments: ['companyId', 'relayId'],
  options: ruleOptions,
  summary: 'change a rule',
  details: 'What is not named stays as it is. "notify": null in --file leaves notices to the contacts of the company.',
  example: 'relay rules set acme 4711 --on-failure continue',
  run: async (session, { companyId, relayId }, options) => {
    const file = await readSettings(session.terminal, options.file);
    const given = notifyOf(options);
    const asks = Object.values(given).some((value) => value !== undefined) && file.notify === undefined;
    const target = pathOf(companyId, relayId);
    const current = asks ? session.api.read(settings, await session.api.ask('GET', target)) : {};
    const body = { ...withGiven(file, changeOf(options)), ...section('notify', given, file, current) };
    if (Object.keys(body).length === 0) throw new UsageError('There is nothing to change');
    await change(session, companyId, relayId, body);
  },
});

export const enableRule = defineCommand({
  arguments: ['companyId', 'relayId'],
  summary: 'let a rule run again',
  example: 'relay rules enable acme 4711',
  run: async (session, { companyId, relayId }) => {
    await change(session, companyId, relayId, { enabled: true });
  },
});

export const disableRule = defineCommand({
  arguments: ['companyId', 'relayId'],
  summary: 'refuse requests of a rule; its actions that wait are skipped when they are due',
  example: 'relay rules disable acme 4711',
  run: async (session, { companyId, relayId }) => {
    await change(session, companyId, relayId, { enabled: false });
  },
});

export const deleteRule = defineCommand({
  arguments: ['companyId', 'relayId'],
  options: confirmOptions,
  summary: 'delete a rule with its tokens',
  example: 'relay rules delete acme 4711 --yes',
  run: async (session, { companyId, relayId }, { yes }) => {
    const target = pathOf(companyId, relayId);
    await session.confirm(yes, `Delete rule ${relayId} of company ${companyId} with its tokens?`);
    await session.api.ask('DELETE', target);
    session.print([`Rule ${relayId} of company ${companyId} is deleted.`]);
  },
});

function pathOf(companyId: string, relayId: string): string {
  return path`/admin/companies/${companyId}/rules/${relayId}`;
}

async function change(session: Session, companyId: string, relayId: string, body: object): Promise<void> {
  session.show(await session.api.ask('PATCH', pathOf(companyId, relayId), { body }), settings, (shown) => [
    `Rule ${relayId} of company ${companyId} is changed.`,
    '',
    ...fields(shown),
  ]);
}

interface Given {
  name?: string | undefined;
  'on-failure'?: string | undefined;
  'on-unknown'?: string | undefined;
}

function changeOf(options: Given) {
  return { name: options.name, onFailure: options['on-failure'], onUnknown: options['on-unknown'] };
}

/** One word for a shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
