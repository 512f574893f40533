/** A TCP proxy between two processes. Its connections can be cut, or can hang without an error. */

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Wire {
  port: number;
  /** @returns the number of connections */
  cut(): number;
  hang(): void;
  /** The number of connections that wait while the wire hangs. */
  waiting(): number;
  resume(): void;
  close(): void;
}

export async function startWire(host: string, port: number): Promise<Wire> {
  const pairs = new Set<[client: Socket, server: Socket]>();
  let hangs = false;
  const wire = createServer((client) => {
    const pair: [Socket, Socket] = [client, connect(port, host)];
    const [, server] = pair;
    pairs.add(pair);
    const cut = () => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const [from, to] of [pair, [server, client]] as const) {
      from.on('data', (data) => {
        // Backpressure: a slow reader slows the writer.
        if (!to.write(data)) from.pause();
      });
      to.on('drain', () => hangs || from.resume());
      from.on('error', cut).on('close', cut).setNoDelay(true);
      if (hangs) from.pause();
    }
  });
  wire.listen(0, '127.0.0.1');
  await once(wire, 'listening');
  const cut = () => {
    const count = pairs.size;
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy();
    return count;
  };
  return {
    port: (wire.address() as AddressInfo).port,
    cut,
    hang() {
      hangs = true;
      for (const pair of pairs) for (const socket of pair) socket.pause();
    },
    waiting: () => pairs.size,
    resume() {
      hangs = false;
      for (const pair of pairs) for (const socket of pair) socket.resume();
    },
    close() {
      cut();
      wire.close();
    },
  };
}
