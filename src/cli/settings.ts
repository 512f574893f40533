/** Settings for companies and rules, from options and from a file. */

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Options } from './command.js';
import { UsageError } from './exit-codes.js';
import type { Terminal } from './terminal.js';

export const fileOption = {
  file: { type: 'string', value: 'file', help: 'JSON with the fields of the API; - is standard input; options come on top' },
} as const satisfies Options;

export const notifyOptions = {
  'notify-email': { type: 'string', multiple: true, value: 'address', help: 'who is told when something fails' },
  'notify-webhook': { type: 'string', value: 'url', help: 'where notices are POSTed to' },
  'notify-webhook-secret': { type: 'string', value: 'whsec_…', help: 'they are signed with it' },
  'notify-webhook-format': { type: 'string', value: 'format', help: 'relay or slack; slack by itself for hooks.slack.com' },
} as const satisfies Options;

export type Settings = Record<string, unknown>;

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

/** The settings of `--file`; none without it. Mistakes in them are for the API to name. @throws UsageError, without what the file holds. */
export async function readSettings(terminal: Terminal, file: string | undefined): Promise<Settings> {
  if (file === undefined) return {};
  const settings = z.record(z.string(), z.unknown()).safeParse(parseJson(await readInput(terminal, file), file));
  if (!settings.success) throw new UsageError(`${file === '-' ? 'Standard input' : file} must hold a JSON object`);
  return settings.data;
}

function parseJson(bytes: Uint8Array, file: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new UsageError(`${file === '-' ? 'Standard input' : file} is not JSON`);
  }
}

/** What is in both, and what is given; `undefined` counts as not given. */
export function withGiven(settings: unknown, given: Settings): Settings {
  const before = z.record(z.string(), z.unknown()).safeParse(settings);
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...before.data, ...Object.fromEntries(named) };
}

/** The fields of `notify` that the options name. */
export function notifyOf(options: {
  'notify-email'?: string[] | undefined;
  'notify-webhook'?: string | undefined;
  'notify-webhook-secret'?: string | undefined;
  'notify-webhook-format'?: string | undefined;
}): Settings {
  return {
    emails: options['notify-email'],
    webhookUrl: options['notify-webhook'],
    webhookSecret: options['notify-webhook-secret'],
    webhookFormat: options['notify-webhook-format'],
  };
}

/**
 * A section of settings, of which the options name only some fields. The API replaces a section as a whole, so that the other fields are
 * taken from what is there; its secrets come as `***`, which the API takes for "as it is".
 * @param given - fields by name; `undefined` counts as not given.
 * @param fresh - what a section that is not there begins with.
 * @returns nothing where the options name none of it.
 */
export function section(name: string, given: Settings, file: Settings, current: Settings, fresh: Settings = {}): Settings {
  if (Object.values(given).every((value) => value === undefined)) return {};
  return { [name]: withGiven(file[name] ?? current[name] ?? fresh, given) };
}
