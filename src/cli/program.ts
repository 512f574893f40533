/** The program that commander runs: its options, its commands, and how its help looks. */

import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import packageJson from '../../package.json' with { type: 'json' };
import { bulk } from './commands/bulk.js';
import { chains, steer } from './commands/chains.js';
import { companies } from './commands/companies.js';
import { keys, tokens } from './commands/credentials.js';
import { audit, health, notices, pause } from './commands/operations.js';
import { rejected } from './commands/rejected.js';
import { rules } from './commands/rules.js';
import { send } from './commands/send.js';
import { Session } from './session.js';
import { exitCodes, type Terminal } from './terminal.js';

/** In the order of `relay --help`. A new one is a file in `commands/` and its name here, or a part of the file of its subject. */
const commands = [companies, rules, tokens, keys, send, chains, steer, bulk, pause, notices, rejected, audit, health];

/** `relay` with all its commands; nothing in it ends the process. */
export function program(terminal: Terminal) {
  const relay = new Command('relay')
    .usage('<command> [options]')
    .description('Sets up and steers a relay over its API.')
    .option('--url <url>', 'where the API is; default: RELAY_URL, or http://127.0.0.1:PORT (8080)')
    .option('--json', "print the API's answer as it came")
    .version(packageJson.version, '--version', 'say which version of the relay this is')
    .helpOption('--help', 'say how it is used')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      outputError: () => {},
      getOutHelpWidth: () => terminal.columns ?? Number.POSITIVE_INFINITY,
      getErrHelpWidth: () => terminal.columns ?? Number.POSITIVE_INFINITY,
    })
    .configureHelp({
      showGlobalOptions: true,
      visibleCommands: ({ commands }) =>
        commands.flatMap((command) => (command.commands.length > 0 ? command.commands : [command])),
      subcommandTerm: usageOf,
      commandDescription: (command) => [command.summary(), command.description()].join('\n\n').trim(),
    })
    .addHelpText('after', environmentAndExitCodes);
  const session = new Session(terminal, () => relay.opts());
  for (const addTo of commands) addTo(relay, session);
  return { relay, session };
}

/** `rules show <companyId> <relayId>`. */
export function usageOf(command: CommandUnknownOpts): string {
  const group = command.parent?.parent ? `${command.parent.name()} ` : '';
  return `${group}${command.name()} ${command.usage().replace(/\[options\] ?/, '')}`.trimEnd();
}

const environmentAndExitCodes = `
Environment:
  RELAY_URL             where the API is
  RELAY_ADMIN_TOKEN     opens everything
  RELAY_KEY             a company's key: opens the chains of that company
  RELAY_ACCESS_TOKEN    the rule's token for \`relay send\`, instead of --token
  RELAY_WEBHOOK_SECRET  signs what \`relay send\` sends, instead of --webhook-secret
  RELAY_DATA_DIR        for a relay on this machine where neither is set: its admin token is read from here (.relay)

Exit codes:
  ${exitCodes.ok}  done
  ${exitCodes.refused}  the API refused
  ${exitCodes.usage}  the command line is wrong, or a deletion was not confirmed
  ${exitCodes.unreachable}  the API cannot be reached
  ${exitCodes.trouble}  the chain failed, needs attention, or was cancelled or terminated (chains show, send --wait)

relay <command> --help says more, with an example.`;
