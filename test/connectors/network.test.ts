import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertPublicHost, InternalAddressError, isPublicAddress, publicLookup } from '../../src/connectors/network.js';

const internal = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.100.100.200',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.168.1.1',
  '198.19.0.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:8.8.8.8',
  '64:ff9b::10.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%lo',
  'fec0::1',
  'ff02::1',
];
const open = [
  '1.1.1.1',
  '8.8.8.8',
  '11.0.0.1',
  '100.128.0.1',
  '172.32.0.1',
  '192.169.0.1',
  '2606:4700::1111',
  '2a00:1450::1',
  '64:ff9b::808:808',
];

describe('public addresses', () => {
  for (const address of internal) it(`refuses ${address}`, () => assert.equal(isPublicAddress(address), false));
  for (const address of open) it(`allows ${address}`, () => assert.equal(isPublicAddress(address), true));

  it('looks at literal addresses, with or without brackets, and leaves names to the look-up', () => {
    for (const host of ['127.0.0.1', '::1', '[::1]', '[fd00:ec2::254]'])
      assert.throws(() => assertPublicHost(host), InternalAddressError);
    for (const host of ['8.8.8.8', '[2606:4700::1111]', 'localhost', 'example.com'])
      assert.doesNotThrow(() => assertPublicHost(host));
  });

  for (const all of [true, false]) {
    it(`refuses a name that leads inside (all: ${all})`, async () => {
      const error = await new Promise((done) => publicLookup('localhost', { all }, done));
      assert.ok(error instanceof InternalAddressError);
      assert.match(error.message, /localhost .*RELAY_ALLOW_PRIVATE_NETWORKS/);
      assert.doesNotMatch(error.message, /127\.0\.0\.1|::1/);
    });

    it(`answers as dns.lookup does for an open one (all: ${all})`, async () => {
      const answer = await new Promise((done) => publicLookup('8.8.8.8', { all }, (...args) => done(args)));
      assert.deepEqual(answer, all ? [null, [{ address: '8.8.8.8', family: 4 }]] : [null, '8.8.8.8', 4]);
    });
  }
});
