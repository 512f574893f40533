/** What a command is: its arguments, options, words for the help, and what it does. */

import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { Problem } from './api.js';
import { chainIdOf } from './chain-id.js';
import { type ExitCode, UsageError } from './exit-codes.js';
import type { Session } from './session.js';

export interface Option {
  type: 'string' | 'boolean';
  /** May be given several times. */
  multiple?: true;
  /** What stands for the value in the help; nothing for a boolean. */
  value?: string;
  help: string;
}
export type Options = Readonly<Record<string, Option>>;

type Values<Known extends Options> = ReturnType<
  typeof parseArgs<{ options: Known; allowPositionals: true; strict: true; args: string[] }>
>['values'];
/** Names of arguments in order; those that end in `?` may be left out. */
type ArgumentsOf<Names extends readonly string[]> = {
  [Name in Names[number] as Name extends `${string}?` ? never : Name]: string;
} & { [Name in Names[number] as Name extends `${infer Bare}?` ? Bare : never]?: string };

export interface Definition<Known extends Options, Names extends readonly string[]> {
  arguments: Names;
  options?: Known;
  /** What it does, in one line. */
  summary: string;
  /** What else there is to know. */
  details?: string;
  /** A whole command line. */
  example: string;
  /** What to do next where the API refuses with one of these statuses; `<companyId>` and the like stand for the arguments. */
  nextSteps?: Readonly<Record<number, string | ((problem: Problem) => string)>>;
  run(session: Session, args: ArgumentsOf<Names>, options: Values<Known>): Promise<ExitCode | undefined>;
}

export interface Command extends Omit<Definition<Options, readonly string[]>, 'run'> {
  /** What reading its words gave; `run` does the work. @throws UsageError */
  read(words: readonly string[], commandLine: readonly string[]): Task;
}

/** A command with its arguments. */
export interface Task {
  run(session: Session): Promise<ExitCode | undefined>;
  /** What to do next where the API refuses so; undefined: nothing but what is always said. */
  nextStep(problem: Problem): string | undefined;
}

/** Options that every command has. */
export const standardOptions = {
  url: { type: 'string', value: 'url', help: 'where the API is; default: RELAY_URL, or http://127.0.0.1:PORT (8080)' },
  json: { type: 'boolean', help: "print the API's answer as it came" },
  help: { type: 'boolean', help: 'say how it is used' },
} as const satisfies Options;

export function defineCommand<const Known extends Options, const Names extends readonly string[]>(
  definition: Definition<Known, Names>,
): Command {
  return {
    ...definition,
    read(name, commandLine) {
      const { values, positionals } = parseStrictly({ ...standardOptions, ...definition.options }, commandLine);
      const given = positionals.slice(name.length);
      const names = definition.arguments.map((argument) => argument.replace('?', ''));
      const missing = definition.arguments.find((argument, place) => place >= given.length && !argument.endsWith('?'));
      if (missing !== undefined || given.length > names.length)
        throw new UsageError(missing === undefined ? 'There are too many arguments' : `<${missing}> is missing`);
      // The names and the number of arguments have just been checked, the values by parseArgs.
      const named = withBareChainId(Object.fromEntries(given.map((value, place) => [names[place] ?? '', value])));
      return {
        run: (session) => definition.run(session, named as ArgumentsOf<Names>, values as Values<Known>),
        nextStep(problem) {
          const step = definition.nextSteps?.[problem.status];
          const text = typeof step === 'function' ? step(problem) : step;
          return text?.replaceAll(/<(\w+)>/g, (whole, name: string) => named[name] ?? whole);
        },
      };
    },
  };
}

function withBareChainId(named: Record<string, string>): Record<string, string> {
  const { companyId, chainId } = named;
  return companyId && chainId ? { ...named, chainId: chainIdOf(companyId, chainId) } : named;
}

function parseStrictly(options: NonNullable<ParseArgsConfig['options']>, commandLine: readonly string[]) {
  try {
    return parseArgs({ args: [...commandLine], options, allowPositionals: true, strict: true });
  } catch (error) {
    const message = error instanceof Error ? error.message.split(/[.\n]/)[0] : undefined;
    throw new UsageError(message ?? 'The options cannot be read');
  }
}

/** How many arguments there must and may be. */
export function fits(command: Pick<Command, 'arguments'>, count: number): boolean {
  const needed = command.arguments.filter((argument) => !argument.endsWith('?')).length;
  return count >= needed && count <= command.arguments.length;
}
