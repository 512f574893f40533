/** What the activities work with; made once by each worker. */

import type { Connectors } from '../connectors/connectors.js';
import type { DeliveryDeps } from '../notices/deliver.js';
import type { Store } from '../store/store.js';
import type { InFlight } from './in-flight.js';

export interface Deps extends DeliveryDeps {
  store: Pick<Store, 'settings' | 'companies' | 'rules' | 'pauses'>;
  connectors: Connectors;
  inFlight: InFlight;
  /** Failures for the same reason within this time become one notice, after a first one at once; 0: a notice for each. */
  noticeDigestSeconds: number;
}
