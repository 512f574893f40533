import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { guardOf, InternalAddressError, isPublicAddress } from '../../../src/connectors/network.js';
import type { PrivateNetworks } from '../../../src/service/config.js';

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

  const { assertAllowed, lookup } = guardOf(false);
  it('checks literal addresses, with or without brackets, and checks names only at the DNS look-up', () => {
    for (const host of ['127.0.0.1', '::1', '[::1]', '[fd00:ec2::254]'])
      assert.throws(() => assertAllowed(host), InternalAddressError);
    for (const host of ['8.8.8.8', '[2606:4700::1111]', 'localhost', 'example.com'])
      assert.doesNotThrow(() => assertAllowed(host));
  });

  for (const all of [true, false]) {
    it(`refuses a name that resolves to a private address (all: ${all})`, async () => {
      const error = await new Promise((done) => lookup('localhost', { all }, done));
      assert.ok(error instanceof InternalAddressError);
      assert.match(error.message, /localhost .*RELAY_ALLOW_PRIVATE_NETWORKS/);
      assert.doesNotMatch(error.message, /127\.0\.0\.1|::1/);
    });

    it(`answers like dns.lookup for a public name (all: ${all})`, async () => {
      const answer = await new Promise((done) => lookup('8.8.8.8', { all }, (...args) => done(args)));
      assert.deepEqual(answer, all ? [null, [{ address: '8.8.8.8', family: 4 }]] : [null, '8.8.8.8', 4]);
    });
  }
});

describe("the operator's allowed networks", () => {
  const looked = (allowed: PrivateNetworks, host: string) =>
    new Promise<boolean>((done) => guardOf(allowed).lookup(host, { all: true }, (error) => done(error === null)));
  const lists: [allowed: PrivateNetworks, reached: string[], refused: string[]][] = [
    [true, ['10.0.0.1', '127.0.0.1', '[::1]', '[fd12::1]', '192.168.1.1'], []],
    [['10.1.0.0/16'], ['10.1.2.3', '[::ffff:10.1.2.3]', '8.8.8.8'], ['10.2.0.1', '127.0.0.1', '[::1]']],
    [['10.1.2.3'], ['10.1.2.3'], ['10.1.2.4']],
    [
      ['fd12::/16', '::1'],
      ['[fd12::1]', '[::1]'],
      ['[fd13::1]', '127.0.0.1'],
    ],
    [['tickets.internal'], ['8.8.8.8'], ['10.1.2.3', '127.0.0.1']],
  ];
  for (const [allowed, reached, refused] of lists)
    it(`include ${allowed}, and nothing else`, () => {
      const { allows } = guardOf(allowed);
      assert.deepEqual([reached.filter((host) => !allows(host)), refused.filter(allows)], [[], []]);
    });

  it('match a host by its name, for any address', async () => {
    assert.deepEqual(
      [await looked(['localhost'], 'localhost'), await looked(['localhost'], 'LOCALHOST'), await looked(['other'], 'localhost')],
      [true, true, false],
    );
  });

  for (const host of [
    '169.254.169.254',
    '[::ffff:169.254.169.254]',
    '[64:ff9b::a9fe:a9fe]',
    '169.254.42.42',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '[fd20:ce::254]',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'metadata.google.internal',
    'metadata.google.internal.',
  ])
    it(`never include ${host}, where clouds serve credentials`, () => {
      const everything = ['0.0.0.0/0', '::/0', '169.254.169.254', 'metadata.google.internal'];
      assert.deepEqual([guardOf(true).allows(host), guardOf(everything).allows(host)], [false, false]);
    });

  it('never include a name that resolves there', async () => {
    assert.equal(await looked(['169.254.169.254'], '169.254.169.254'), false);
  });
});
