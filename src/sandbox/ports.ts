/** Ports and addresses of the servers that one `npm start` opens. */

import { once } from 'node:events';
import { createServer } from 'node:net';
import { StartError } from '../service/start-error.js';

/**
 * @param variable the environment variable that sets this port
 * @throws StartError when the port cannot be listened on
 */
export async function assertPortFree(host: string, port: number, variable: string): Promise<void> {
  try {
    await listenOnce(host, port);
  } catch (error) {
    throw listenError(error, host, port, variable);
  }
}

/** A port that nothing listens on now. */
export async function freePort(host: string): Promise<number> {
  return listenOnce(host, 0);
}

/** What a failed `listen` means to the user; an error of another kind comes back as it is. */
export function listenError(error: unknown, host: string, port: number, variable: string): unknown {
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'EADDRINUSE':
      return new StartError(`port ${port} is taken: stop what uses it, or set ${variable}`);
    case 'EACCES':
      return new StartError(`port ${port} is not open to this user: set ${variable} to one above 1023`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartError(`this machine has no address "${host}": set HOST`);
    default:
      return error;
  }
}

/** `host:port` as a client on this machine writes it: a server that listens everywhere is reached on the loopback address. */
export function authority(host: string, port: number): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`;
}

async function listenOnce(host: string, port: number): Promise<number> {
  const server = createServer();
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address !== null && typeof address === 'object' ? address.port : port;
}
