/** Listening on a port, and what to say where that cannot be. */

import { once } from 'node:events';
import type { Server } from 'node:net';
import { StartError } from './start-error.js';

export interface Listening {
  host: string;
  /** 0 takes any free one. */
  port: number;
  /** The environment variable that sets the port. Default: PORT. */
  variable?: string;
}

/**
 * @returns `host:port`, as a client on this machine writes it
 * @throws StartError that names the variable to change
 */
export async function listen(server: Server, { host, port, variable = 'PORT' }: Listening): Promise<string> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    switch (error instanceof Error && 'code' in error ? error.code : undefined) {
      case 'EADDRINUSE':
        throw new StartError(`port ${port} is taken: stop what uses it, or set ${variable}`);
      case 'EACCES':
        throw new StartError(`port ${port} is not open to this user: set ${variable} to one above 1023`);
      case 'EADDRNOTAVAIL':
      case 'ENOTFOUND':
      case 'EAI_AGAIN':
        throw new StartError(`this machine has no address "${host}": set HOST`);
      default:
        throw error;
    }
  }
  const address = server.address();
  return authority(host, address !== null && typeof address === 'object' ? address.port : port);
}

/** A server that listens everywhere is reached on the loopback address. */
export function authority(host: string, port: number): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`;
}
