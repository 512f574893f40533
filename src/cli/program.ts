/** The `relay` program: its options, its commands, its help, and the errors of a wrong command line. Uses the library commander. */

import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { distance } from 'fastest-levenshtein';
import packageJson from '../../package.json' with { type: 'json' };
import { Refused } from './api.js';
import { bulk } from './commands/bulk.js';
import { causes } from './commands/causes.js';
import { chains } from './commands/chains.js';
import { companies } from './commands/companies.js';
import { credentials } from './commands/credentials.js';
import { exports } from './commands/export.js';
import { operations } from './commands/operations.js';
import { rejected } from './commands/rejected.js';
import { events } from './commands/rule-events.js';
import { rules } from './commands/rules.js';
import { send } from './commands/send.js';
import { explain } from './explain.js';
import { Session } from './session.js';
import { exitCodes, type Terminal, UsageError } from './terminal.js';
import { render } from './text.js';

/** `relay --help` lists the commands in this order. */
const commands = [companies, rules, events, credentials, send, chains, causes, bulk, rejected, exports, operations];

/** Makes `relay` with all its commands. No command ends the process. */
export function program(terminal: Terminal) {
  const relay = new Command('relay')
    .usage('<command> [options]')
    .description('Configures and operates a relay through its API.')
    .option('--url <url>', 'the address of the API; default: RELAY_URL, or the relay on this machine')
    .option('--json', "print the API's answer as JSON")
    .version(packageJson.version, '--version', 'show the version')
    .helpOption('--help', 'show the help')
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

/** @returns the exit code (see exitCodes). @throws unexpected errors */
export async function runCommandLine(commandLine: readonly string[], terminal: Terminal): Promise<number> {
  const { relay, session } = program(terminal);
  let found: CommandUnknownOpts | undefined;
  for (const parent of [relay, ...relay.commands])
    parent.hook('preSubcommand', (group, command) => {
      if (command.name() === 'list') requireList(group, command);
      found = command;
    });
  try {
    const [first, ...others] = commandLine;
    await relay.parseAsync(first === 'help' ? [...others, '--help'] : commandLine, { from: 'user' });
    return session.exitCode;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCodes.ok; // --help, --version
    if (thrown instanceof CommanderError && thrown.code === 'commander.help') return exitCodes.usage;
    const error = thrown instanceof CommanderError ? usageError(thrown, found ?? relay) : thrown;
    const { exitCode, lines } = explain(error, session);
    if (session.json && error instanceof Refused) terminal.err(`${error.text.trimEnd()}\n`);
    else terminal.err(lines.map((line) => `${render(line, false)}\n`).join(''));
    if (error instanceof UsageError)
      terminal.err(found ? `Usage: relay ${usageOf(found)} (--help shows more)\n` : 'relay --help lists the commands.\n');
    return exitCode;
  }
}

/** Without a verb, a group of commands runs `list`. @throws UsageError if its argument is missing, or is a mistyped verb. */
function requireList(group: CommandUnknownOpts, list: CommandUnknownOpts): void {
  const [word] = group.args;
  const needed = list.usage().includes('<');
  const verbs = group.commands.map((command) => command.name());
  if (word === undefined ? needed : !verbs.includes(word) && nearest(word, verbs)) throw noSuchCommand(group, word);
}

function usageError({ code, message }: CommanderError, command: CommandUnknownOpts): UsageError {
  const [, name = ''] = /'([^'=]*)/.exec(message) ?? [];
  if (code === 'commander.unknownCommand') return noSuchCommand(command, name);
  if (code === 'commander.missingArgument') return new UsageError(`<${name}> is missing`);
  if (code === 'commander.excessArguments') return new UsageError('There are too many arguments');
  if (code !== 'commander.unknownOption') return new UsageError(message.replace('error: o', 'O'));
  const [, near] = /\n\(Did you mean (.*)\?\)$/.exec(message) ?? [];
  return new UsageError(`Unknown option '${name}'${near === undefined ? '' : `; did you mean ${near}?`}`);
}

function noSuchCommand(group: CommandUnknownOpts, word = ''): UsageError {
  const names = group.commands.map((command) => command.name());
  const parent = group.commands.find(({ commands }) => commands.some((command) => command.name() === word));
  const near = parent ? `${parent.name()} ${word}` : nearest(word, names);
  const meant = near ? `; did you mean ${near}?` : '';
  if (group.parent === null) return new UsageError(`Unknown command ${word}${meant}`);
  return new UsageError(`relay ${group.name()} has ${names.join(', ')}${word && `, and no ${word}${meant}`}`);
}

function nearest(word: string, names: readonly string[]): string | undefined {
  return names.find((name) => name[0] === word[0] && distance(word, name) <= name.length / 2);
}

/** For example `rules show <companyId> <relayId>`. */
function usageOf(command: CommandUnknownOpts): string {
  const group = command.parent?.parent ? `${command.parent.name()} ` : '';
  return `${group}${command.name()} ${command.usage().replace(/\[options\] ?/, '')}`.trimEnd();
}

const environmentAndExitCodes = `
Environment:
  RELAY_URL             the address of the API
  PORT                  the port of a relay on this machine (8080), if RELAY_URL is not set
  RELAY_ADMIN_TOKEN     the admin token, which allows every command
  RELAY_KEY             the key of a company, which is valid for that company only
  RELAY_ACCESS_TOKEN    the rule's token for \`relay send\`, instead of --token
  RELAY_WEBHOOK_SECRET  the secret that signs requests of \`relay send\`, instead of --webhook-secret
  RELAY_DATA_DIR        the data directory of a relay on this machine (.relay), with the admin token

Exit codes:
  ${exitCodes.ok}  done
  ${exitCodes.refused}  the API refused the request, a check failed, or something is left to do
  ${exitCodes.usage}  the command line is wrong, or the command was not confirmed
  ${exitCodes.unreachable}  the API cannot be reached
  ${exitCodes.trouble}  a chain failed, needs attention, was cancelled or terminated, or is lost; or a bulk order had failures

relay <command> --help shows the options of a command, and an example.`;
