/** A child process that downloads the Temporal dev server into a folder. The SDK can download only by starting a server. */

import { TestWorkflowEnvironment } from '@temporalio/testing';

const [downloadDir] = process.argv.slice(2);
// If the parent process ends, stdin closes. Then this process and its server end too.
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
