/** What commands have in common: their form, options that several have, and the settings that options and files hold. */

import { readFileSync } from 'node:fs';
import { type Command, Option, type OptionValues } from '@commander-js/extra-typings';
import { z } from 'zod';
import { actionDefinitions } from '../chain/actions.js';
import { parseJson } from './api.js';
import type { Session } from './session.js';
import { type Terminal, UsageError } from './terminal.js';
import { readMoment } from './text.js';

/** Adds the commands of a subject to `relay`; their actions use the session. */
export type Commands = (relay: Command, session: Session) => void;

/** Adds a command to a group, which by itself lists. @param words - those behind its name in the example of its help. */
export function command<Usage extends string>(group: Command, usage: Usage, words: string, summary: string) {
  const added = group.command(usage, { isDefault: usage.startsWith('list') });
  const names = [...(group.parent ? ['relay'] : []), group.name(), added.name()];
  return added.summary(summary).addHelpText('after', `\nExample:\n  ${[...names, words].join(' ').trimEnd()}`);
}

export const yesOption = new Option('--yes', 'do not ask');

export const waitOption = new Option('--wait', 'follow the chain until it has ended or needs attention');

/** For lists that the API answers in parts. */
export function withParts<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  return command.option('--limit <n>', 'at most so many; default: 50', readCount('--limit')).option('--all', 'all there are');
}

/** Which chains are meant: each option is read as the field of the API's filter. */
export function withFilter<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  const later = 'received then or later: 2026-07-01T12:00:00Z, or 2h for two hours ago';
  return command
    .option('--assignment <id>', 'with an action for this assignment', (assignmentId) => ({ assignmentId }))
    .option('--rule <relayId>', 'with an action of this rule', (relayId) => ({ relayId }))
    .option('--reason <type>', 'that need attention, or have failed, for this, such as PlatformError', (reason) => ({ reason }))
    .option('--since <time>', later, (time) => ({ since: readMoment(time, 'ago') }))
    .option('--until <time>', 'received before', (time) => ({ until: readMoment(time, 'ago') }));
}

/** The contacts for notices, each read as the settings that it makes, and a file with any settings. */
export function withSettings<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  const addresses = 'who is told when something fails (may be given several times)';
  const format = 'relay or slack; slack by itself for hooks.slack.com';
  return command
    .option('--notify-email <address>', addresses, (address, before?: { notify: { emails: string[] } }) => ({
      notify: { emails: [...(before?.notify.emails ?? []), address] },
    }))
    .option('--notify-webhook <url>', 'where notices are POSTed to', (webhookUrl) => ({ notify: { webhookUrl } }))
    .option('--notify-webhook-secret <whsec_…>', 'they are signed with it', (webhookSecret) => ({ notify: { webhookSecret } }))
    .option('--notify-webhook-format <format>', format, (webhookFormat) => ({ notify: { webhookFormat } }))
    .option('--file <file>', 'JSON with the fields of the API; - is standard input; options come on top');
}

/** Changes to the fields of actions. @param at - what stands before a field: `index.` of the action's place. */
export function withChanges<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>, at = '') {
  const collect = (text: string, before: string[] = []) => [...before, text];
  return command
    .option(`--set <${at}field=value>`, 'give the field another value (may be given several times)', collect)
    .option(`--unset <${at}field>`, 'take the field away (may be given several times)', collect);
}

const isList = (field: string) =>
  actionDefinitions.some(({ fields }) => new Map<string, unknown>(Object.entries(fields)).get(field) instanceof z.ZodArray);

/** By field its new value, of a list all that was given; `null` takes it away. @throws UsageError */
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

/** Of options and a `--file`. Mistakes in them are for the API to name. @throws UsageError, without what the file holds. */
export async function readSettings(terminal: Terminal, options: { file?: string }): Promise<Settings> {
  const { file } = options;
  if (file === undefined) return settingsOf(options);
  const name = file === '-' ? 'Standard input' : file;
  const content = parseJson(await readInput(terminal, file));
  if (content === undefined) throw new UsageError(`${name} is not JSON`);
  const { data } = settingsSchema.safeParse(content);
  if (!data) throw new UsageError(`${name} must hold a JSON object`);
  return settingsOf(options, data);
}

/** What the options come to that were read as fields. A section, such as `mail`, keeps the other fields that the file has. */
export function settingsOf(options: object, file: Settings = {}): Settings {
  const settings = { ...file };
  const given = Object.values(options).flatMap((option) => Object.entries(settingsSchema.safeParse(option).data ?? {}));
  for (const [name, value] of given) {
    const section = settingsSchema.safeParse(value).data;
    settings[name] = section ? { ...settingsSchema.safeParse(settings[name]).data, ...section } : value;
  }
  return settings;
}

const unread: Record<string, string> = { ENOENT: 'there is no such file', EACCES: 'permission denied', EISDIR: 'it is a folder' };

/** A file's bytes, or those of standard input for `-`. @throws UsageError */
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
