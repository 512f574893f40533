/** Bundles the workflow code at build time, so that a worker starts without a bundler. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

/**
 * The SDK takes a stack trace of each promise of a workflow, by default ten frames: a fifth of a chain's work. Three still say
 * where an error arose. On the first line of the bundle, since the source map counts lines, and since the SDK then freezes
 * `Error`.
 */
const fewFrames = 'Error.stackTraceLimit = 3; ';

export const bundlePath = fileURLToPath(new URL('./workflow-bundle.js', import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const convertersPath = fileURLToPath(new URL('../contract/converters.js', import.meta.url));
  const quiet = { trace() {}, debug() {}, info() {}, log() {}, warn: console.warn, error: console.error };
  const workflowsPath = fileURLToPath(new URL('../workflows/index.js', import.meta.url));
  const bundle = await bundleWorkflowCode({
    workflowsPath,
    // Run once for a thread, not for each workflow: no module of theirs keeps anything, and code stays compiled.
    preloadModules: [workflowsPath, convertersPath],
    payloadConverterPath: convertersPath,
    failureConverterPath: convertersPath,
    logger: quiet,
  });
  const code = `${fewFrames}${bundle.code}`;
  // A build that changes nothing leaves the file as it is.
  if (!existsSync(bundlePath) || readFileSync(bundlePath, 'utf8') !== code) writeFileSync(bundlePath, code);
}
