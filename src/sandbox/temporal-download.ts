/** A child process that has the Temporal SDK download its dev server into a folder: the SDK does so only to start the server. */

import { TestWorkflowEnvironment } from '@temporalio/testing';

const [downloadDir] = process.argv.slice(2);
// Its parent holds the other end: when the parent is gone, so are this process and the server that it may have started.
process.stdin.on('close', () => process.kill(-process.pid, 'SIGTERM')).resume();

try {
  const executable = { type: 'cached-download', downloadDir } as const;
  const log = { format: 'text', level: 'never' };
  const environment = await TestWorkflowEnvironment.createLocal({ server: { executable, log } });
  await environment.teardown();
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
