/** Runs one command line, and says what went wrong. */

import { CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { distance } from 'fastest-levenshtein';
import { Refused } from './api.js';
import { explain } from './explain.js';
import { program, usageOf } from './program.js';
import { exitCodes, type Terminal, UsageError } from './terminal.js';
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
    const asked = ['commander.helpDisplayed', 'commander.version'];
    if (thrown instanceof CommanderError && asked.includes(thrown.code)) return exitCodes.ok;
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

/**
 * Without a verb, a group of commands lists, unless the word in its place looks like a mistyped verb.
 * @throws UsageError
 */
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
