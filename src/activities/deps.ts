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
  /** Is told when nobody else can be. */
  operatorEmail?: string;
  /** Of actions that fail for the same reason within such a time, the first is told of at once and the rest as one; 0: each by itself. */
  noticeDigestSeconds: number;
  log: Logger;
  metrics: Metrics;
}
