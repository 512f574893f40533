/** One e-mail address, as people write it: `ada@example.com`, `Ada <ada@example.com>`, `"Lovelace, Ada" <ada@example.com>`. */

import { bareAddress } from '../../chain/address.js';
import { ConnectorError } from '../call.js';
import { excerpt } from '../excerpt.js';

interface EmailAddress {
  /** Without quotes; empty where there is none. */
  name: string;
  address: string;
}

/**
 * Reads exactly one address. A list or a line break is refused, so that no other recipient and no header can be slipped in.
 * @throws ConnectorError `permanent`
 */
export function parseEmailAddress(text: string): EmailAddress {
  const address = bareAddress(text);
  if (address === undefined) throw new ConnectorError('permanent', `"${excerpt(text)}" is not an e-mail address`);
  const name = text.includes('<') ? text.slice(0, text.indexOf('<')).trim() : '';
  const [, quoted] = /^"(.*)"$/.exec(name) ?? [];
  return { name: quoted?.replace(/\\(.)/g, '$1') ?? name, address };
}
