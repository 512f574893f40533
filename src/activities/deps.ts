/** What the activities work with; made once by each worker. */

import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Links } from '../config.js';
import type { Connectors } from '../connectors/connectors.js';
import type { Store } from '../store/store.js';

export interface Deps {
  store: Pick<Store, 'companies' | 'rules'>;
  connectors: Connectors;
  client: Client;
  links: Links;
  /** Is told when nobody else can be. */
  operatorEmail?: string;
  log: Logger;
}
