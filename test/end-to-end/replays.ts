import type { ReplayWorkerOptions } from '@temporalio/worker';
import type { Keyring } from '../../src/contract/encryption.js';
import { dataConverterOf } from '../../src/service/payloads.js';
import { bundlePath } from '../../src/worker/bundle.js';

/** The options for a replay of histories. A replay calls no sink, but the SDK logs an error about each missing sink. */
export const replayOptions = (keyring?: Keyring): ReplayWorkerOptions => ({
  workflowBundle: { codePath: bundlePath },
  dataConverter: dataConverterOf(keyring),
  sinks: { chains: { ended: { fn() {} } } },
});
