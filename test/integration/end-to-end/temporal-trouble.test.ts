/** A Temporal server that accepts connections but never answers: the API still answers every request in time. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { createApi } from '../../../src/api/app.js';
import { Limits } from '../../../src/api/limits.js';
import { createConnectors } from '../../../src/connectors/connectors.js';
import { dataConverterOf } from '../../../src/service/payloads.js';
import { freePort, serveHttp } from '../../../src/service/server.js';
import { Metrics } from '../../../src/service/telemetry.js';
import { adminToken, startStack, udf } from '../../end-to-end/stack.js';

const stack = await startStack();

/** A TCP proxy in front of the server. It forwards everything until the test stalls it. */
async function startProxy(target: string) {
  const [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  const proxy = { stalled: false, address: '' };
  const server = createServer((near) => {
    const far = connect(Number(port), host);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('data', (data) => proxy.stalled || to.write(data));
      from.on('close', () => to.destroy());
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  proxy.address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

describe('a Temporal server that does not answer', { concurrency: true }, () => {
  for (const [name, kind] of Object.entries({ Connection, NativeConnection })) {
    it(`keeps no API request waiting: ${name}`, { timeout: 120_000 }, async () => {
      const company = await stack.company();
      const { chainId } = await company.start([udf('T', { delayInSeconds: '3000' })]);
      const proxy = await startProxy(process.env.RELAY_TEST_TEMPORAL_ADDRESS ?? '');
      const connection = await kind.connect({ address: proxy.address });
      // A `Connection` stays open: after its end, a pending retry could throw an error that no test can catch.
      if (connection instanceof NativeConnection) after(() => connection.close());
      const log = pino({ level: 'silent' });
      const port = await freePort('127.0.0.1');
      const api = await serveHttp(
        createApi({
          store: stack.store,
          client: new Client({ connection, dataConverter: dataConverterOf(stack.keyring) }),
          keyring: stack.keyring,
          connectors: createConnectors({ allowPrivateNetworks: true, mailFrom: 'r@relay.example' }),
          log,
          metrics: new Metrics(),
          limits: new Limits({ perMinute: 1000, log }),
          adminToken,
          links: stack.links,
          taskQueue: stack.taskQueue,
          eager: false,
          retryBudgetSeconds: 1,
          attentionWindowSeconds: 600,
        }),
        { host: '127.0.0.1', port },
      );
      after(() => api.close());
      const call = (method: string, path: string, body?: unknown) =>
        fetch(`http://127.0.0.1:${port}/co/${company.companyId}${path}`, {
          method,
          headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(30_000),
        });
      assert.equal((await call('GET', `/chains/${chainId}`)).status, 200);

      proxy.stalled = true;
      const { relayId, relayAccessToken } = company;
      const asked: [string, string, unknown?][] = [
        ['GET', `/chains/${chainId}`],
        ['POST', `/chains/${chainId}/cancel`],
        ['POST', `/chains/${chainId}/actions/0/runNow`],
        ['POST', '/relay', [{ relayId, relayAccessToken, ...udf('T') }]],
      ];
      assert.equal((await call('GET', '/chains')).status, 200); // Lists come from the database.
      const answers = await Promise.all(asked.map(async ([method, path, body]) => call(method, path, body)));
      for (const [place, { status, headers }] of answers.entries())
        assert.deepEqual([status, Number(headers.get('retry-after')) > 0], [503, true], asked[place]?.join(' '));
    });
  }
});
