/**
 * A proxy between a process and the Temporal server: it forwards every call, except those that it delays or answers with an
 * error.
 */

import { once } from 'node:events';
import { connect, createServer, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { dataConverterOf } from '../../src/service/payloads.js';
import { type LocalApi, serve } from '../cli/local-api.js';
import type { Stack } from './stack.js';

/** Numbers of gRPC's status codes. */
export const codes = { permissionDenied: 7, unavailable: 14 };

type Refusal = { code: number; message: string } | undefined;

/** Returns the error for a call of this method; undefined to forward the call. A promise delays the call. */
type Refused = (method: string) => Refusal | Promise<Refusal>;

/** Starts a second API of the stack, which uses a proxy in front of Temporal. The API and the proxy stop after the test or the file. */
export async function startApiBehindProxy(stack: Stack, refused: Refused): Promise<LocalApi> {
  const proxy = await startGrpcProxy(stack.temporalAddress, refused);
  const connection = await NativeConnection.connect({ address: proxy.address });
  const client = new Client({ connection, dataConverter: dataConverterOf(stack.keyring) });
  const api = await serve(stack.apiWith(stack.keyring, { client }));
  after(async () => {
    await api.close();
    await connection.close();
    proxy.close();
  });
  return api;
}

export async function startGrpcProxy(target: string, refused: Refused) {
  const server = createServer();
  const upstream = connect(`http://${target}`);
  server.on('stream', async (stream, headers) => {
    const refusal = await refused(String(headers[':path']).split('/').at(-1) ?? '');
    if (refusal) {
      const status = { 'grpc-status': `${refusal.code}`, 'grpc-message': encodeURIComponent(refusal.message) };
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...status }, { endStream: true });
      return;
    }
    const passed = upstream.request(headers);
    let trailers: IncomingHttpHeaders = {};
    passed.on('response', (answer, flags) => {
      stream.respond(answer, { waitForTrailers: !(flags & 1), endStream: Boolean(flags & 1) }); // The flag 1 means: no body follows.
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
