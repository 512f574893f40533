/** `relay rules`: the rules of a company. */

import { type Command, Option } from '@commander-js/extra-typings';
import type { z } from 'zod';
import { companySchema } from '../../contract/company.js';
import { createdRuleResponse, ruleSchema, rulesResponse } from '../../contract/rule.js';
import { path } from '../api.js';
import { UsageError } from '../exit-codes.js';
import { showList } from '../list.js';
import { example, withParts, yesOption } from '../options.js';
import type { Session } from '../session.js';
import * as settings from '../settings.js';
import { fields } from '../table.js';

const nameOption = new Option('--name <name>', 'what people call it');
const onFailureOption = new Option('--on-failure <hold|continue>', 'what becomes of the actions after one that fails');
const onUnknownOption = new Option('--on-unknown <resend|hold>', 'when nobody can say whether an effect took place');

export function rules(relay: Command, session: Session): void {
  const rules = relay.command('rules').summary('the rules of a company');

  withParts(rules.command('list <companyId>', { isDefault: true }))
    .summary('list the rules of a company')
    .addHelpText(...example('relay rules list acme'))
    .action((companyId, options) =>
      showList(session, options, {
        path: path`/admin/companies/${companyId}/rules`,
        field: 'rules',
        schema: rulesResponse,
        columns: {
          RULE: 'relayId',
          NAME: 'name',
          ENABLED: ({ enabled }) => (enabled ? 'yes' : { text: 'no', tone: 'warning' }),
          'ON FAILURE': 'onFailure',
          'ON UNKNOWN': 'onUnknown',
          CHANGED: 'updatedAt',
        },
        none: `Company ${companyId} has no rule yet. Make one: npx relay rules create ${companyId} --name <name>`,
      }),
    );

  rules
    .command('show <companyId> <relayId>')
    .summary('show a rule')
    .addHelpText(...example('relay rules show acme 4711'))
    .action(async (companyId, relayId) => {
      const answer = await session.api.ask('GET', pathOf(companyId, relayId), ruleSchema);
      session.show(answer, fields(answer.body));
    });

  settings
    .withSettings(rules.command('create <companyId>'))
    .summary('make a rule, and show its token, once')
    .addOption(nameOption)
    .addOption(onFailureOption)
    .addOption(onUnknownOption)
    .option('--relay-id <digits>', 'an id that is in use elsewhere, to take it over')
    .option('--token <token>', 'its token, so that existing webhooks keep working')
    .addHelpText(...example('relay rules create acme --name "Alert the office" --notify-email office@acme.example'))
    .action(async (companyId, { relayId, token, ...options }) => {
      const { api } = session;
      const body = await readRule(options, { relayId, relayAccessToken: token });
      // Asked first: once the token is made, nothing may keep it from being shown.
      const { body: company } = await api.ask('GET', path`/admin/companies/${companyId}`, companySchema);
      const answer = await api.ask('POST', path`/admin/companies/${companyId}/rules`, createdRuleResponse, { body });
      const { body: made } = answer;
      const isGiven = body.relayAccessToken === made.relayAccessToken;
      const shown = isGiven ? { ...made, relayAccessToken: '<RELAY_ACCESS_TOKEN>' } : made;
      const url = `${api.address.url}${path`/co/${companyId}/relay`}`;
      session.show(answer, [
        `Rule ${made.relayId} of company ${companyId} is made.`,
        '',
        ...fields({ relayId: made.relayId, relayAccessToken: isGiven ? '(as given)' : made.relayAccessToken }),
        '',
        ...(isGiven ? [] : ['This is the only time that the token is shown.']),
        `A first chain, which sends one e-mail${isGiven ? '; put the token in' : ''}:`,
        '',
        firstChain(url, shown, company.notify?.emails?.[0]),
        ...(company.webhookSecret === undefined
          ? []
          : ['', 'The company takes only what is signed: `npx relay send --webhook-secret` signs it.']),
      ]);
    });

  settings
    .withSettings(rules.command('set <companyId> <relayId>'))
    .summary('change a rule')
    .description('What is not named stays as it is. "notify": null in --file leaves notices to the contacts of the company.')
    .addOption(nameOption)
    .addOption(onFailureOption)
    .addOption(onUnknownOption)
    .addHelpText(...example('relay rules set acme 4711 --on-failure continue'))
    .action(async (companyId, relayId, options) => {
      const body = await readRule(options);
      if (Object.keys(body).length === 0) throw new UsageError('There is nothing to change');
      await change(companyId, relayId, body);
    });

  rules
    .command('enable <companyId> <relayId>')
    .summary('let a rule run again')
    .addHelpText(...example('relay rules enable acme 4711'))
    .action((companyId, relayId) => change(companyId, relayId, { enabled: true }));

  rules
    .command('disable <companyId> <relayId>')
    .summary('refuse requests of a rule; its actions that wait are skipped when they are due')
    .addHelpText(...example('relay rules disable acme 4711'))
    .action((companyId, relayId) => change(companyId, relayId, { enabled: false }));

  rules
    .command('delete <companyId> <relayId>')
    .summary('delete a rule with its tokens')
    .addOption(yesOption)
    .addHelpText(...example('relay rules delete acme 4711 --yes'))
    .action((companyId, relayId, { yes }) =>
      session.delete(
        pathOf(companyId, relayId),
        yes,
        `Delete rule ${relayId} of company ${companyId} with its tokens?`,
        `Rule ${relayId} of company ${companyId} is deleted.`,
      ),
    );

  type RuleOptions = Partial<Record<'file' | 'name' | 'onFailure' | 'onUnknown', string>> &
    Parameters<typeof settings.notifyOf>[0];
  function readRule(options: RuleOptions, more?: settings.Settings): Promise<settings.Settings> {
    const { file, name, onFailure, onUnknown } = options;
    const given = { ...more, name, onFailure, onUnknown, notify: settings.notifyOf(options) };
    return settings.readSettings(session.terminal, file, given);
  }

  async function change(companyId: string, relayId: string, body: object): Promise<void> {
    const answer = await session.api.ask('PATCH', pathOf(companyId, relayId), ruleSchema, { body, headers: settings.mergePatch });
    session.show(answer, [`Rule ${relayId} of company ${companyId} is changed.`, '', ...fields(answer.body)]);
  }
}

function pathOf(companyId: string, relayId: string): string {
  return path`/admin/companies/${companyId}/rules/${relayId}`;
}

/** A line to paste into a shell. */
function firstChain(url: string, rule: z.infer<typeof createdRuleResponse>, contact = 'you@example.com'): string {
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

/** One word for a shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
