/** Runs one command line: finds the command, runs it, and says what went wrong. */

import { parseArgs } from 'node:util';
import { distance } from 'fastest-levenshtein';
import { readAddress } from './address.js';
import { Api, Refused } from './api.js';
import { type Command, fits, type Options, standardOptions, type Task } from './command.js';
import { exitCodes, UsageError } from './exit-codes.js';
import { explain } from './explain.js';
import { type Commands, list, manual, overview, usage } from './help.js';
import { Session } from './session.js';
import type { Terminal } from './terminal.js';
import { render } from './text.js';

/** @returns the exit code: see exitCodes. Rejects only for an error that nobody expected. */
export async function runCommandLine(commands: Commands, commandLine: readonly string[], terminal: Terminal): Promise<number> {
  let found: Found | undefined;
  let task: Task | undefined;
  const { words, help, json, url } = readWords(commands, commandLine);
  try {
    if (help) {
      terminal.out(helpOn(commands, words));
      return exitCodes.ok;
    }
    if (words.length === 0) {
      terminal.err(overview(commands));
      return exitCodes.usage;
    }
    found = find(commands, words);
    task = found.command.read(found.words, commandLine);
    const session = new Session(new Api(readAddress(url, terminal.env)), terminal, json);
    return (await task.run(session)) ?? exitCodes.ok;
  } catch (error) {
    const explanation = explain(error, task);
    if (!explanation) throw error;
    if (json && error instanceof Refused) terminal.err(`${error.text.trimEnd()}\n`);
    else terminal.err(explanation.lines.map((line) => `${render(line, false)}\n`).join(''));
    if (error instanceof UsageError) {
      if (found) terminal.err(`Usage: relay ${usage(found.name, found.command)} (--help says more)\n`);
      else terminal.err('relay --help lists the commands.\n');
    }
    return explanation.exitCode;
  }
}

interface Found {
  name: string;
  /** The words of the command line that name the command. */
  words: readonly string[];
  command: Command;
}

/** `rules show …`, `retry …`; `rules …` alone means `rules list …`. */
function find(commands: Commands, words: readonly string[]): Found {
  // The API spells it so.
  const [subject = '', verb = ''] = words.map((word) => (word === 'runNow' ? 'run-now' : word));
  for (const named of [[subject, verb], [subject]]) {
    const name = named.join(' ');
    const command = lookUp(commands, name);
    if (command) return { name, words: named, command };
  }
  const verbs = Object.keys(commands).flatMap((name) => (name.startsWith(`${subject} `) ? name.slice(subject.length + 1) : []));
  if (verbs.length === 0) throw new UsageError(`There is no command ${subject}${meant(subject, Object.keys(commands))}`);
  const listing = lookUp(commands, `${subject} list`);
  if (listing && fits(listing, words.length - 1) && !nearest(verb, verbs))
    return { name: `${subject} list`, words: [subject], command: listing };
  throw new UsageError(`relay ${subject} has ${verbs.join(', ')}${verb === '' ? '' : `, and no ${verb}${meant(verb, verbs)}`}`);
}

function lookUp(commands: Commands, name: string): Command | undefined {
  return Object.hasOwn(commands, name) ? commands[name] : undefined;
}

function meant(word: string, names: readonly string[]): string {
  const near = nearest(word, [...new Set(names.map((name) => name.split(' ')[0] ?? name))]);
  return near ? `; did you mean ${near}?` : '';
}

function nearest(word: string, names: readonly string[]): string | undefined {
  return names.find((name) => name[0] === word[0] && distance(word, name) <= name.length / 2);
}

function helpOn(commands: Commands, words: readonly string[]): string {
  if (words.length === 0) return overview(commands);
  const group = Object.entries(commands).filter(([name]) => name.startsWith(`${words[0]} `));
  if (words.length === 1 && group.length > 0) return list(Object.fromEntries(group));
  const { name, command } = find(commands, words);
  return manual(name, command);
}

/**
 * The words that are no options, and the options that every command has. Options of the same name are of the same type in all
 * commands, so that a command's words can be told from values before it is known which command it is.
 */
function readWords(commands: Commands, commandLine: readonly string[]) {
  const options: Options = Object.assign({}, ...Object.values(commands).map((command) => command.options), standardOptions);
  const { values, positionals } = parseArgs({ args: [...commandLine], options, allowPositionals: true, strict: false });
  const asked = positionals[0] === 'help';
  return {
    words: asked ? positionals.slice(1) : positionals,
    help: asked || values.help === true,
    json: values.json === true,
    url: typeof values.url === 'string' ? values.url : undefined,
  };
}
