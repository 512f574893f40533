/** Records who set the addresses that the relay calls. An address set with a company key must be public. */

import { guardOf } from '../connectors/network.js';
import type { Caller } from '../contract/audit.js';
import type { Company } from '../contract/company.js';
import { isLoopback } from '../contract/loopback.js';
import { type AddressSection, addressFields, type SetByCompany } from '../contract/notify.js';
import { invalid } from './input.js';

type Addresses = { [Section in AddressSection]?: Company[Section] | null };

/**
 * @returns the sections whose address a key of the company has set. A request that does not change an address does not change who
 * set it, with one exception: if the body of an admin's request contains the address, the operator has set it.
 * @param given - the body. @throws Problem 400 if a key sets an internal address
 */
export function addressesSetBy(
  actor: Caller,
  given: Record<string, unknown>,
  settings: Addresses,
  stored: Addresses & SetByCompany = {},
): SetByCompany['setByCompany'] {
  const sections = Object.keys(addressFields) as AddressSection[];
  const set = sections.filter((section) => {
    const address = addressIn(settings, section);
    const isKept = address === addressIn(stored, section);
    if (address === undefined || (actor.kind === 'admin' && (!isKept || address === addressIn(given, section)))) return false;
    if (isKept) return stored.setByCompany?.includes(section);
    assertPublic(section, address);
    return true;
  });
  return set.length > 0 ? set : undefined;
}

function addressIn(settings: Record<string, unknown>, section: AddressSection): string | undefined {
  const value = new Map(Object.entries(settings[section] ?? {})).get(addressFields[section]);
  return typeof value === 'string' ? value : undefined;
}

/** Checks only the URL. The connectors check the IP addresses to which its host name resolves. */
function assertPublic(section: AddressSection, address: string): void {
  const { hostname } = new URL(address);
  if (!isLoopback(hostname) && guardOf(false).allows(hostname)) return;
  const detail = 'must be a public address, because a key of the company sets it: only the operator can set an internal address';
  throw invalid([{ pointer: `/${section}/${addressFields[section]}`, detail }]);
}
