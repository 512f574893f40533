/** Settings of companies and rules, from options and from a file. */

import { readFileSync } from 'node:fs';
import type { Command, OptionValues } from '@commander-js/extra-typings';
import { z } from 'zod';
import { UsageError } from './exit-codes.js';
import type { Terminal } from './terminal.js';

/** The contacts for notices, and a file with any settings. */
export function withSettings<Args extends unknown[], Options extends OptionValues, Globals extends OptionValues>(
  command: Command<Args, Options, Globals>,
) {
  const addresses = 'who is told when something fails (may be given several times)';
  return command
    .option('--notify-email <address>', addresses, (address, before: string[] = []) => [...before, address])
    .option('--notify-webhook <url>', 'where notices are POSTed to')
    .option('--notify-webhook-secret <whsec_…>', 'they are signed with it')
    .option('--notify-webhook-format <format>', 'relay or slack; slack by itself for hooks.slack.com')
    .option('--file <file>', 'JSON with the fields of the API; - is standard input; options come on top');
}

/** The section of settings that these options name. */
export function notifyOf(options: {
  notifyEmail?: string[] | undefined;
  notifyWebhook?: string | undefined;
  notifyWebhookSecret?: string | undefined;
  notifyWebhookFormat?: string | undefined;
}) {
  return {
    emails: options.notifyEmail,
    webhookUrl: options.notifyWebhook,
    webhookSecret: options.notifyWebhookSecret,
    webhookFormat: options.notifyWebhookFormat,
  };
}

/** How the API tells settings to be merged (RFC 7396) from settings that replace others. */
export const mergePatch = { 'Content-Type': 'application/merge-patch+json' };

export type Settings = Record<string, unknown>;
const settingsSchema = z.record(z.string(), z.unknown());

/** A file's bytes, or those of standard input for `-`. @throws UsageError */
export async function readInput(terminal: Terminal, file: string): Promise<Uint8Array> {
  if (file === '-') return terminal.readStdin();
  try {
    return readFileSync(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const reasons: Record<string, string> = {
      ENOENT: 'there is no such file',
      EACCES: 'permission denied',
      EISDIR: 'it is a folder',
    };
    throw new UsageError(`${file} cannot be read: ${reasons[code] ?? code}`);
  }
}

/** What JSON in UTF-8 says; undefined for anything else. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/**
 * The settings of a file, if there is one, with those of the options on top. Mistakes in them are for the API to name.
 * @param given - `undefined` counts as not given, also inside a section.
 * @throws UsageError, without what the file holds.
 */
export async function readSettings(terminal: Terminal, file: string | undefined, given: Settings): Promise<Settings> {
  return merged(file === undefined ? {} : await readFile(terminal, file), given);
}

async function readFile(terminal: Terminal, file: string): Promise<Settings> {
  const name = file === '-' ? 'Standard input' : file;
  const content = parseJson(await readInput(terminal, file));
  if (content === undefined) throw new UsageError(`${name} is not JSON`);
  const settings = settingsSchema.safeParse(content);
  if (!settings.success) throw new UsageError(`${name} must hold a JSON object`);
  return settings.data;
}

/** Both; in a section of both, the fields that are given replace those of the file. */
function merged(file: Settings, given: Settings): Settings {
  const sections = Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
    const section = settingsSchema.safeParse(value).data;
    if (!section) return value === undefined ? [] : [[name, value]];
    const fields = merged({}, section);
    return Object.keys(fields).length === 0 ? [] : [[name, { ...settingsSchema.safeParse(file[name]).data, ...fields }]];
  });
  return { ...file, ...Object.fromEntries(sections) };
}
