import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, describe, it } from 'node:test';
import { StartError } from '../../../src/service/config.js';
import { assertPortFree, authority, freePort } from '../../../src/service/server.js';

describe('ports', () => {
  const taken = createServer();
  after(() => taken.close());

  it('in use: the error names the variable that moves the server', async () => {
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    assert(address !== null && typeof address === 'object');
    await assert.rejects(
      assertPortFree('127.0.0.1', address.port, 'PORT'),
      new StartError(`port ${address.port} is in use: stop the program that uses it, or set PORT`),
    );
  });

  it("chosen as free can be listened on, and are outside the system's own range", async () => {
    const port = await freePort('127.0.0.1');
    assert(port >= 10_000 && port < 32_768, `${port}`);
    await assertPortFree('127.0.0.1', port, 'PORT');
    await assertPortFree('127.0.0.1', port, 'PORT');
  });

  it('on an address that the machine does not have: the error says so', async () => {
    await assert.rejects(
      assertPortFree('203.0.113.1', 8080, 'PORT'),
      new StartError('this machine has no address "203.0.113.1": set HOST'),
    );
  });

  for (const [host, expected] of [
    ['127.0.0.1', '127.0.0.1:80'],
    ['localhost', 'localhost:80'],
    ['0.0.0.0', '127.0.0.1:80'],
    ['::', '[::1]:80'],
    ['::1', '[::1]:80'],
  ] as const) {
    it(`with ${host} print ${expected}`, () => assert.equal(authority(host, 80), expected));
  }
});
