import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bareAddress, isEmailAddress, readRecipients } from '../../../src/chain/address.js';

describe('bareAddress', () => {
  const addresses: [text: string, address: string][] = [
    ['ada@example.com', 'ada@example.com'],
    ['  ada@example.com ', 'ada@example.com'],
    ['<ada@example.com>', 'ada@example.com'],
    ['Ada Lovelace <ada@example.com>', 'ada@example.com'],
    ['"Lovelace, Ada" <ada@example.com>', 'ada@example.com'],
    ['"Ada" < ada@example.com >', 'ada@example.com'],
    ['eve@evil.example <ada@example.com>', 'ada@example.com'],
    ["o'brien+relay@mail.example.co.uk", "o'brien+relay@mail.example.co.uk"],
    ['root@localhost', 'root@localhost'],
    ['zoë@bücher.example', 'zoë@bücher.example'],
    ['用户@例子.广告', '用户@例子.广告'],
    ['संपर्क@डाटामेल.भारत', 'संपर्क@डाटामेल.भारत'],
    ['zoe\u0308@example.com', 'zoe\u0308@example.com'],
    [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  ];
  for (const [text, address] of addresses) {
    it(`of ${text} is ${address}`, () => {
      assert.equal(bareAddress(text), address);
      assert.ok(isEmailAddress(text));
    });
  }

  const none = [
    '',
    ' ',
    'ada',
    '@example.com',
    'ada@',
    'ada@@example.com',
    'ada@example.com@example.org',
    'ada lovelace@example.com',
    'ada@exam ple.com',
    '.ada@example.com',
    'ada.@example.com',
    'a..b@example.com',
    'ada@example..com',
    'ada@.example.com',
    'ada@-example.com',
    'ada@example-.com',
    'ada@example.com.',
    'Ada <ada@example.com> Lovelace',
    'Ada <<ada@example.com>>',
    'Ada <ada@example.com',
    'ada@example.com, eve@example.com',
    'ada@example.com\r\nBcc: eve@example.com',
    'Ada\nLovelace <ada@example.com>',
    'ada\u0000@example.com',
    'ada@example.com\u2028',
    `${'a'.repeat(65)}@example.com`,
    `ada@${'a'.repeat(64)}.com`,
    `ada@${'a.'.repeat(130)}com`,
    `${'x'.repeat(320)} <ada@example.com>`,
  ];
  for (const text of none) {
    it(`has no address in ${JSON.stringify(text.slice(0, 50))}`, () => {
      assert.equal(bareAddress(text), undefined);
      assert.ok(!isEmailAddress(text));
    });
  }
});

describe('readRecipients', () => {
  const cases: [what: string, emails: string[], recipients: string[], dropped: string[]][] = [
    ['one', ['a@x.org'], ['a@x.org'], []],
    ['several addresses, in order', ['b@x.org', 'a@x.org'], ['b@x.org', 'a@x.org'], []],
    ['a list in an element', ['a@x.org, b@x.org,c@x.org', 'd@x.org'], ['a@x.org', 'b@x.org', 'c@x.org', 'd@x.org'], []],
    ['blanks', ['', '  ', 'a@x.org,, ,', ','], ['a@x.org'], []],
    ['display names', ['Ada <a@x.org>, Eve <e@x.org>'], ['Ada <a@x.org>', 'Eve <e@x.org>'], []],
    ['a display name with a comma in quotes', ['"Doe, Jane" <j@x.org>, b@x.org'], ['"Doe, Jane" <j@x.org>', 'b@x.org'], []],
    [
      'an escaped quote in a display name',
      ['"J. \\"The, D\\" Doe" <j@x.org>,b@x.org'],
      ['"J. \\"The, D\\" Doe" <j@x.org>', 'b@x.org'],
      [],
    ],
    ['a display name with a comma and no quotes', ['Doe, Jane <j@x.org>'], ['Jane <j@x.org>'], ['Doe']],
    ['a quote that is never closed', ['"Doe, b@x.org'], ['b@x.org'], ['"Doe']],
    ['the same address twice, also in capitals', ['a@x.org', 'A@X.org', 'Ada <a@x.org>'], ['a@x.org'], []],
    ['invalid addresses', ['a@x.org', 'none', 'b@', 'a b@x.org'], ['a@x.org'], ['none', 'b@', 'a b@x.org']],
    ['only invalid addresses', ['none'], [], ['none']],
    ['nothing', [], [], []],
    ['an unsubstituted variable', ['${owner_email}', 'a@x.org'], ['a@x.org'], ['${owner_email}']],
    [
      'an unsubstituted variable in an address',
      ['${user}@x.org', 'U <${user}@x.org>'],
      [],
      ['${user}@x.org', 'U <${user}@x.org>'],
    ],
    ['an unsubstituted variable in a display name', ['${name} <a@x.org>'], ['${name} <a@x.org>'], []],
    ['a line break', ['a@x.org\nb@x.org', 'c@x.org,\r\nd@x.org'], ['c@x.org', 'd@x.org'], ['a@x.org\nb@x.org']],
  ];
  for (const [what, emails, recipients, dropped] of cases) {
    it(what, () => assert.deepEqual(readRecipients(emails), { recipients, dropped }));
  }

  it('returns addresses only, each once, for any text', () => {
    const piece = fc.constantFrom('a@x.org', 'A@X.ORG', 'b@x.org', ',', '"', '<', '>', '\\', ' ', '${v}', '\n', 'Doe');
    fc.assert(
      fc.property(fc.array(fc.array(piece).map((pieces) => pieces.join(''))), (emails) => {
        const { recipients } = readRecipients(emails);
        const addresses = recipients.map((recipient) => bareAddress(recipient)?.toLowerCase());
        assert.ok(!addresses.includes(undefined));
        assert.equal(new Set(addresses).size, recipients.length);
      }),
    );
  });
});
