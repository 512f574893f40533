/** How the commands are used, in words. */

import { type Command, type Options, standardOptions } from './command.js';
import { exitCodes } from './exit-codes.js';

export type Commands = Readonly<Record<string, Command>>;

const environment: readonly (readonly [string, string])[] = [
  ['RELAY_URL', 'where the API is'],
  ['RELAY_ADMIN_TOKEN', 'opens everything'],
  ['RELAY_KEY', "a company's key: opens the chains of that company"],
  ['RELAY_ACCESS_TOKEN', "the rule's token for `relay send`, instead of --token"],
  ['RELAY_WEBHOOK_SECRET', 'signs what `relay send` sends, instead of --webhook-secret'],
  ['RELAY_DATA_DIR', 'for a relay on this machine where neither is set: its admin token is read from here (.relay)'],
];

const codes: readonly (readonly [keyof typeof exitCodes, string])[] = [
  ['ok', 'done'],
  ['refused', 'the API refused'],
  ['usage', 'the command line is wrong, or a deletion was not confirmed'],
  ['unreachable', 'the API cannot be reached'],
  ['trouble', 'the chain failed, needs attention, or was cancelled or terminated (chains show, send --wait)'],
];

/** What the whole of `relay` is. */
export function overview(commands: Commands): string {
  return [
    'Usage: relay <command> [options]\n',
    'Sets up and steers a relay over its API.\n',
    list(commands),
    section('Environment', environment),
    section(
      'Exit codes',
      codes.map(([name, meaning]) => [String(exitCodes[name]), meaning]),
    ),
  ].join('\n');
}

/** These commands, a line each. */
export function list(commands: Commands): string {
  const lines = Object.entries(commands).map(([name, command]) => [usage(name, command), command.summary] as const);
  return [
    section('Commands', lines),
    section('Options of all commands', optionList(standardOptions)),
    'relay <command> --help says more, with an example.\n',
  ].join('\n');
}

/** One command. */
export function manual(name: string, command: Command): string {
  const summary = `${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.`;
  return [
    `Usage: relay ${usage(name, command)}${command.options ? ' [options]' : ''}\n`,
    `${summary}${command.details ? `\n\n${command.details}` : ''}\n`,
    ...(command.options ? [section('Options', optionList(command.options))] : []),
    section('Options of all commands', optionList(standardOptions)),
    `Example:\n  ${command.example}\n`,
  ].join('\n');
}

/** `rules show <companyId> <relayId>`. */
export function usage(name: string, command: Command): string {
  const shown = command.arguments.map((argument) => (argument.endsWith('?') ? `[<${argument.slice(0, -1)}>]` : `<${argument}>`));
  return [name, ...shown].join(' ');
}

function optionList(options: Options): [string, string][] {
  return Object.entries(options).map(([name, { value, multiple, help }]) => [
    `--${name}${value === undefined ? '' : ` <${value}>`}`,
    `${help}${multiple ? ' (may be given several times)' : ''}`,
  ]);
}

function section(title: string, entries: readonly (readonly [string, string])[]): string {
  const width = Math.max(...entries.map(([name]) => name.length));
  return `${title}:\n${entries.map(([name, text]) => `  ${name.padEnd(width)}  ${text}\n`).join('')}`;
}
