/**
 * Secrets in settings are write-only. An answer shows that there is one as `***`; a request that leaves it out, or says `***`, keeps it, and
 * `null` removes it. What counts as secret, and where it may be left out:
 * - `platform` and `ticketing`: `auth.token`, `auth.password`, every value of `auth.headers`, and `auth` as a whole. Headers not named are
 *   kept. A secret is kept only while `kind`, the origin of `baseUrl` and `auth.type` stay: none is carried over to another host.
 * - `mail.smtpUrl`, shown as `smtp://***@host:port`, and `notify.webhookUrl`, shown as `https://host/***` since the path is what makes a Slack
 *   URL work: as a whole, with the address in it.
 * - `webhookSecret` and `notify.webhookSecret`, as a whole: they sign, and are never sent.
 * Every other field of a section that is given is replaced: left out or `null`, it is gone.
 */

import type { Issue } from '../../chain/request.js';
import type { Auth, MailSettings, PlatformSettings, TicketingSettings } from '../../contract/company.js';
import type { Notify } from '../../contract/notify.js';
import { isObject, type JsonObject } from '../body.js';

export const mask = '***';

/** The platform's or ticket system's settings as an answer shows them. */
export function redactConnection<Settings extends PlatformSettings | TicketingSettings>(settings: Settings): Settings {
  return settings.auth === undefined ? settings : { ...settings, auth: redactAuth(settings.auth) };
}

function redactAuth(auth: Auth): Auth {
  switch (auth.type) {
    case 'bearer':
      return { ...auth, token: mask };
    case 'basic':
      return { ...auth, password: mask };
    case 'headers':
      return { ...auth, headers: Object.fromEntries(Object.keys(auth.headers).map((name) => [name, mask])) };
  }
}

export function redactMail(mail: MailSettings): MailSettings {
  return mail.smtpUrl === undefined ? mail : { ...mail, smtpUrl: redactSmtpUrl(mail.smtpUrl) };
}

/** Without the user too: some mail services take their token for both. */
function redactSmtpUrl(smtpUrl: string): string {
  const { protocol, username, password, host } = new URL(smtpUrl);
  return `${protocol}//${username === '' && password === '' ? '' : `${mask}@`}${host}`;
}

export function redactNotify(notify: Notify): Notify {
  const { webhookUrl, webhookSecret } = notify;
  return {
    ...notify,
    ...(webhookUrl !== undefined && { webhookUrl: `${new URL(webhookUrl).origin}/${mask}` }),
    ...(webhookSecret !== undefined && { webhookSecret: mask }),
  };
}

/**
 * The functions below take a section of a request as it came, what is stored, and the section's pointer, and return the section with
 * what it keeps filled in, for the schema to check. A secret that cannot be kept is reported to `problems`.
 */
export function keepConnection(
  given: unknown,
  stored: PlatformSettings | TicketingSettings | undefined,
  at: string,
  problems: Issue[],
): unknown {
  if (given === undefined) return stored;
  if (!isObject(given) || given.auth === null) return withoutNullFields(given);
  const { auth, kept } = keepAuth(given.auth, stored?.auth);
  if (kept && !(given.kind === stored?.kind && originOf(given.baseUrl) === originOf(stored?.baseUrl))) {
    const detail = 'is for another address, to which no secret is carried over: send it in full, or null to remove it';
    problems.push({ pointer: `${at}/auth`, detail });
  }
  return withoutNullFields({ ...given, auth });
}

export function keepMail(given: unknown, stored: MailSettings | undefined, at: string, problems: Issue[]): unknown {
  return keepUrl(given, stored, stored && redactMail(stored), 'smtpUrl', at, problems);
}

export function keepNotify(given: unknown, stored: Notify | undefined, at: string, problems: Issue[]): unknown {
  const signed = isObject(given) ? { ...given, webhookSecret: keepSecret(given.webhookSecret, stored?.webhookSecret) } : given;
  return keepUrl(signed, stored, stored && redactNotify(stored), 'webhookUrl', at, problems);
}

/** As above, of a secret that is a field of its own. */
export function keepSecret(given: unknown, stored: string | undefined): unknown {
  return given === undefined || (given === mask && stored !== undefined) ? stored : given;
}

function keepUrl<Field extends 'smtpUrl' | 'webhookUrl'>(
  given: unknown,
  stored: { [field in Field]?: string | undefined } | undefined,
  shown: { [field in Field]?: string | undefined } | undefined,
  field: Field,
  at: string,
  problems: Issue[],
): unknown {
  if (given === undefined) return stored;
  if (!isObject(given)) return given;
  const url = given[field];
  if (url === undefined || (url !== null && url === shown?.[field]))
    return withoutNullFields({ ...given, [field]: stored?.[field] });
  if (typeof url === 'string' && url.includes(mask)) {
    problems.push({
      pointer: `${at}/${field}`,
      detail: `hides a secret (${mask}) of another address: send it in full, or null to remove it`,
    });
  }
  return withoutNullFields(given);
}

/** @returns the `auth` that is meant, and whether a stored secret is in it. */
function keepAuth(given: unknown, stored: Auth | undefined): { auth: unknown; kept: boolean } {
  if (given === undefined) return { auth: stored, kept: stored !== undefined };
  if (!isObject(given)) return { auth: given, kept: false };
  if (given.type === 'headers') return keepHeaders(given, stored?.type === 'headers' ? stored.headers : {});
  if (given.type === 'bearer') return keepField(given, 'token', stored?.type === 'bearer' ? stored.token : undefined);
  if (given.type === 'basic') return keepField(given, 'password', stored?.type === 'basic' ? stored.password : undefined);
  return { auth: given, kept: false };
}

function keepField(given: JsonObject, field: 'token' | 'password', stored: string | undefined): { auth: unknown; kept: boolean } {
  const left = given[field] === undefined || given[field] === mask;
  return { auth: left ? { ...given, [field]: stored } : given, kept: left && stored !== undefined };
}

/** Header names are the same in either case. */
function keepHeaders(given: JsonObject, stored: Record<string, string>): { auth: unknown; kept: boolean } {
  const named = given.headers ?? {};
  if (!isObject(named)) return { auth: given, kept: false };
  const storedValues = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  const namedInLowerCase = new Set(Object.keys(named).map((name) => name.toLowerCase()));
  const kept = Object.entries(stored).filter(([name]) => !namedInLowerCase.has(name.toLowerCase()));
  const sent = Object.entries(named).filter(([, value]) => value !== null);
  const headers = sent.map(([name, value]) => [name, value === mask ? storedValues.get(name.toLowerCase()) : value]);
  return {
    auth: { ...given, headers: Object.fromEntries([...kept, ...headers]) },
    kept: kept.length > 0 || sent.some(([name, value]) => value === mask && storedValues.has(name.toLowerCase())),
  };
}

function withoutNullFields(section: unknown): unknown {
  return isObject(section) ? Object.fromEntries(Object.entries(section).filter(([, value]) => value !== null)) : section;
}

function originOf(url: unknown): string | undefined {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : undefined;
}
