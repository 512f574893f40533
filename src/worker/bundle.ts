/** Bundles the workflow code at build time, so that workers start fast. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

/** The SDK's default of ten stack frames per promise takes a fifth of the CPU. A line break here would shift source maps. */
const fewFrames = 'Error.stackTraceLimit = 3; ';

export const bundlePath = fileURLToPath(new URL('./workflow-bundle.js', import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const convertersPath = fileURLToPath(new URL('../contract/converters.js', import.meta.url));
  const quiet = { trace() {}, debug() {}, info() {}, log() {}, warn: console.warn, error: console.error };
  const workflowsPath = fileURLToPath(new URL('../workflows/index.js', import.meta.url));
  const enginePath = fileURLToPath(new URL('../workflows/engine/engine.js', import.meta.url));
  const bundle = await bundleWorkflowCode({
    workflowsPath,
    // These modules have no state. So each thread loads and compiles these modules once, not once for each workflow.
    preloadModules: [workflowsPath, convertersPath],
    workflowInterceptorModules: [enginePath],
    payloadConverterPath: convertersPath,
    failureConverterPath: convertersPath,
    logger: quiet,
  });
  const code = `${fewFrames}${bundle.code}`;
  if (!existsSync(bundlePath) || readFileSync(bundlePath, 'utf8') !== code) writeFileSync(bundlePath, code);
}
