#!/usr/bin/env node
/** The `relay` command. */

import { runCommandLine } from './program.js';
import { processTerminal } from './terminal.js';

// The program that reads the output may end early: `relay chains list demo | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await runCommandLine(process.argv.slice(2), processTerminal);
