import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { readAddress } from '../../src/cli/api.js';
import { UsageError } from '../../src/cli/terminal.js';

describe('the address of the API', () => {
  const directory = mkdtempSync(join(tmpdir(), 'relay-cli-'));
  writeFileSync(join(directory, 'admin-token'), 'from-file\n');
  after(() => rmSync(directory, { recursive: true }));

  it('is --url, RELAY_URL, or this machine', () => {
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

  it('is refused without showing it where it may hold a secret', () => {
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

  it('comes with the admin token, a key, or what a relay on this machine keeps', () => {
    const RELAY_DATA_DIR = directory;
    for (const [env, expected] of [
      [{ RELAY_ADMIN_TOKEN: 'admin', RELAY_KEY: 'key', RELAY_DATA_DIR }, ['admin', 'RELAY_ADMIN_TOKEN', 'admin']],
      [{ RELAY_KEY: ' key\n', RELAY_DATA_DIR }, ['key', 'RELAY_KEY', 'key']],
      [{ RELAY_ADMIN_TOKEN: '', RELAY_DATA_DIR }, ['from-file', join(directory, 'admin-token'), 'admin']],
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
});
