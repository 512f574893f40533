import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { readAddress } from '../../../src/cli/api.js';
import { UsageError } from '../../../src/cli/terminal.js';

describe('the address of the API', () => {
  const directory = mkdtempSync(join(tmpdir(), 'relay-cli-'));
  writeFileSync(join(directory, 'admin-token'), 'from-file\n');
  const says = (url: string, pid = process.pid) => writeFileSync(join(directory, 'api.json'), JSON.stringify({ url, pid }));
  after(() => rmSync(directory, { recursive: true }));

  it('comes from --url or RELAY_URL, and is this machine by default', () => {
    for (const [given, env, url, loopback] of [
      [undefined, {}, 'http://127.0.0.1:8080', true],
      [undefined, { PORT: '9000' }, 'http://127.0.0.1:9000', true],
      [undefined, { PORT: '9000', RELAY_URL: 'https://relay.example.com/' }, 'https://relay.example.com', false],
      ['http://localhost:1/base/', { RELAY_URL: 'https://relay.example.com' }, 'http://localhost:1/base', true],
      ['http://[::1]:8080', {}, 'http://[::1]:8080', true],
      ['http://127.example.com', {}, 'http://127.example.com', false],
    ] as const) {
      const address = readAddress(given, { RELAY_DATA_DIR: '/nowhere', ...env });
      assert.deepEqual(address, { url, loopback });
    }
  });

  it('is refused if it may contain a secret, and the error does not repeat it', () => {
    for (const url of [
      'relay.example.com',
      'ftp://relay.example.com',
      'https://user:s3cret@relay.example.com',
      'https://x/?key=s3cret',
    ])
      assert.throws(
        () => readAddress(url, {}),
        (error) => error instanceof UsageError && /^--url must/.test(error.message) && !error.message.includes('s3cret'),
      );
    assert.throws(() => readAddress(undefined, { RELAY_URL: 'x' }), /^UsageError: RELAY_URL must/);
  });

  it('is returned with the admin token or a key', () => {
    const RELAY_DATA_DIR = directory;
    says('http://127.0.0.1:8080');
    for (const [env, expected] of [
      [{ RELAY_ADMIN_TOKEN: 'admin', RELAY_KEY: 'key', RELAY_DATA_DIR }, ['admin', 'RELAY_ADMIN_TOKEN', 'admin']],
      [{ RELAY_KEY: ' key\n', RELAY_DATA_DIR }, ['key', 'RELAY_KEY', 'key']],
      [{ RELAY_DATA_DIR, RELAY_URL: 'https://relay.example.com' }, undefined],
      [{ RELAY_DATA_DIR: '/nowhere' }, undefined],
    ] as const) {
      const { credential } = readAddress(undefined, env);
      assert.deepEqual(credential && [credential.bearer, credential.from, credential.kind], expected);
    }
    assert.throws(
      () => readAddress(undefined, { RELAY_ADMIN_TOKEN: 's3cret\nX-Header: 1' }),
      (error) => error instanceof UsageError && !error.message.includes('s3cret'),
    );
  });

  it("is returned with a data directory's token only while the relay of that directory runs at this address", async () => {
    const RELAY_DATA_DIR = directory;
    const kept = { bearer: 'from-file', from: join(directory, 'admin-token'), kind: 'admin' };
    const { pid: dead = 0 } = spawnSync('true');
    for (const [env, expected] of [
      [{}, ['http://127.0.0.1:9090', kept]],
      [{ PORT: '9090' }, ['http://127.0.0.1:9090', kept]],
      [{ RELAY_URL: 'http://localhost:9090' }, ['http://localhost:9090', kept]],
      [{ PORT: '8080' }, ['http://127.0.0.1:8080', undefined]],
      [{ RELAY_URL: 'https://relay.example.com:9090' }, ['https://relay.example.com:9090', undefined]],
    ] as const) {
      says('http://127.0.0.1:9090');
      const { url, credential } = readAddress(undefined, { RELAY_DATA_DIR, ...env });
      assert.deepEqual([url, credential], expected);
      says('http://127.0.0.1:9090', dead);
      assert.equal(
        readAddress(undefined, { RELAY_DATA_DIR, ...env }).credential,
        undefined,
        'it has ended: somebody else may listen',
      );
    }
    rmSync(join(directory, 'api.json'));
    assert.equal(readAddress(undefined, { RELAY_DATA_DIR }).credential, undefined);
  });
});
