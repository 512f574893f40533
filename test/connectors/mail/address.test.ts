import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseEmailAddress } from '../../../src/connectors/mail/address.js';

describe('parseEmailAddress', () => {
  const cases: [text: string, name: string, address: string][] = [
    ['ada@example.com', '', 'ada@example.com'],
    [' ada@example.com ', '', 'ada@example.com'],
    ['<ada@example.com>', '', 'ada@example.com'],
    ['Ada Lovelace <ada@example.com>', 'Ada Lovelace', 'ada@example.com'],
    ['Lovelace, Ada <ada@example.com>', 'Lovelace, Ada', 'ada@example.com'],
    ['"Lovelace, Ada" <ada@example.com>', 'Lovelace, Ada', 'ada@example.com'],
    [String.raw`"Ada \"the\" L." <ada@example.com>`, 'Ada "the" L.', 'ada@example.com'],
    ['Zoë 割 <zoë@bücher.example>', 'Zoë 割', 'zoë@bücher.example'],
    ['eve@evil.example <ada@example.com>', 'eve@evil.example', 'ada@example.com'],
  ];
  for (const [text, name, address] of cases) it(text, () => assert.deepEqual(parseEmailAddress(text), { name, address }));

  const refused = [
    '',
    'ada',
    'a@b@c',
    'ada@example.com, eve@example.com',
    'Ada <ada@example.com>, Eve <eve@example.com>',
    'ada@example.com\r\nBcc: eve@example.com',
    'Ada\nX: y <ada@example.com>',
    'a <b@c> d',
    'ada@exam ple.com',
  ];
  for (const text of refused) {
    it(`refuses ${JSON.stringify(text)}`, () =>
      assert.throws(() => parseEmailAddress(text), { name: 'ConnectorError', kind: 'permanent' }));
  }
});
