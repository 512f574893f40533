/** One mailbox, as people write it: `ada@example.com`, `Ada Lovelace <ada@example.com>`, `"Lovelace, Ada" <ada@example.com>`. */

import { bareAddress } from '../../chain/address.js';
import { ConnectorError } from '../call.js';
import { excerpt } from '../excerpt.js';

export interface Mailbox {
  /** Without quotes; empty where there is none. */
  name: string;
  address: string;
}

/**
 * Reads exactly one mailbox; a list and a line break are refused, so that no recipient and no header can slip in behind another.
 * @throws ConnectorError `permanent`
 */
export function parseMailbox(text: string): Mailbox {
  const address = bareAddress(text);
  if (address === undefined) throw new ConnectorError('permanent', `"${excerpt(text)}" is not an e-mail address`);
  const name = text.includes('<') ? text.slice(0, text.indexOf('<')).trim() : '';
  const [, quoted] = /^"(.*)"$/.exec(name) ?? [];
  return { name: quoted?.replace(/\\(.)/g, '$1') ?? name, address };
}
