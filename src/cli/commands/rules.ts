/** `relay rules`: the rules of a company. */

import type { Command, OptionValues } from '@commander-js/extra-typings';
import { companySchema } from '../../contract/company.js';
import { createdRuleResponse, ruleSchema, rulesResponse } from '../../contract/rule.js';
import { path } from '../api.js';
import { type Commands, command, readSettings, withParts, withSettings, yesOption } from '../options.js';
import { UsageError } from '../terminal.js';
import { fields, readDuration } from '../text.js';
import { addFileCommands } from './rule-files.js';
import { addVersionCommands } from './rule-versions.js';

/** The options of both `create` and `set`. */
function withRule<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  const onFailure = 'after a failed action, let the next actions wait (hold) or run (continue)';
  const onUnknown =
    'if the outcome of an action is unknown, run the action again (resend), or only after a person decides (hold)';
  const expects = 'send a notice if no event comes for this time: 20m, 3h, 1d';
  const within = (expectWithin: object) => ({ expectWithin });
  return withSettings(command)
    .option('--name <name>', 'the name of the rule', (name) => ({ name }))
    .option('--on-failure <hold|continue>', onFailure, (onFailure) => ({ onFailure }))
    .option('--on-unknown <resend|hold>', onUnknown, (onUnknown) => ({ onUnknown }))
    .option('--expect-every <time|never>', expects, (text) => ({
      expectEvery: text === 'never' ? null : (readDuration(text) ?? text),
    }))
    .option('--expect-days <days>', 'the days on which events are expected: mon,tue', (text) => within({ days: text.split(',') }))
    .option('--expect-hours <from-to>', 'the hours in which events are expected: 08:00-18:00', (text) => {
      const [from, to] = text.split('-');
      return within({ from, to });
    });
}

export const rules: Commands = (relay, session) => {
  const rules = relay.command('rules').summary('the rules of a company');

  withParts(command(rules, 'list <companyId>', 'acme', 'list the rules of a company')).action((companyId, options) =>
    session.list(options, {
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
      none: `Company ${companyId} has no rule yet. Create one: npx relay rules create ${companyId} --name <name>`,
    }),
  );

  command(rules, 'show <companyId> <relayId>', 'acme 4711', 'show a rule').action((companyId, relayId) =>
    session.show(session.api.ask('GET', pathOf(companyId, relayId), ruleSchema), fields),
  );

  const example = 'acme --name "Alert the office" --notify-email office@acme.example';
  withRule(command(rules, 'create <companyId>', example, 'create a rule, and show its token once'))
    .option('--relay-id <digits>', 'the id that existing webhooks use', (relayId) => ({ relayId }))
    .option('--token <token>', 'the token that existing webhooks use', (relayAccessToken) => ({ relayAccessToken }))
    .action(async (companyId, options) => {
      const { api, terminal } = session;
      const body = await readSettings(terminal, options);
      // Reads the company before it creates the rule, because no request may fail between the creation and the output of the token.
      const { body: company } = await api.ask('GET', path`/admin/companies/${companyId}`, companySchema);
      const url = `${api.address.url}${path`/co/${companyId}/relay`}`;
      const made = api.ask('POST', path`/admin/companies/${companyId}/rules`, createdRuleResponse, { body });
      await session.show(made, ({ relayId, relayAccessToken, notify }) => {
        const isGiven = body.relayAccessToken === relayAccessToken;
        const email = notify?.emails?.[0] ?? company.notify?.emails?.[0] ?? 'you@example.com';
        return [
          `Rule ${relayId} of company ${companyId} is created.`,
          '',
          ...fields({ relayId, relayAccessToken: isGiven ? '(as given)' : relayAccessToken }),
          '',
          ...(isGiven ? [] : ['The token is shown only now.']),
          `A first chain, which sends one e-mail${isGiven ? '; insert the token' : ''}:`,
          '',
          firstChain(url, relayId, isGiven ? '<RELAY_ACCESS_TOKEN>' : relayAccessToken, email),
          ...(company.webhookSecret
            ? ['', 'The company accepts only signed requests: `npx relay send --webhook-secret` signs them.']
            : []),
        ];
      });
    });

  withRule(command(rules, 'set <companyId> <relayId>', 'acme 4711 --on-failure continue', 'change a rule'))
    .description('Omitted settings stay the same. With "notify": null in --file, only the contacts of the company get notices.')
    .action(async (companyId, relayId, options) => {
      const body = await readSettings(session.terminal, options);
      if (Object.keys(body).length === 0) throw new UsageError('Say what to change: see --help');
      await change(body)(companyId, relayId);
    });

  command(rules, 'enable <companyId> <relayId>', 'acme 4711', 'enable a rule').action(change({ enabled: true }));

  const disable = 'disable a rule: its requests are refused, and its waiting actions are skipped when they are due';
  command(rules, 'disable <companyId> <relayId>', 'acme 4711', disable).action(change({ enabled: false }));

  command(rules, 'delete <companyId> <relayId>', 'acme 4711 --yes', 'delete a rule with its tokens')
    .addOption(yesOption)
    .action((companyId, relayId, { yes }) =>
      session.delete(pathOf(companyId, relayId), yes, `rule ${relayId} of company ${companyId} with its tokens`),
    );

  addVersionCommands(rules, session);
  addFileCommands(rules, session);

  function change(body: object) {
    return (companyId: string, relayId: string) => {
      const asked = session.api.ask('PATCH', pathOf(companyId, relayId), ruleSchema, { body });
      return session.show(asked, (rule) => [`Rule ${relayId} of company ${companyId} is changed.`, '', ...fields(rule)]);
    };
  }
};

const pathOf = (companyId: string, relayId: string): string => path`/admin/companies/${companyId}/rules/${relayId}`;

function firstChain(url: string, relayId: string, relayAccessToken: string, email: string): string {
  const body = `Sent by rule ${relayId}.`;
  const mail = { emails: [email], subject: 'The relay works', body, bodyHtml: `<p>${body}</p>` };
  const chain = JSON.stringify([{ action: 'sendEmails', relayId, relayAccessToken, ...mail }]);
  return `curl -i ${quoted(url)} -H 'Content-Type: application/json' -d ${quoted(chain)}`;
}

/** Quotes a text, so that a shell reads it as one word. */
const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
