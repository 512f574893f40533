import { readFileSync } from 'node:fs';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import { DefaultLogger, type NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { Deps } from '../activities/effect.js';
import { createActivities } from '../activities/index.js';
import { plainFailures } from '../contract/converters.js';
import type { Keyring } from '../contract/encryption.js';
import { dataConverterOf } from '../service/payloads.js';
import { freePort } from '../service/server.js';
import type { Log, Metrics } from '../service/telemetry.js';
import { type CollectOptions, startCollector } from '../temporal/collect.js';
import { chainSinks } from '../temporal/ended.js';
import { bundlePath } from './bundle.js';
import { WorkflowTaskSlots } from './task-slots.js';

interface WorkerOptions extends Omit<Deps, 'inFlight' | 'store'> {
  store: Deps['store'] & CollectOptions['store'];
  metrics: Metrics;
  log: Log;
  connection: NativeConnection;
  namespace: string;
  taskQueue: string;
  version?: WorkerDeploymentVersion; // if absent, the worker has no version
  keyring?: Keyring; // if absent, payloads are not encrypted
}

// Reads the bundle when this module loads, so that a missing build fails immediately.
const bundle = readFileSync(bundlePath, 'utf8');

/** @returns the promise `running`, which rejects if a fatal error occurs, and `stop`, which waits for running work. */
export async function startWorker({ connection, namespace, taskQueue, version, keyring, ...deps }: WorkerOptions) {
  const slots = new WorkflowTaskSlots();
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    dataConverter: dataConverterOf(keyring),
    workflowBundle: { code: `${keyring ? '' : `globalThis.${plainFailures} = true; `}${bundle}` },
    activities: createActivities(deps),
    sinks: chainSinks(deps.store.chains),
    // A chain can run longer than one version of the worker. The next version replays the chain's history and continues.
    workerDeploymentOptions: version && { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' },
    maxCachedWorkflows: 1000,
    // The SDK aborts workflow code after this time. In Node 20, that ends the process ("async hook stack has become corrupted").
    // The default of 5 seconds is too short for thousands of signals on a busy machine. The SDK's types lack the option.
    ...{ isolateExecutionTimeout: '60 seconds' },
    tuner: {
      workflowTaskSlotSupplier: slots,
      // Activities mostly wait for outside systems, so one process can run many activities.
      localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: 400 },
      activityTaskSlotSupplier: { type: 'fixed-size', numSlots: 400 },
      nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
    },
    interceptors: { activity: [slots.interceptor] },
    shutdownGraceTime: '30 seconds', // effects end within this time
  });
  const running = worker.run();
  const collector = startCollector({ ...deps, taskQueue });
  const stop = async () => {
    await collector.stop();
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
  };
  return { running, stop };
}

/** Sends the SDK's log to `log`. Must run before the first connection. @returns the URL of the SDK's Prometheus metrics. */
export async function installRuntime(log: Log): Promise<string> {
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
  // Without `least`, the SDK would log every step. With `least`, the SDK writes only lines with an enabled level.
  const least = log.isLevelEnabled('trace') ? 'TRACE' : log.isLevelEnabled('debug') ? 'DEBUG' : 'WARN';
  const bindAddress = `127.0.0.1:${await freePort('127.0.0.1')}`;
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger(least, ({ level, message, meta }) => log[levels[level]](meta ?? {}, message)),
    telemetryOptions: {
      logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
      metrics: {
        // Uses the names and units that are usual in Prometheus: temporal_…_total, temporal_…_seconds.
        prometheus: { bindAddress, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true },
        attachServiceName: false,
      },
    },
  });
  return `http://${bindAddress}/metrics`;
}
