/**
 * For tests that run workflows in the main thread, as the replayer does. There, the SDK would run a hook for each promise of the
 * process from then on, also outside of workflows. The hook records stacks that no test reads, and takes much CPU time.
 */

import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

globalHandlers.installed = true; // Because of this value, the SDK does not install the hook.
