/** A Temporal worker with all workflows and activities. */

import type { WorkerDeploymentVersion } from '@temporalio/common';
import { type NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { Deps } from '../activities/deps.js';
import { createActivities } from '../activities/index.js';
import type { Log } from '../service/log.js';
import { bundlePath } from './bundle.js';

export interface WorkerOptions extends Deps {
  connection: NativeConnection;
  namespace: string;
  taskQueue: string;
  /** Of a Worker Deployment. Absent: the worker is not versioned. */
  version?: WorkerDeploymentVersion;
}

export function createWorker(options: WorkerOptions): Promise<Worker> {
  return Worker.create({
    connection: options.connection,
    namespace: options.namespace,
    taskQueue: options.taskQueue,
    workflowBundle: { codePath: bundlePath },
    activities: createActivities(options),
    // Chains run for up to a year, longer than a version is kept: they go on with the next one, which must replay their histories.
    ...(options.version && {
      workerDeploymentOptions: { version: options.version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' },
    }),
    maxCachedWorkflows: 1000,
    maxConcurrentActivityTaskExecutions: 100,
    maxConcurrentLocalActivityExecutions: 100,
    // Effects end by themselves within half a minute: they are waited for.
    shutdownGraceTime: '30 seconds',
  });
}

/** Sends the SDK's own log into ours. To be called before any connection is made. */
export function installRuntime(log: Log): void {
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;
  const write = (level: keyof typeof levels, message: string, meta?: object) => log[levels[level]]({ ...meta }, message);
  Runtime.install({
    shutdownSignals: [],
    logger: {
      log: (level, message, meta) => write(level, message, meta),
      trace: (message, meta) => write('TRACE', message, meta),
      debug: (message, meta) => write('DEBUG', message, meta),
      info: (message, meta) => write('DEBUG', message, meta),
      warn: (message, meta) => write('WARN', message, meta),
      error: (message, meta) => write('ERROR', message, meta),
    },
    telemetryOptions: { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } },
  });
}
