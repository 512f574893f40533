/** Records when this process can accept events, so that no rule counts as quiet because of an outage of the relay. */

import type { ApiOptions } from './route.js';

const beatEveryMs = 30_000;
const answerTimeoutMs = 5_000;

/** Makes a record now and twice a minute. @returns a function that stops the recording */
export function keepUptime({ store, client, log }: Pick<ApiOptions, 'store' | 'client' | 'log'>): () => void {
  const beat = async () => {
    const { namespace } = client.options;
    await client.withDeadline(Date.now() + answerTimeoutMs, () => client.workflowService.describeNamespace({ namespace }));
    await store.uptime.beat();
  };
  const keep = () => beat().catch((err: unknown) => log.debug({ err }, 'this process cannot accept events now'));
  void keep();
  const timer = setInterval(keep, beatEveryMs);
  return () => clearInterval(timer);
}
