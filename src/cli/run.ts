/** Runs one command line, and says what went wrong. */

import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { distance } from 'fastest-levenshtein';
import { Refused } from './api.js';
import { commands } from './commands.js';
import { exitCodes, UsageError } from './exit-codes.js';
import { explain } from './explain.js';
import { Session } from './session.js';
import type { Terminal } from './terminal.js';
import { render } from './text.js';

/** @returns the exit code: see exitCodes. Rejects only for an error that nobody expected. */
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
    if (thrown instanceof CommanderError && thrown.code === 'commander.helpDisplayed') return exitCodes.ok;
    if (thrown instanceof CommanderError && thrown.code === 'commander.help') return exitCodes.usage;
    const error = thrown instanceof CommanderError ? usageError(thrown, found ?? relay) : thrown;
    const explanation = explain(error);
    if (!explanation) throw error;
    if (session.json && error instanceof Refused) terminal.err(`${error.text.trimEnd()}\n`);
    else terminal.err(explanation.lines.map((line) => `${render(line, false)}\n`).join(''));
    if (error instanceof UsageError)
      terminal.err(found ? `Usage: relay ${usageOf(found)} (--help says more)\n` : 'relay --help lists the commands.\n');
    return explanation.exitCode;
  }
}

/** `relay` with all its commands; nothing in it ends the process. */
export function program(terminal: Terminal) {
  const relay = new Command('relay')
    .usage('<command> [options]')
    .description('Sets up and steers a relay over its API.')
    .option('--url <url>', 'where the API is; default: RELAY_URL, or http://127.0.0.1:PORT (8080)')
    .option('--json', "print the API's answer as it came")
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
    })
    .addHelpText('after', environmentAndExitCodes);
  const session = new Session(terminal, () => relay.opts());
  for (const addTo of commands) addTo(relay, session);
  return { relay, session };
}

/** `rules show <companyId> <relayId>`. */
function usageOf(command: CommandUnknownOpts): string {
  const group = command.parent?.parent ? `${command.parent.name()} ` : '';
  return `${group}${command.name()} ${command.usage().replace(/\[options\] ?/, '')}`.trimEnd();
}

/** Without a verb, a group of commands lists: unless the word in its place looks like a verb with a typing mistake. @throws UsageError */
function requireList(group: CommandUnknownOpts, list: CommandUnknownOpts): void {
  const [word] = group.args;
  const needed = list.usage().includes('<');
  const verbs = group.commands.map((command) => command.name());
  if (word === undefined ? needed : !verbs.includes(word) && nearest(word, verbs)) throw noSuchCommand(group, word);
}

function usageError({ code, message }: CommanderError, command: CommandUnknownOpts): UsageError {
  const [, name = ''] = /'([^'=]*)/.exec(message) ?? [];
  switch (code) {
    case 'commander.unknownCommand':
      return noSuchCommand(command, name);
    case 'commander.unknownOption': {
      const [, near] = /\n\(Did you mean (.*)\?\)$/.exec(message) ?? [];
      return new UsageError(`Unknown option '${name}'${near === undefined ? '' : `; did you mean ${near}?`}`);
    }
    case 'commander.missingArgument':
      return new UsageError(`<${name}> is missing`);
    case 'commander.excessArguments':
      return new UsageError('There are too many arguments');
    default:
      return new UsageError(message.replace('error: o', 'O'));
  }
}

function noSuchCommand(group: CommandUnknownOpts, word: string | undefined): UsageError {
  const names = group.commands.map((command) => command.name());
  const near = word === undefined ? undefined : nearest(word, names);
  const meant = near === undefined ? '' : `; did you mean ${near}?`;
  if (group.parent === null) return new UsageError(`There is no command ${word}${meant}`);
  return new UsageError(`relay ${group.name()} has ${names.join(', ')}${word === undefined ? '' : `, and no ${word}${meant}`}`);
}

function nearest(word: string, names: readonly string[]): string | undefined {
  return names.find((name) => name[0] === word[0] && distance(word, name) <= name.length / 2);
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
