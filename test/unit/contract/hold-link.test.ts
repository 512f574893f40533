import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contactMark, HoldLinks, type HoldRef } from '../../../src/contract/hold-link.js';

const [old, present] = ['o'.repeat(32), 'p'.repeat(32)];
const held: HoldRef = {
  companyId: 'acme',
  chainId: '0f5c1d7e-6a2b-4c3d-8e9f-1a2b3c4d5e6f',
  index: 3,
  at: '2026-07-01T12:00:00.000Z',
  until: 1_782_993_600,
  contact: contactMark('ada@people.example'),
};

describe('the link in a notice', () => {
  const link = new HoldLinks(present).sign(held) ?? assert.fail();

  it('names one hold and one contact, fits on one line, and contains no address', () => {
    assert.deepEqual(new HoldLinks(present).read(link), held);
    assert.match(link, /^[\w.-]{1,300}$/);
    assert.doesNotMatch(Buffer.from(link, 'base64url').toString(), /ada|people/);
  });

  it('is valid while its secret is known, and is signed with the first secret', () => {
    assert.deepEqual(new HoldLinks(`${old},${present}`).read(link), held);
    assert.equal(new HoldLinks(`${old},${present}`).sign(held), new HoldLinks(old).sign(held));
    for (const other of [old, undefined]) assert.equal(new HoldLinks(other).read(link), undefined);
  });

  it('is not created without a secret', () => assert.equal(new HoldLinks(undefined).sign(held), undefined));

  const [named = '', signature = ''] = link.split('.');
  const other = Buffer.from(JSON.stringify(['acme', held.chainId, 4, held.at, held.until, held.contact])).toString('base64url');
  for (const [what, changed] of [
    ['of another action', `${other}.${signature}`],
    ['without its signature', named],
    ['with half of its signature', `${named}.${signature.slice(0, 20)}`],
    ['with another signature', `${named}.${'A'.repeat(43)}`],
    ['with an extra character', `${link}A`],
    ['that is empty', ''],
    ['of 100,000 characters', `${'A'.repeat(100_000)}.${signature}`],
  ] as const)
    it(`${what} is invalid`, () => assert.equal(new HoldLinks(present).read(changed), undefined));
});
