/** A Temporal worker with all workflows and activities. */

import { readFileSync } from 'node:fs';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import { DefaultLogger, type NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { Deps } from '../activities/effect.js';
import { createActivities } from '../activities/index.js';
import { plainFailures } from '../contract/converters.js';
import type { Keyring } from '../contract/encryption.js';
import { dataConverterOf } from '../service/payloads.js';
import { freePort } from '../service/server.js';
import type { Log } from '../service/telemetry.js';
import { bundlePath } from './bundle.js';
import { WorkflowTaskSlots } from './task-slots.js';

interface WorkerOptions extends Omit<Deps, 'inFlight'> {
  connection: NativeConnection;
  namespace: string;
  taskQueue: string;
  version?: WorkerDeploymentVersion; // absent: it is not versioned
  keyring?: Keyring; // absent: payloads are not encrypted
}

// Read before anything starts: a build without it ends at once.
const bundle = readFileSync(bundlePath, 'utf8');

/** @returns `running`, which rejects where it could not go on; and `stop`, which waits for what is under way. */
export async function startWorker({ connection, namespace, taskQueue, version, keyring, ...deps }: WorkerOptions) {
  const slots = new WorkflowTaskSlots();
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    dataConverter: dataConverterOf(keyring),
    workflowBundle: { code: `${keyring ? '' : `globalThis.${plainFailures} = true; `}${bundle}` },
    activities: createActivities(deps),
    // Chains run for up to a year, longer than a version is kept: the next version replays their histories and goes on.
    workerDeploymentOptions: version && { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' },
    maxCachedWorkflows: 1000,
    // The SDK ends a call into a workflow that takes longer, and with it, in Node 20, the whole process ("async hook stack has become
    // corrupted"). Its own 5 seconds are not enough for thousands of signals at once on a busy machine. Its types leave it out.
    ...{ isolateExecutionTimeout: '60 seconds' },
    tuner: {
      workflowTaskSlotSupplier: slots,
      // These mostly wait for an outside system: as many as a process can keep.
      localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: 400 },
      activityTaskSlotSupplier: { type: 'fixed-size', numSlots: 400 },
      nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
    },
    interceptors: { activity: [slots.interceptor] },
    shutdownGraceTime: '30 seconds', // Effects end by themselves within that: they are waited for.
  });
  const running = worker.run();
  const stop = async () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
  };
  return { running, stop };
}

/**
 * Sends the SDK's own log into ours, its INFO as detail, and has it tell its metrics on a port of this machine. To be called
 * before any connection is made. @returns where the metrics are, in the text format of Prometheus.
 */
export async function installRuntime(log: Log): Promise<string> {
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
  // It says something at every step: what is not logged is not put together either.
  const least = log.isLevelEnabled('trace') ? 'TRACE' : log.isLevelEnabled('debug') ? 'DEBUG' : 'WARN';
  const bindAddress = `127.0.0.1:${await freePort('127.0.0.1')}`;
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger(least, ({ level, message, meta }) => log[levels[level]](meta ?? {}, message)),
    telemetryOptions: {
      logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
      metrics: {
        // Names and units as Prometheus has them: temporal_…_total, temporal_…_seconds.
        prometheus: { bindAddress, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true },
        attachServiceName: false,
      },
    },
  });
  return `http://${bindAddress}/metrics`;
}
