/** A process that takes a data directory, prints the result, and keeps it until it is killed. */

import { openDataDirectory } from '../../src/sandbox/data-directory.js';

try {
  await openDataDirectory(process.argv[2] ?? '');
  console.log('held');
  setInterval(() => {}, 1000);
} catch (error) {
  console.log(String(error));
}
