/** What the activities work with; made once by each worker. */

import type { Connectors } from '../connectors/connectors.js';
import type { DeliveryDeps } from '../notices/deliver.js';
import type { Store } from '../store/store.js';
import type { LocalTries } from './local-tries.js';

export interface Deps extends DeliveryDeps {
  store: Pick<Store, 'settings' | 'companies' | 'rules' | 'pauses'>;
  connectors: Connectors;
  localTries: LocalTries;
  /** Failures for the same reason within this time become one notice, after a first one at once; 0: a notice for each. */
  noticeDigestSeconds: number;
}
