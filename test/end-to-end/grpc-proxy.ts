/** Between a process and the Temporal server: passes every call on, but for those to which it answers with an error. */

import { once } from 'node:events';
import { connect, createServer, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';

/** Of gRPC. */
export const codes = { permissionDenied: 7, unavailable: 14 };

/** @param refused - what a call to this method is answered; undefined: it is passed on. */
export async function startGrpcProxy(target: string, refused: (method: string) => { code: number; message: string } | undefined) {
  const server = createServer();
  const upstream = connect(`http://${target}`);
  server.on('stream', (stream, headers) => {
    const refusal = refused(String(headers[':path']).split('/').at(-1) ?? '');
    if (refusal) {
      const status = { 'grpc-status': `${refusal.code}`, 'grpc-message': encodeURIComponent(refusal.message) };
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...status }, { endStream: true });
      return;
    }
    const passed = upstream.request(headers);
    let trailers: IncomingHttpHeaders = {};
    passed.on('response', (answer, flags) => {
      stream.respond(answer, { waitForTrailers: !(flags & 1), endStream: Boolean(flags & 1) }); // 1: no body follows.
      passed.pipe(stream);
    });
    passed.on('trailers', (last) => (trailers = last));
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.on('close', () => passed.close()).on('error', () => passed.close());
    passed.on('error', () => stream.close());
    stream.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      upstream.destroy();
      server.close();
    },
  };
}
