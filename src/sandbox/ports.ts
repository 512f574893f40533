/** Ports of the servers that one `npm start` opens. */

import { once } from 'node:events';
import { createServer } from 'node:net';
import { listen } from '../service/listen.js';

/**
 * @param variable the environment variable that sets this port
 * @throws StartError when the port cannot be listened on
 */
export async function assertPortFree(host: string, port: number, variable: string): Promise<void> {
  await listenOnce(host, port, variable);
}

/** A port that nothing listens on now. */
export async function freePort(host: string): Promise<number> {
  const address = await listenOnce(host, 0, '');
  return Number(address.slice(address.lastIndexOf(':') + 1));
}

async function listenOnce(host: string, port: number, variable: string): Promise<string> {
  const server = createServer();
  const address = await listen(server, { host, port, variable });
  server.close();
  await once(server, 'close');
  return address;
}
