/** A process that starts the Temporal server, prints its addresses as a JSON line, and stays until it is killed. */

import { startTemporal } from '../../src/sandbox/temporal.js';

const [dataDir = '', port = '0', uiPort = '0'] = process.argv.slice(2);
const options = { dataDir, host: '127.0.0.1', port: Number(port), uiPort: Number(uiPort), namespace: 'relay-test' };
const { address, adopted } = await startTemporal({ ...options, say: (line) => console.error(line) });
console.log(JSON.stringify({ address, adopted }));
setInterval(() => {}, 1000);
