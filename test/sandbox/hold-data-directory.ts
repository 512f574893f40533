/** A process that tries to take a data directory, prints the result, and keeps the directory until the process is killed. */

import { openDataDirectory } from '../../src/sandbox/data-directory.js';

try {
  await openDataDirectory(process.argv[2] ?? '');
  console.log('held');
  setInterval(() => {}, 1000);
} catch (error) {
  console.log(String(error));
}
