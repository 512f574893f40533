import { deepEqual, equal, match, notDeepEqual, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { DecryptionError, deriveKey, Keyring } from '../../../src/contract/encryption.js';

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const text = (keyring: Keyring, encrypted: { keyId: string; data: Uint8Array }, context = 'acme/platform') =>
  keyring.decrypt(encrypted, context).toString();

test('a keyring decrypts the values of another keyring if it still has the key', () => {
  const before = new Keyring(`old:${key(1)}`);
  const during = new Keyring(`old:${key(1)},new:${key(2)}`);
  const after = new Keyring(`new:${key(2)}, old:${key(1)}`);
  const encrypted = before.encrypt(Buffer.from('secret'), 'acme/platform');
  equal(encrypted.keyId, 'old');
  equal(Buffer.from(encrypted.data).includes('secret'), false);
  for (const keyring of [before, during, after]) equal(text(keyring, encrypted), 'secret');
  equal(after.encrypt(Buffer.from('x'), '').keyId, 'new');
  deepEqual(after.ids, ['new', 'old']);
  notDeepEqual(before.encrypt(Buffer.from('secret'), '').data, before.encrypt(Buffer.from('secret'), '').data);
});

test('an unknown key is named; a moved, changed or truncated value is refused', () => {
  const keyring = new Keyring(`a:${key(1)}`);
  const encrypted = keyring.encrypt(Buffer.from('secret'), 'acme/platform');
  const refused = (run: () => unknown, says: RegExp) =>
    throws(run, (error) => error instanceof DecryptionError && says.test(error.message) && !/secret/.test(error.message));
  refused(
    () => text(new Keyring(`b:${key(1)}`), encrypted),
    /no encryption key a; the operator must append the key to RELAY_ENCRYPTION_KEYS/,
  );
  refused(() => text(new Keyring(`a:${key(2)}`), encrypted), /changed or moved/);
  refused(() => text(keyring, encrypted, 'other/platform'), /changed or moved/);
  for (const length of [0, 5, 12, 20, encrypted.data.length - 1])
    refused(() => text(keyring, { keyId: 'a', data: encrypted.data.subarray(0, length) }), /changed or moved/);
  const changed = Buffer.from(encrypted.data);
  changed.writeUInt8(changed.readUInt8(14) ^ 1, 14);
  refused(() => text(keyring, { keyId: 'a', data: changed }), /changed or moved/);
});

test('an invalid keyring names the wrong entry, and never shows a key', () => {
  for (const [given, says] of [
    ['', /entry 1/],
    [key(1), /entry 1/],
    [`a:${key(1)},b:c2hvcnQ=`, /entry 2 must be an id, a colon and 32 bytes in base64/],
    [`a:${key(1)},a:${key(2)}`, /same id/],
  ] as const)
    throws(
      () => new Keyring(given),
      (error: Error) => {
        match(error.message, says);
        equal(/AQEB|c2hv/.test(error.message), false);
        return true;
      },
    );
});

test('a derived key is the same every time, and differs for another purpose or secret', () => {
  deepEqual(deriveKey('s', 'token pepper'), deriveKey('s', 'token pepper'));
  notDeepEqual(deriveKey('s', 'token pepper'), deriveKey('s', 'session'));
  notDeepEqual(deriveKey('s', 'token pepper'), deriveKey('t', 'token pepper'));
  equal(deriveKey('s', 'session').length, 32);
});
