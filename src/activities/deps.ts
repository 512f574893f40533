/** What the activities work with; made once by each worker. */

import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Connectors } from '../connectors/connectors.js';
import type { Links } from '../service/config.js';
import type { Metrics } from '../service/metrics.js';
import type { Store } from '../store/store.js';

export interface Deps {
  store: Pick<Store, 'companies' | 'rules' | 'pauses'>;
  connectors: Connectors;
  client: Client;
  links: Links;
  /** Gets the notices that reach no contact of the company. */
  operatorEmail?: string;
  /** Failures for the same reason within this time become one notice, after a first one at once; 0: a notice for each. */
  noticeDigestSeconds: number;
  log: Logger;
  metrics: Metrics;
}
