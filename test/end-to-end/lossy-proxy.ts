/**
 * A TCP proxy in front of a gRPC server. It loses answers: the server handles the request, and then the connection breaks before
 * the client gets the answer.
 */

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface LossyProxy {
  address: string;
  /** Loses the next answer, or every answer from now on. */
  lose(which: 'next' | 'all' | 'none'): void;
  /** The number of lost answers. */
  lost(): number;
  close(): Promise<void>;
}

export async function startLossyProxy(target: string): Promise<LossyProxy> {
  const [host = '127.0.0.1', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  let losing: 'next' | 'all' | 'none' = 'none';
  let lost = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), host);
    const hangUp = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', hangUp).on('close', hangUp);
    }
    client.pipe(upstream);
    upstream.on('data', (data) => {
      if (losing !== 'none' && isAnswer(data)) {
        if (losing === 'next') losing = 'none';
        lost += 1;
        hangUp();
      } else client.write(data);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no port');
  return {
    address: `127.0.0.1:${address.port}`,
    lose: (which) => {
      losing = which;
    },
    lost: () => lost,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Whether one of these HTTP/2 frames is a HEADERS frame. All other frames only control the connection. */
function isAnswer(data: Buffer): boolean {
  for (let at = 0; at + 9 <= data.length; at += 9 + data.readUIntBE(at, 3)) if (data[at + 3] === 1) return true;
  return false;
}
