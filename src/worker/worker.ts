/** A Temporal worker with all workflows and activities. */

import type { WorkerDeploymentVersion } from '@temporalio/common';
import { DefaultLogger, type NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { Deps } from '../activities/effect.js';
import { createActivities } from '../activities/index.js';
import type { Log } from '../service/telemetry.js';
import { bundlePath } from './bundle.js';

interface WorkerOptions extends Omit<Deps, 'inFlight'> {
  connection: NativeConnection;
  namespace: string;
  taskQueue: string;
  /** The version of a Worker Deployment that this worker is. Absent: it is not versioned. */
  version?: WorkerDeploymentVersion;
}

/**
 * @returns `running`, which settles when it has stopped and rejects where it could not go on; and `stop`: it takes no more work,
 * and what is under way is waited for
 */
export async function startWorker({ connection, namespace, taskQueue, version, ...deps }: WorkerOptions) {
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: { codePath: bundlePath },
    activities: createActivities(deps),
    // Chains run for up to a year, longer than a version is kept: the next version replays their histories and goes on.
    ...(version && {
      workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' },
    }),
    maxCachedWorkflows: 1000,
    // A slot waits for the answer of an outside system most of its time: these are as many as a process can wait for at once.
    // A local activity runs within the slot of its workflow task.
    maxConcurrentWorkflowTaskExecutions: 400,
    maxConcurrentLocalActivityExecutions: 400,
    maxConcurrentActivityTaskExecutions: 400,
    // Effects end by themselves within half a minute: they are waited for.
    shutdownGraceTime: '30 seconds',
  });
  const running = worker.run();
  return {
    running,
    async stop(): Promise<void> {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await running;
    },
  };
}

/** Sends the SDK's own log into ours. To be called before any connection is made. */
export function installRuntime(log: Log): void {
  // What the SDK calls worth knowing is detail here.
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
  // It says something at every step: what is not logged is not put together either.
  const least = log.isLevelEnabled('trace') ? 'TRACE' : log.isLevelEnabled('debug') ? 'DEBUG' : 'WARN';
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger(least, ({ level, message, meta }) => log[levels[level]](meta ?? {}, message)),
    telemetryOptions: { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } },
  });
}
