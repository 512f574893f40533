/** Helpers for commands: they add a command, add the options that commands share, and read settings from options and files. */

import { readFileSync } from 'node:fs';
import { type Command, Option, type OptionValues } from '@commander-js/extra-typings';
import { z } from 'zod';
import { actionDefinitions } from '../chain/actions.js';
import { parseJson } from './api.js';
import type { Session } from './session.js';
import { type Terminal, UsageError } from './terminal.js';
import { readMoment } from './text.js';

export type Commands = (relay: Command, session: Session) => void;

/** Adds a command to a group. `list` is the default command of its group. @param words - the arguments in the help's example. */
export function command<Usage extends string>(group: Command, usage: Usage, words: string, summary: string) {
  const added = group.command(usage, { isDefault: usage.startsWith('list') });
  const names = [...(group.parent ? ['relay'] : []), group.name(), added.name()];
  return added.summary(summary).addHelpText('after', `\nExample:\n  ${[...names, words].join(' ').trimEnd()}`);
}

export const yesOption = new Option('--yes', 'do not ask for confirmation');
export const waitOption = new Option('--wait', 'follow the chain until it ends or needs attention');

/** Adds the options of commands that print a list. */
export function withParts<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  return command
    .option('--limit <n>', 'the maximum number of items; default: 50', readCount('--limit'))
    .option('--all', 'print all items');
}

/** Adds the options that select chains. Each option sets one field of the API's filter. */
export function withFilter<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  const later = 'chains received since this time: 2026-07-01T12:00:00Z, or 2h for two hours ago';
  return command
    .option('--assignment <id>', 'chains with an action for this assignment', (assignmentId) => ({ assignmentId }))
    .option('--rule <relayId>', 'chains with an action of this rule', (relayId) => ({ relayId }))
    .option('--reason <type>', 'chains with this type of failure, such as PlatformError', (reason) => ({ reason }))
    .option('--since <time>', later, (time) => ({ since: readMoment(time, 'ago') }))
    .option('--until <time>', 'chains received before this time', (time) => ({ until: readMoment(time, 'ago') }));
}

/** Adds the options for contacts, and for a file with settings. */
export function withSettings<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  const addresses = 'an e-mail address that gets notices; repeatable';
  const links = 'whether notices to the webhook have links; with a link, every reader can retry or skip an action';
  const format = 'the format of the requests to the webhook: relay or slack; default: slack for hooks.slack.com, otherwise relay';
  const file = 'a JSON file with fields of the API, or - for standard input; options override the fields of the file';
  const sets = (notify: object) => ({ notify });
  const switched = (text: string) => sets({ linksInWebhooks: readSwitch('--notify-webhook-links', text) });
  return command
    .option('--notify-email <address>', addresses, (address, before?: { notify: { emails?: string[] } }) =>
      sets({ emails: [...(before?.notify.emails ?? []), address] }),
    )
    .option('--notify-webhook <url>', 'the URL that receives notices by POST', (webhookUrl) => sets({ webhookUrl }))
    .option('--notify-webhook-secret <whsec_…>', 'the secret that signs the requests to the webhook', (webhookSecret) =>
      sets({ webhookSecret }),
    )
    .option('--notify-webhook-links <on|off>', links, switched)
    .option('--notify-webhook-format <format>', format, (webhookFormat) => sets({ webhookFormat }))
    .option('--file <file>', file);
}

export function readSwitch(option: string, text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new UsageError(`${option} must be on or off`);
  return text === 'on';
}

/** @param at - the help shows this text before `field`. For example `index.`, for changes of one action. */
export function withChanges<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>, at = '') {
  const collect = (text: string, before: string[] = []) => [...before, text];
  return command
    .option(`--set <${at}field=value>`, 'set a field; repeatable', collect)
    .option(`--unset <${at}field>`, 'remove a field; repeatable', collect);
}

const isList = (field: string) =>
  actionDefinitions.some(({ fields }) => new Map<string, unknown>(Object.entries(fields)).get(field) instanceof z.ZodArray);

/** The new value of each field. `null` removes a field. Several `--set` for one list field make one list. @throws UsageError */
export function changesOf({ set = [], unset = [] }: { set?: string[]; unset?: string[] }): Settings {
  const changes: Settings = Object.fromEntries(unset.map((field) => [field, null]));
  for (const text of set) {
    const [, field = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (field === '') throw new UsageError('--set must be field=value');
    const before = z.array(z.unknown()).safeParse(changes[field]).data ?? [];
    changes[field] = isList(field.replace(/^\d+\./, '')) ? [...before, value] : value;
  }
  return changes;
}

export type Settings = Record<string, unknown>;
const settingsSchema = z.record(z.string(), z.unknown());

/** Reads settings from options and `--file`. The API validates the settings. @throws UsageError that does not quote the file. */
export async function readSettings(terminal: Terminal, options: { file?: string }): Promise<Settings> {
  const { file } = options;
  if (file === undefined) return settingsOf(options);
  const name = file === '-' ? 'Standard input' : file;
  const content = parseJson(await readInput(terminal, file));
  if (content === undefined) throw new UsageError(`${name} is not JSON`);
  const { data } = settingsSchema.safeParse(content);
  if (!data) throw new UsageError(`${name} must be a JSON object`);
  return settingsOf(options, data);
}

/** Options override the file. If an option sets one field of a section such as `mail`, the file still sets the other fields. */
export function settingsOf(options: object, file: Settings = {}): Settings {
  const settings = { ...file };
  const given = Object.values(options).flatMap((option) => Object.entries(settingsSchema.safeParse(option).data ?? {}));
  for (const [name, value] of given) {
    const section = settingsSchema.safeParse(value).data;
    settings[name] = section ? { ...settingsSchema.safeParse(settings[name]).data, ...section } : value;
  }
  return settings;
}

const unread: Record<string, string> = {
  ENOENT: 'the file does not exist',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
};

/** Reads a file; `-` means standard input. @throws UsageError */
export async function readInput(terminal: Terminal, file: string): Promise<Uint8Array> {
  if (file === '-') return terminal.readStdin();
  try {
    return readFileSync(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw new UsageError(`${file} cannot be read: ${unread[code] ?? code}`);
  }
}

export function readCount(name: string) {
  return (text: string) => {
    if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
    throw new UsageError(`${name} must be a whole number from 1`);
  };
}
