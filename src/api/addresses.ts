/** Records who set the addresses that the relay calls. If a company key sets an address, the address must be public. */

import { isDeepStrictEqual } from 'node:util';
import { propertyOf } from '../chain/condition.js';
import { guardOf } from '../connectors/network.js';
import type { Caller } from '../contract/audit.js';
import type { Company } from '../contract/company.js';
import { isLoopback } from '../contract/loopback.js';
import { type AddressSection, addressFields, type SetByCompany } from '../contract/notify.js';
import { invalid } from './input.js';

type Addresses = { [Section in AddressSection]?: Company[Section] | null };

/**
 * @returns the sections in which a company key has set an address or a vendor's settings. A section without changes keeps its
 * stored result. A section counts as set by the operator if an admin sends all its addresses, or if all are in `simulated`.
 * @param given - the body. @throws Problem 400 if a key sets an internal address, or replaces a vendor's address
 */
export function addressesSetBy(
  actor: Caller,
  given: Record<string, unknown>,
  settings: Addresses,
  stored: Addresses & SetByCompany = {},
  simulated: readonly string[] = [],
): SetByCompany['setByCompany'] {
  const sections = Object.keys(addressFields) as AddressSection[];
  const set = sections.filter((section) => {
    const [now = [], stays = [], sent = []] = [settings, stored, given].map((whose) => addressesIn(whose, section));
    const kind = kindOf(settings, section);
    if (now.length === 0 && kind === undefined) return false;
    const isSame = now.length === 0 ? isDeepStrictEqual(settings[section], stored[section]) : kind === kindOf(stored, section);
    const isKept = isSame && now.every((address) => stays.includes(address));
    const isGiven =
      now.length === 0
        ? kindOf(given, section) === kind
        : now.every((address) => sent.includes(address) || !stays.includes(address));
    if (actor.kind === 'admin' && (isGiven || (now.length === 0 && !isSame))) return false;
    if (isKept || actor.kind === 'admin') return stored.setByCompany?.includes(section);
    if (now.length > 0 && now.every((address) => simulated.some((one) => address === `baseUrl ${one}`))) return false;
    if (now.length > 0 && kind !== undefined && kind !== 'http')
      throw invalid([{ pointer: `/${section}/baseUrl`, detail: ofOperators }]);
    for (const address of now) assertPublic(section, address);
    return true;
  });
  return set.length > 0 ? set : undefined;
}

/** Each address with its path: `auth.tokenUrl https://…`. */
function addressesIn(settings: Record<string, unknown>, section: AddressSection): string[] {
  return addressFields[section].flatMap((path) => {
    const value = propertyOf(settings[section], path);
    return typeof value === 'string' ? [`${path} ${value}`] : [];
  });
}

function kindOf(settings: Record<string, unknown>, section: AddressSection): unknown {
  return new Map(Object.entries(settings[section] ?? {})).get('kind');
}

const ofOperators = "must be left out, because it replaces the vendor's address: only the operator can set it";

/** Checks only the URL. The connectors check the IP addresses of the host name. */
function assertPublic(section: AddressSection, address: string): void {
  const [path = ''] = address.split(' ');
  const { hostname } = new URL(address.slice(path.length));
  if (!isLoopback(hostname) && guardOf(false).allows(hostname)) return;
  const detail = 'must be a public address: only the operator can set an internal address';
  throw invalid([{ pointer: `/${section}/${path.replace('.', '/')}`, detail }]);
}
