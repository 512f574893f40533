/** Reads e-mail addresses as people write them: bare, with a display name, or several in one field. */

import { unsubstituted } from './text.js';

const local = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const domainLabel = /[\p{L}\p{N}]([\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?/u.source;
const domain = new RegExp(`^(?=.{1,253}$)(${domainLabel}\\.)*${domainLabel}$`, 'u');
const withName = /^(?<name>[^<>]*)<(?<address>[^<>]*)>$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: this pattern finds control characters, which are not allowed.
const control = /[\u0000-\u001f\u007f\u2028\u2029]/;

/** Returns `ada@example.com` for `Ada <ada@example.com>` and for `ada@example.com`. Undefined if the text is not an address. */
export function bareAddress(text: string): string | undefined {
  if (text.length > 320 || control.test(text)) return undefined;
  const bare = (withName.exec(text.trim())?.groups?.address ?? text).trim();
  const at = bare.lastIndexOf('@');
  return at > 0 && at <= 64 && local.test(bare.slice(0, at)) && domain.test(bare.slice(at + 1)) ? bare : undefined;
}

/** Returns the same text for all spellings of one recipient. */
export const addressOf = (recipient: string) => bareAddress(recipient)?.toLowerCase() ?? recipient;

/** Whether the address belongs to one of these domains or to a subdomain. */
export function isOfDomains(text: string, domains: readonly string[]): boolean {
  const of = bareAddress(text)?.split('@').at(-1)?.toLowerCase() ?? '';
  return domains.some((domain) => of === domain.toLowerCase() || of.endsWith(`.${domain.toLowerCase()}`));
}

export const isEmailAddress = (text: string) => bareAddress(text) !== undefined;

/** Splits at commas outside quotes and `<>`. Only a quote at the start of a word counts, which keeps the run time linear. */
const splitList = (text: string): string[] =>
  (text.match(/(?:(?<![^\s,])"(?:\\.|[^"\\]){0,320}"|<[^<>]{0,320}>|[^,])+/g) ?? []).map((part) => part.trim());

/** An element may be a list with commas. @returns each recipient once, as written, and the invalid addresses as `dropped`. */
export function readRecipients(emails: readonly string[]): { recipients: string[]; dropped: string[] } {
  const recipients = new Map<string, string>();
  const dropped: string[] = [];
  for (const entry of emails.flatMap(splitList)) {
    const address = bareAddress(entry);
    if (address === undefined || unsubstituted(address)) {
      if (entry !== '') dropped.push(entry);
    } else if (!recipients.has(address.toLowerCase())) recipients.set(address.toLowerCase(), entry);
  }
  return { recipients: [...recipients.values()], dropped };
}
